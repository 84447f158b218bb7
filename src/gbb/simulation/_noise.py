"""Sums of unit noise over many edges, drawn without drawing every edge where the law allows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gbb._checks import FloatArray, IntArray

CHUNK = 1 << 22
"""How many single draws are held at once."""


def _gaussian(rng: np.random.Generator, counts: IntArray, rounds: int) -> FloatArray:
    """The sum of c standard normals is N(0, c)."""
    return rng.standard_normal((rounds, counts.size)) * np.sqrt(counts)


def _rademacher(rng: np.random.Generator, counts: IntArray, rounds: int) -> FloatArray:
    """The sum of c signs is ``2 Binomial(c, 1/2) - c``."""
    heads = rng.binomial(counts, 0.5, size=(rounds, counts.size))
    return (2.0 * heads - counts).astype(np.float64)


def _uniform(rng: np.random.Generator, counts: IntArray, rounds: int) -> FloatArray:
    """The sum of c uniforms on [-sqrt 3, sqrt 3] has no short cut: all are drawn."""
    sums = np.zeros((rounds, counts.size))
    for k, count in enumerate(counts):
        block = max(1, CHUNK // max(rounds, 1))
        for start in range(0, int(count), block):
            size = min(block, int(count) - start)
            sums[:, k] += rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), (rounds, size)).sum(axis=1)
    return sums


def _none(rng: np.random.Generator, counts: IntArray, rounds: int) -> FloatArray:  # noqa: ARG001
    return np.zeros((rounds, counts.size))


SUMS: dict[str, Callable[[np.random.Generator, IntArray, int], FloatArray]] = {
    "gaussian": _gaussian,
    "rademacher": _rademacher,
    "uniform": _uniform,
    "none": _none,
}
"""``SUMS[noise](rng, counts, rounds)``: per round and class k, the sum of ``counts[k]`` unit draws."""
