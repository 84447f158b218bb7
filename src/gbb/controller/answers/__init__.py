"""What a controller answers."""
