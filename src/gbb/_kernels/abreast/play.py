"""Rounds of eight runs side by side."""

from __future__ import annotations

import numpy as np

from gbb._kernels.abreast.choose import decide
from gbb._kernels.abreast.covariance import (
    RENEWED,
    Pairs,
    add_up,
    afresh,
    grow_both,
    pairs_in,
    renew,
)
from gbb._kernels.abreast.orthogonal import learn_couple, value_orthogonal
from gbb._kernels.abreast.pairs import learn, respond, value_pairs
from gbb._kernels.abreast.runs import Couples, Runs, Stretch, keep
from gbb._kernels.jit import kernel
from gbb._kernels.simd import ALL
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray


@kernel()
def play_orthogonal_abreast(
    couples: Couples, runs: Runs, pairs: FloatArray, stretch: Stretch, begin: int
) -> int:
    """Play the rounds of ``stretch`` from number ``begin`` on; returns how many have been played.

    They are not all where a run has no numbers left to break ties with. ``pairs`` holds precision, sum
    of rewards, mean and variance of every pair (regimes x (pairs x 4 x lanes)).
    """
    for t in range(begin, stretch.radii.size):
        here = pairs[stretch.regime[t]]
        if not decide(couples, runs, here, value_orthogonal, stretch.radii[t], ALL):
            return t
        for lane in range(np.uint64(WIDTH)):
            learn_couple(couples, runs, here, WIDTH, lane, stretch, t)
        keep(runs, stretch.recorded, stretch.first + t)
    return int(stretch.radii.size)


@kernel()
def play_pairs_abreast(
    couples: Couples, runs: Runs, pairs: Pairs, stretch: Stretch, begin: int
) -> int:
    """As :func:`play_orthogonal_abreast`, by the covariance of the pairs."""
    for t in range(begin, stretch.radii.size):
        if (stretch.first + t) % RENEWED == 1:
            renew(couples, runs, pairs)
        g = stretch.regime[t]
        here = pairs_in(pairs, g)
        if not decide(couples, runs, here, value_pairs, stretch.radii[t], ALL):
            return t
        for lane in range(np.uint64(WIDTH)):
            respond(couples, runs, here, lane, stretch, t)
        worn = learn(couples, here)
        for run in range(WIDTH):
            if couples.adaptive:
                grow_both(runs, here, run, here.small[run])
            if (worn >> run) & 1:
                afresh(couples, runs, pairs, g, run)
                add_up(runs, pairs, run)
        keep(runs, stretch.recorded, stretch.first + t)
    return int(stretch.radii.size)
