"""Kernels of the cuts."""
