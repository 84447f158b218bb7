"""What is read of a controller: estimates, history, status, replays."""
