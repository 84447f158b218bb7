"""What couples over a cut earned against an adversary, known only in hindsight."""

from __future__ import annotations

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.adversary import AdversarialEnvironment
from gbb.cuts import Cut

BLOCK = 1024
"""Rounds whose matrices are held at once."""


def best_couples(
    env: AdversarialEnvironment, cut: Cut, recorded: IntArray
) -> tuple[FloatArray, FloatArray]:
    """What the best fixed couple, and the best couple of every round, earned up to each round."""
    total, moving, last = np.zeros(env.problem.K**2), 0.0, int(recorded[-1])
    fixed_kept, moving_kept = np.empty(len(recorded)), np.empty(len(recorded))
    for first in range(1, last + 1, BLOCK):
        span = np.arange(first, min(first + BLOCK, last + 1))
        values = env.couple_rewards(cut, span)
        sums = total + np.cumsum(values, axis=0)
        best = moving + np.cumsum(values.max(axis=1))
        here = (recorded >= first) & (recorded <= span[-1])
        fixed_kept[here] = sums[recorded[here] - first].max(axis=1)
        moving_kept[here] = best[recorded[here] - first]
        total, moving = sums[-1], float(best[-1])
    return fixed_kept, moving_kept
