"""What a choice is made of: the links of every agent, by context, and the tuples of arms to start from.

The links of an agent are *entries*: a neighbour, a table and a weight. The table says what the entry
adds for the neighbour's arm b and the agent's own arm a. If both directions of every link are alike an
agent has one entry per link, whose table holds both directions; otherwise one for each direction. Both
ends of a link list it, so a sum over all entries counts everything twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gbb._kernels.jit import kernel
from gbb._support.arrays import aligned_zeros, padded
from gbb._support.checks import FloatArray, IntArray
from gbb._support.rows import unique_rows

if TYPE_CHECKING:
    from gbb.learning.coordinates import Coordinates
    from gbb.learning.tuples import Tuples
    from gbb.problem import Problem

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


NOTHING = np.zeros((1, 1, 0))

BY_CONTEXT = Layout._fields[: Layout._fields.index("penalty")]
"""The fields of a layout that have a row for each context."""


def make_layout(
    tuples: Tuples,
    coordinates: Coordinates,
    *,
    starts: int,
    searches: int,
    counts: bool = False,
    dense: bool = False,
    valued: bool = True,
) -> Layout:
    """Return the links of a problem and the tuples that searches start from, in one row.

    With what a search on ``counts``, or on ``dense`` estimates, takes; ``valued`` if the compiled code
    computes the values of the tuples.
    """
    problem, index = tuples.problem, coordinates.index
    G, K, n = problem.types, problem.K, problem.n
    types, weights = problem.edge_types, problem.edge_weights
    agent, other = problem.sources.astype(np.int64), problem.targets.astype(np.int64)
    edges = {
        "indptr": first_entries(agent, n),
        "indices": other,
        "types": np.array(types),
        "weights": np.array(weights),
        "adds_to": np.array(problem.report.index),
    }
    # Links that are alike are one entry. The search on counts has one for each regressor, so for each
    # direction if each has one.
    merged = problem.links_alike and (coordinates.symmetric or not counts)
    table, back, weight = types, types, weights
    if not merged:  # an entry for each direction: tables of edges out, then of edges in
        inward = np.lexsort((types, agent, other))
        agent, other = np.append(agent, other[inward]), np.append(other, agent[inward])
        table = np.concatenate([types, G + types[inward]])
        back = np.concatenate([G + types, types[inward]])
        # A directed edge is listed at both of its ends, and search counts what an agent sees.
        weight = np.append(weights, weights[inward]) / 2.0
    nonzero = np.flatnonzero(weight != 0.0)
    # By agent, then by matrix: an agent's entries of one block are a segment of their own.
    nonzero = nonzero[np.lexsort((table[nonzero] % G, agent[nonzero]))]
    agent, other, table, back = (values[nonzero] for values in (agent, other, table, back))
    weight, group = weight[nonzero], tuples.group_of
    # Neighbours of one group play the same arm in a tuple: their weights are added once, ahead.
    bundles, which, size = unique_rows(agent, table, group[other])
    entries = {
        "start": first_entries(agent, n),
        "other": other,
        "table": table,
        "back": back,
        "weight": weight,
        "bundle_start": first_entries(bundles[0], n),
        "bundle_table": bundles[1],
        "bundle_group": bundles[2],
        "bundle_weight": np.bincount(which, weights=weight, minlength=len(size)).astype(float),
        "bundle_size": size,
    }
    one, two = _regressors(index, G, merged=merged)
    used = np.array(problem.matrices_in_play)
    blocks = used if problem.tabular else np.zeros(1, dtype=np.int64)
    in_play = used if merged else np.append(used, used + G)
    regressor, amount = tuples.list_terms(index) if valued else (NOTHING[0].astype(int), NOTHING[0])
    sizes = [len(in_play), len(used), len(blocks), tuples.size, starts, searches]
    by_context: dict[str, Any] = {
        **dict.fromkeys(BY_CONTEXT, np.zeros(0, dtype=np.int64)),
        **edges,
        **entries,
        **(_slots(agent, entries, bundles[0], reverse_tables(len(one), G)) if counts else {}),
        **(_segments(problem, agent, table) if dense else {}),
        "tuple_regressor": regressor,
        "tuple_amount": amount,
        "objectives": make_objectives(tuples, coordinates) if dense and valued else NOTHING,
        "tables_in_play": in_play,
        "types_in_play": used,
        "blocks_in_play": blocks,
        "sizes": np.array(sizes),
    }
    # Added to values: forbidden arms, and the padding to whole vectors, never win.
    penalty = aligned_zeros(n, padded(K))
    penalty[:, :K][~problem.allowed] = -np.inf
    penalty[:, K:] = -np.inf
    one_round = problem.root is problem  # flags of a layout hold in all contexts
    return Layout(
        **{name: by_context[name][None] for name in BY_CONTEXT},
        penalty=penalty,
        free=bool(problem.allowed.all()),
        plain=one_round and len(one) == 1 and bool((weight == 1.0).all()),
        plain_edges=one_round and G == 1 and bool((weights == 1.0).all()),
        group=group,
        part=np.array(tuples.group_part),
        substitute=np.array(tuples.arms_of_group),
        one=one,
        two=two,
        regressor=np.array(index),
        ways=float(problem.ways),
    )


def stack(rows: Sequence[Layout]) -> Layout:
    """Return the layouts of several contexts in one, padded to the longest."""
    if len(rows) == 1:
        return rows[0]
    stacked = {}
    for name in BY_CONTEXT:
        arrays = [getattr(row, name)[0] for row in rows]
        shape = np.max([each.shape for each in arrays], axis=0)
        stacked[name] = aligned_zeros(len(rows), *shape.tolist()).view(arrays[0].dtype)
        for row, each in zip(stacked[name], arrays, strict=True):
            row[tuple(map(slice, each.shape))] = each
    return rows[0]._replace(**stacked)


def size_of(layout: Layout) -> int:
    """Return how many numbers the contexts of a layout hold."""
    return sum(getattr(layout, name).size for name in BY_CONTEXT)


def first_entries(agent: IntArray, n: int) -> IntArray:
    """Return where the entries of each of n agents begin, and where the last end (n + 1)."""
    return np.searchsorted(agent, np.arange(n + 1)).astype(np.int64)


def _regressors(index: IntArray, types: int, *, merged: bool) -> tuple[IntArray, IntArray]:
    """Return the two regressors that each table sums, by the neighbour's arm and the agent's."""
    offsets = (int(index.max()) + 1) * np.arange(types)[:, None, None]
    inward = np.ascontiguousarray(offsets + index)
    out = np.ascontiguousarray(inward.transpose(0, 2, 1))
    if merged:
        return out, inward
    both = np.concatenate([out, inward])
    return both, both


def reverse_tables(tables: int, types: int) -> IntArray:
    """Return the table by which the other end sees the same edges."""
    own = np.arange(tables)
    return own if tables == types else np.roll(own, types)


def _slots(
    agent: IntArray, entries: dict[str, Any], bundle_agent: IntArray, reverse: IntArray
) -> dict[str, IntArray]:
    """Return the neighbours that are counted together: by agent and table, in the order of both."""
    tables, table, n = len(reverse), entries["table"], len(entries["start"]) - 1
    slots, slot = np.unique(agent * tables + table, return_inverse=True)
    owner, own = np.divmod(slots, tables)
    reversed_slots = owner * tables + reverse[own]
    place = np.searchsorted(slots, reversed_slots)
    there = slots[np.minimum(place, len(slots) - 1)] == reversed_slots if len(slots) else place > 0
    return {
        "slot_start": first_entries(owner, n),
        "slot_table": own,
        "slot_reverse": np.where(there, place, -1),
        "slot": slot,
        "back_slot": np.searchsorted(slots, entries["other"] * tables + entries["back"]),
        "bundle_slot": np.searchsorted(slots, bundle_agent * tables + entries["bundle_table"]),
    }


def _segments(problem: Problem, agent: IntArray, table: IntArray) -> dict[str, IntArray]:
    """Return each agent's entries that are of one block of the estimate, and the tables' columns."""
    types = problem.types if problem.tabular else 1
    segments, entry = np.unique(agent * types + table % types, return_index=True)
    return {
        "segment": first_entries(segments // types, problem.n),
        "segment_entry": np.append(entry, len(agent)),
        "block": table % types,
        "column": table // types * (problem.K * padded(problem.K)),
    }


def make_objectives(tuples: Tuples, coordinates: Coordinates) -> FloatArray:
    """Return the sum of edge-arms of every tuple in the coordinates of the blocks in play.

    Of blocks x size x tuples, padded to whole vectors.
    """
    problem, table = tuples.problem, coordinates.table
    sums = np.stack([sums.T for sums in tuples.by_type(table)])
    sums = sums[problem.matrices_in_play] if problem.tabular else sums.reshape(1, -1, tuples.size)
    objectives = aligned_zeros(*sums.shape[:2], padded(tuples.size))
    objectives[:, :, : tuples.size] = sums
    return objectives
