"""Arrays in rows of whole vectors, as the compiled loops read and write them."""

from __future__ import annotations

import math

import numpy as np

from gbb._support.checks import FloatArray

WIDTH = 8
"""The numbers in a vector: eight doubles are a cache line."""


def padded(count: int) -> int:
    """Return ``count`` rounded up to whole vectors."""
    return -(-count // WIDTH) * WIDTH


def aligned_zeros(*shape: int) -> FloatArray:
    """Return zeros that start on a cache line: a vector across two of them costs twice."""
    size = math.prod(shape)
    memory = np.zeros(size + WIDTH)
    skip = -(memory.ctypes.data // memory.itemsize) % WIDTH
    return memory[skip : skip + size].reshape(shape)
