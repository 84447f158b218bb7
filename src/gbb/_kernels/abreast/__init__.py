"""Runs of a couple policy side by side, a lane each, so that their chains of operations overlap."""
