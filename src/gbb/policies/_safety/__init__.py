"""What a conservative policy counts and how it moves: accounts, and steps of limited size."""
