"""The log on disk: events, each sealed with all before it, in SQLite or PostgreSQL."""
