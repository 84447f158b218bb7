"""What the user calls: asking, telling, taking back, and the setup."""
