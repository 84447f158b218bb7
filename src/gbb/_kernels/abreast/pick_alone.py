"""The best couple of one run, whose values stand in rows of lanes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels.abreast.runs import Couples, Runs, have_uniforms, next_uniform
from gbb._kernels.index.search import TIE
from gbb._kernels.jit import kernel
from gbb._kernels.simd import (
    ALL,
    load,
)
from gbb._kernels.simd import (
    broadcast as splat,
)
from gbb._kernels.simd import (
    greater_mask as above,
)
from gbb._kernels.simd import (
    lowest_bit as lowest,
)
from gbb._kernels.simd import (
    max_element as largest_lane,
)
from gbb._kernels.simd import (
    select_greater as where_above,
)
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray, IntArray


class Board(NamedTuple):
    """The values of the couples, in places that are padded to whole lanes.

    Attributes
    ----------
    values
        What they are worth in this round; minus infinity where there is no couple.
    numbers
        The couple of every place.
    places
        That of every couple; mirror images have one.
    """

    values: FloatArray
    numbers: IntArray
    places: IntArray


@kernel(forceinline=True)
def pick_alone(couples: Couples, runs: Runs, board: Board) -> int:
    """The number of the best couple, or -1 where there is a tie and nothing left to break it with.

    Values within 1e-12 of the largest, relatively, tie.
    """
    values, top = board.values, splat(-np.inf)
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
    p = board.numbers[p]
    if ties == 1 and (couples.arms[p, 0] == couples.arms[p, 1] or not couples.mirrored):
        return int(p)
    return break_ties_alone(runs, board, floor) if have_uniforms(runs) else -1


@kernel()
def break_ties_alone(runs: Runs, board: Board, floor: float) -> int:
    """One of the couples that are worth ``floor`` or more, at random; mirror images count too."""
    ties = 0
    for p in range(board.places.size):
        ties += board.values[board.places[p]] >= floor
    left = int(next_uniform(runs, 0) * ties) if ties > 1 else 0
    for p in range(board.places.size):
        if board.values[board.places[p]] >= floor:
            if left == 0:
                return p
            left -= 1
    return 0
