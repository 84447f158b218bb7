"""Kernels of pairwise search and bounds."""
