"""Kernels that estimate."""
