"""The commands of ``gbb``, one a file, and what they share."""
