"""What a choice is made of: the links of every agent, by context, and the tuples of arms to start from.

The links of an agent are *entries*: a neighbour, a table and a weight. The table says what the entry
adds for the neighbour's arm b and the agent's own arm a. If both directions of every link are alike an
agent has one entry per link, whose table holds both directions; otherwise one for each direction. Both
ends of a link list it, so a sum over all entries counts everything twice.
"""

from __future__ import annotations

from typing import NamedTuple

from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray, IntArray

TABLES, TYPES, BLOCKS, TUPLES, STARTS, SEARCHES = range(6)
"""Columns of :attr:`Layout.sizes`."""


class Rule(NamedTuple):
    """The numbers of an index policy.

    Attributes
    ----------
    lam
        The ridge regulariser.
    adaptive, sigma, spread, shrinking
        Whether the radius is ``sigma sqrt(log det(A / lam) + spread) + offset``, the offset times
        ``sqrt(lam / smallest eigenvalue)`` if it is shrinking; otherwise it is passed for each round.
    v, epsilon
        Scale of the posterior draw; the probability of a random round.
    slack, fading
        What a proposal may miss of the best optimistic value, as a share of its size; whether that is
        divided by the square root of the round's number.
    """

    lam: float
    adaptive: bool
    sigma: float
    spread: float
    shrinking: bool
    v: float
    epsilon: float
    slack: float
    fading: bool


class Layout(NamedTuple):
    """The links in every context; :func:`at_row` takes one of them.

    Arrays down to ``sizes`` have a row for each context, padded to the longest; those behind it are
    the same in all.

    Attributes
    ----------
    start
        The first entry of each agent (n + 1); those of one type stand together.
    other, table, back, weight
        Of every entry: the neighbour, the table, the table by which the neighbour lists the same edge,
        and the weight; half of it if an entry is one direction, since tables count two.
    bundle_start, bundle_table, bundle_group, bundle_weight, bundle_size
        The entries of each agent summed by table and by the neighbours' group, and how many they are.
    slot_start, slot_table, slot_reverse
        The tables of each agent are its *slots*: where they start, which they are, and the slot of the
        same agent with the reverse table (-1 if there is none). Only for the search on counts.
    slot, back_slot, bundle_slot
        Of every entry: the agent's slot, and that of the neighbour that lists the same edge; of every
        bundle the agent's slot.
    segment, segment_entry, block, column
        Where the segments of each agent start, and where the entries of each, all of one block, do; the
        block of every entry, and the column where its table starts. Only for the search on dense
        estimates.
    indptr, indices, types, weights, adds_to
        The directed edges of every agent: the target, the type, the weight, and the number of the
        report that it adds to.
    tuple_regressor, tuple_amount
        What the edges of each tuple add to which regressors (terms x tuples, padded to whole vectors).
    objectives
        The sum of edge-arms of every tuple (blocks in play x size x tuples, padded to whole vectors).
    tables_in_play, types_in_play, blocks_in_play, sizes
        The tables, the types and the blocks of the estimate that edges have in this context; how many
        each of them are, how many tuples of arms, and from how many tuples and from how many
        allocations in all to search.
    penalty
        Minus infinity if an agent may not play an arm, else 0 (n x K, rows padded to whole vectors).
    free
        Whether every agent may play every arm.
    plain, plain_edges
        Whether all entries are of one table and weigh 1, and whether edges are of one type and do, as
        in the paper's problem.
    group
        The group of each agent: in one part, with the same arms allowed.
    part, substitute
        Of every group: its part, and what it plays for each arm of the part.
    one, two
        The two regressors that a table's entry of arms (b, a) sums (tables x K x K): those of both
        directions, or twice the same.
    regressor
        The regressor of each edge-arm (K x K).
    ways
        How many directions of a link are seen in one number, if tables are kept: 1 or 2.
    """

    start: IntArray
    other: IntArray
    table: IntArray
    back: IntArray
    weight: FloatArray
    bundle_start: IntArray
    bundle_table: IntArray
    bundle_group: IntArray
    bundle_weight: FloatArray
    bundle_size: IntArray
    slot_start: IntArray
    slot_table: IntArray
    slot_reverse: IntArray
    slot: IntArray
    back_slot: IntArray
    bundle_slot: IntArray
    segment: IntArray
    segment_entry: IntArray
    block: IntArray
    column: IntArray
    indptr: IntArray
    indices: IntArray
    types: IntArray
    weights: FloatArray
    adds_to: IntArray
    tuple_regressor: IntArray
    tuple_amount: FloatArray
    objectives: FloatArray
    tables_in_play: IntArray
    types_in_play: IntArray
    blocks_in_play: IntArray
    sizes: IntArray
    penalty: FloatArray
    free: bool
    plain: bool
    plain_edges: bool
    group: IntArray
    part: IntArray
    substitute: IntArray
    one: IntArray
    two: IntArray
    regressor: IntArray
    ways: float


# It returns views, so it must count references as its caller does.
@kernel(allocates=True, forceinline=True)
def at_row(layout: Layout, r: int) -> Layout:
    """The layout of context number r, without the leading axis."""
    sizes = layout.sizes[r]
    return Layout(
        layout.start[r],
        layout.other[r],
        layout.table[r],
        layout.back[r],
        layout.weight[r],
        layout.bundle_start[r],
        layout.bundle_table[r],
        layout.bundle_group[r],
        layout.bundle_weight[r],
        layout.bundle_size[r],
        layout.slot_start[r],
        layout.slot_table[r],
        layout.slot_reverse[r],
        layout.slot[r],
        layout.back_slot[r],
        layout.bundle_slot[r],
        layout.segment[r],
        layout.segment_entry[r],
        layout.block[r],
        layout.column[r],
        layout.indptr[r],
        layout.indices[r],
        layout.types[r],
        layout.weights[r],
        layout.adds_to[r],
        layout.tuple_regressor[r],
        layout.tuple_amount[r],
        layout.objectives[r],
        layout.tables_in_play[r, : sizes[TABLES]],
        layout.types_in_play[r, : sizes[TYPES]],
        layout.blocks_in_play[r, : sizes[BLOCKS]],
        sizes,
        layout.penalty,
        layout.free,
        layout.plain,
        layout.plain_edges,
        layout.group,
        layout.part,
        layout.substitute,
        layout.one,
        layout.two,
        layout.regressor,
        layout.ways,
    )
