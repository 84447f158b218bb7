"""The state and its fold."""
