"""Rounds in which every agent draws its arm independently."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.index.search import draw_allowed
from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray, IntArray


@kernel(allocates=True)
def play_random(
    indptr: IntArray,
    indices: NDArray[np.integer],
    types: IntArray,
    weights: FloatArray,
    R: FloatArray,
    steps: FloatArray,
    bars: FloatArray | None,
    noise: FloatArray,
    N: IntArray,
    E: FloatArray,
    rewards: FloatArray,
    allocations: IntArray,
    rng: np.random.Generator,
) -> None:
    """Play ``len(rewards)`` rounds of arms drawn with cumulative weights ``steps``, in O(n + m) each.

    With ``bars`` every agent draws one of its allowed arms uniformly instead.

    Adds to ``N`` how often every edge-arm was played; fills ``rewards`` with the expected global
    rewards and ``allocations`` with the arms unless it has no rows. When ``noise`` has a row a round,
    the unit noise of every edge, it is summed by edge-arm into ``E``.
    """
    n = indptr.shape[0] - 1
    K = R.shape[1]
    arms = np.empty(n, dtype=np.int64)
    last = steps[K - 1]
    for t in range(rewards.size):
        for i in range(n):
            if bars is not None:
                draw_allowed(bars, i, K, rng, arms)
            else:
                u = rng.random() * last
                a = 0
                while a < K - 1 and steps[a] <= u:
                    a += 1
                arms[i] = a
        reward = 0.0
        for i in range(n):
            a = arms[i]
            for k in range(indptr[i], indptr[i + 1]):
                b, g = arms[indices[k]], types[k]
                reward += weights[k] * R[g, a, b]
                N[g, a, b] += 1
                if noise.shape[0] > 0:
                    E[g, a, b] += noise[t, k]
        rewards[t] = reward
        if allocations.shape[0] > 0:
            allocations[t] = arms
