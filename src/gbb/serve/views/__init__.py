"""What the page shows, one file for each thing."""
