"""Kernels that choose an allocation."""
