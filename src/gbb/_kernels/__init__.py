"""Compiled loops: plain arrays in and out, no knowledge of policies."""
