"""The log on disk: bytes, events, tables, databases."""
