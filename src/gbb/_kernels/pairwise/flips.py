"""Flips of one agent at a time across a cut: gains, ascent and annealing.

``gains[i]`` is how many more undirected edges are cut once agent i has changed sides.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray, IntArray

Sides = NDArray[np.int8]
Gains = NDArray[np.int32]


@kernel(allocates=True)
def flip_gains(indptr: IntArray, indices: NDArray[np.integer], sides: Sides) -> Gains:
    """Gain of flipping each agent: its neighbours on its own side minus those across."""
    n = indptr.shape[0] - 1
    gains = np.zeros(n, dtype=np.int32)
    for i in range(n):
        gain = 0
        for k in range(indptr[i], indptr[i + 1]):
            gain += 1 if sides[indices[k]] == sides[i] else -1
        gains[i] = gain
    return gains


@kernel(inline="always")
def _flip(
    i: int, indptr: IntArray, indices: NDArray[np.integer], sides: Sides, gains: Gains
) -> None:
    """Move agent i across and bring the gains up to date."""
    side = sides[i]
    for k in range(indptr[i], indptr[i + 1]):
        j = indices[k]
        if sides[j] == side:
            gains[j] -= 2
        else:
            gains[j] += 2
    sides[i] = 1 - side
    gains[i] = -gains[i]


@kernel()
def ascend_sides(
    indptr: IntArray, indices: NDArray[np.integer], sides: Sides, gains: Gains, sweeps: int
) -> int:
    """Flip, in place, every agent whose flip gains, for at most ``sweeps`` sweeps.

    Returns the number of flips of the last sweep: 0 at a local optimum, where at least half of
    every agent's edges are cut.
    """
    flips = 0
    for _ in range(sweeps):
        flips = 0
        for i in range(gains.shape[0]):
            if gains[i] > 0:
                _flip(i, indptr, indices, sides, gains)
                flips += 1
        if flips == 0:
            break
    return flips


@kernel()
def anneal_sides(
    indptr: IntArray,
    indices: NDArray[np.integer],
    sides: Sides,
    gains: Gains,
    temperatures: FloatArray,
    rng: np.random.Generator,
) -> None:
    """One Metropolis sweep in place at each temperature: a loss g is taken with odds exp(g / T)."""
    for T in temperatures:
        floor = -16.0 * T
        for i in range(gains.shape[0]):
            gain = gains[i]
            if gain >= 0 or (gain > floor and rng.random() < math.exp(gain / T)):
                _flip(i, indptr, indices, sides, gains)
