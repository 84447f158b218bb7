"""Noise with a triangular density."""

import numpy as np


def triangular(rng: np.random.Generator, size: int) -> np.ndarray:
    """The sum of two uniforms of variance 1/2: variance 1, and 1-sub-Gaussian as they are."""
    return rng.triangular(-(6.0**0.5), 0.0, 6.0**0.5, size)
