"""Small helpers that everything uses."""
