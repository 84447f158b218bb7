"""Who is linked to whom, by what, and who may play what: what every search over allocations needs.

The links of an agent are *entries*: a neighbour, a table and a weight. The table says what the entry
adds for the neighbour's arm b and the agent's own arm a. Where both directions of every link are alike
an agent has one entry per link, whose table holds both directions; otherwise one for each direction.
Both ends of a link list it, so a sum over all entries counts everything twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.choice.tuples import fill_digits
from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray, IntArray


class Links(NamedTuple):
    """The constants of a search.

    Attributes
    ----------
    start
        Where the entries of each agent start; those of one type stand together.
    other, table, back, weight
        Of every entry: the neighbour, the table, the table by which the neighbour lists the same edge,
        and the weight; half of it where an entry is one direction, since tables count two.
    bars
        Minus infinity where an agent may not play an arm, else 0 (n x K, rows padded to whole lanes).
    free
        Whether every agent may play every arm.
    group
        The group of each agent: in one part, with the same arms allowed.
    part, instead
        Of every group: its part, and what it plays for each arm of the part.
    bundle_start, bundle_table, bundle_group, bundle_weight, bundle_size
        The entries of each agent summed by table and by the neighbours' group, and how many they are.
    plain
        Whether all entries are of one table and weigh 1, as in the paper's problem.
    degrees
        How many neighbours each agent has in every group, if so.
    used
        The tables of the matrices in play.
    one, two
        The two regressors that a table's entry of arms (b, a) sums (tables x K x K): those of both
        directions, or twice the same.
    """

    start: IntArray
    other: IntArray
    table: IntArray
    back: IntArray
    weight: FloatArray
    bars: FloatArray
    free: bool
    group: IntArray
    part: IntArray
    instead: IntArray
    bundle_start: IntArray
    bundle_table: IntArray
    bundle_group: IntArray
    bundle_weight: FloatArray
    bundle_size: IntArray
    plain: bool
    degrees: FloatArray
    used: IntArray
    one: IntArray
    two: IntArray


@kernel(forceinline=True)
def place(links: Links, number: int, chosen: IntArray, played: IntArray, arms: IntArray) -> None:
    """Every agent plays its part's arm of tuple ``number``, or its first allowed one.

    ``chosen`` gets the arms of the parts and ``played`` those of the groups.
    """
    fill_digits(number, links.instead.shape[1], chosen)
    for c in range(played.size):
        played[c] = links.instead[c, chosen[links.part[c]]]
    for i in range(arms.size):
        arms[i] = played[links.group[i]]


@kernel()
def draw_arms(links: Links, rng: np.random.Generator, arms: IntArray) -> None:
    """Every agent draws one of its allowed arms uniformly."""
    K = links.instead.shape[1]
    for i in range(arms.size):
        if links.free:
            arms[i] = int(rng.random() * K)
        else:
            draw_allowed(links.bars, i, K, rng, arms)


@kernel()
def draw_allowed(
    bars: FloatArray, i: int, K: int, rng: np.random.Generator, arms: IntArray
) -> None:
    """Agent i draws one of its allowed arms uniformly."""
    count = 0
    for a in range(K):
        count += bars[i, a] == 0.0
    left = int(rng.random() * count)
    for a in range(K):
        if bars[i, a] == 0.0:
            if left == 0:
                arms[i] = a
                break
            left -= 1


@kernel(forceinline=True)
def is_known(ends: NDArray[np.int64], found: int, moved: int) -> bool:
    """Whether end number ``found`` is one of those before it, now that agent ``moved`` has moved.

    Agents are compared from that one on: it, and those whose turn is still to come, differ most often.
    """
    n = ends.shape[1]
    for e in range(found):
        left, i = n, moved
        while left > 0 and ends[found, i] == ends[e, i]:
            left -= 1
            i = i + 1 if i + 1 < n else 0
        if left == 0:
            return True
    return False
