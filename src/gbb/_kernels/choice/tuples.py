"""Tuples of arms, one arm per part of the agents: their numbers, and which to start from."""

from __future__ import annotations

import numpy as np

from gbb._kernels.choice.choose import largest
from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray, IntArray


@kernel(allocates=True)
def digits(code: int, K: int, k: int) -> IntArray:
    """The arms of tuple number ``code``, one per part."""
    arms = np.empty(k, dtype=np.int64)
    fill_digits(code, K, arms)
    return arms


@kernel()
def fill_digits(code: int, K: int, arms: IntArray) -> None:
    """Write the arms of tuple number ``code`` to ``arms``."""
    for p in range(arms.size - 1, -1, -1):
        code, arms[p] = divmod(code, K)


@kernel(allocates=True)
def next_start(values: FloatArray, last: int, K: int, k: int, tie: float) -> int:
    """The best tuple whose set of arms is new, -1 if there is none.

    The first of those within ``tie`` of the largest value. ``values`` is changed:
    all tuples with the arms of tuple ``last`` fall to minus infinity.
    """
    if k == 2:
        values[last] = values[last % K * K + last // K] = -np.inf
    else:
        old = digits(last, K, k)
        for code in range(values.size):
            if values[code] > -np.inf and same_arms(code, old, K):
                values[code] = -np.inf
    top = largest(values)
    if top > -np.inf:
        for code in range(values.size):
            if values[code] >= top - tie:
                return code
    return -1


@kernel()
def same_arms(code: int, arms: IntArray, K: int) -> bool:
    """Whether tuple number ``code`` plays the same set of arms as ``arms``."""
    covered = 0
    for _ in range(arms.size):
        arm = code % K
        code //= K
        seen = 0
        for q in range(arms.size):
            if arms[q] == arm:
                seen |= 1 << q
        if seen == 0:
            return False
        covered |= seen
    return covered == (1 << arms.size) - 1
