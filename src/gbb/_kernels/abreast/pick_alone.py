"""The best couple of one run, whose values stand in rows of lanes."""

from __future__ import annotations

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.abreast.runs import Couples, Runs, have_uniforms, next_uniform
from gbb._kernels.choice.choose import TIE
from gbb._kernels.lanes import ALL, WIDTH, above, largest_lane, load, lowest, splat, where_above
from gbb._support.checks import FloatArray, IntArray


@compiled(forceinline=True)
def pick_alone(
    couples: Couples, runs: Runs, values: FloatArray, numbers: IntArray, width: int
) -> int:
    """The number of the best couple, or -1 where there is a tie and nothing left to break it with.

    That of (a, b) is worth ``values[a * width + b]``, and ``numbers`` holds its number there; what is no
    couple, or has a mirror image that stands for it too, is worth minus infinity. Values within 1e-12
    of the largest, relatively, tie.
    """
    top = splat(-np.inf)
    for at in range(0, values.size, WIDTH):
        x = load(values, at)
        top = where_above(x, top, x, top)
    best = largest_lane(top)
    floor, ties, p = best - TIE * abs(best), 0, 0
    for at in range(0, values.size, WIDTH):
        those = ALL ^ above(splat(floor), load(values, at))
        if those != 0:
            ties += 1 if those & (those - 1) == 0 else 2
            p = at + lowest(those)
    p = numbers[p]
    if ties == 1 and (couples.arms[p, 0] == couples.arms[p, 1] or not couples.mirrored):
        return int(p)
    return break_ties_alone(couples, runs, values, width, floor) if have_uniforms(runs) else -1


@compiled()
def break_ties_alone(
    couples: Couples, runs: Runs, values: FloatArray, width: int, floor: float
) -> int:
    """One of the couples that are worth ``floor`` or more, at random; mirror images count too."""
    K, ties = couples.pair.shape[0], 0
    for a in range(K):
        for b in range(K):
            if values[a * width + b] >= floor:
                ties += 2 if couples.mirrored and a != b else 1
    left = int(next_uniform(runs, 0) * ties) if ties > 1 else 0
    for a in range(K):
        for b in range(K):
            at = b * width + a if couples.mirrored and b < a else a * width + b
            if values[at] >= floor:
                if left == 0:
                    return int(a * K + b)
                left -= 1
    return 0
