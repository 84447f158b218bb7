"""Rounds in which every agent draws its arm independently."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray, IntArray


class Network(NamedTuple):
    """The directed edges of every agent, with their types and weights."""

    indptr: IntArray
    indices: NDArray[np.integer]
    types: IntArray
    weights: FloatArray


class Tally(NamedTuple):
    """How often each edge-arm was played, and the sum of the unit noise of these edges (G x K x K)."""

    N: IntArray
    noise: FloatArray


@kernel(allocates=True)  # it makes nothing, but has to release the generator
def play_random(
    network: Network,
    R: FloatArray,
    steps: FloatArray,
    noise: FloatArray,
    tally: Tally,
    rewards: FloatArray,
    allocations: IntArray,
    rng: np.random.Generator,
) -> None:
    """Play ``len(rewards)`` rounds of independent arms, in O(n K + m) each.

    Agent i draws with the cumulative weights ``steps[i]``; a single row is for all agents. ``rewards``
    becomes the expected global rewards for the tables ``R`` (G x K x K), and ``allocations`` the arms:
    those of every round, or of the last one if it has a single row. The unit ``noise`` of every edge
    (rounds x m, or no rows) is added up by edge-arm.
    """
    indptr, indices, types, weights = network
    n, K = indptr.shape[0] - 1, R.shape[1]
    # Rows are chosen by number: a slice or a whole-row assignment compiles numba's error texts too.
    own_row, every_round, noisy = steps.shape[0] > 1, allocations.shape[0] > 1, noise.shape[0] > 0
    for t in range(rewards.size):
        row = t if every_round else 0
        for i in range(n):
            s = i if own_row else 0
            u, a = rng.random() * steps[s, K - 1], 0
            while a < K - 1 and steps[s, a] <= u:
                a += 1
            allocations[row, i] = a
        reward = 0.0
        for i in range(n):
            a = allocations[row, i]
            for k in range(indptr[i], indptr[i + 1]):
                b, g = allocations[row, indices[k]], types[k]
                reward += weights[k] * R[g, a, b]
                tally.N[g, a, b] += 1
                if noisy:
                    tally.noise[g, a, b] += noise[t, k]
        rewards[t] = reward
