"""Links as the compiled searches take them, and the search itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gbb._kernels.choice.climb import Room, climb_alone
from gbb._kernels.choice.counts import Counted
from gbb._kernels.choice.linear import BITS, Linear, fill_pay
from gbb._kernels.choice.links import Links
from gbb._kernels.choice.whitened import Whitened
from gbb._kernels.lanes import WIDTH, aligned_zeros, padded
from gbb._support.checks import FloatArray, IntArray
from gbb._support.rows import unique_rows
from gbb.learning.tuples import Tuples
from gbb.policies._index.objective import Objective

MANY, SPARSE = 64, 8
"""From so many agents on, of whom each is linked to one of so many, a move leaves most as they are."""


@dataclass(frozen=True, eq=False)
class LinkSearch:
    """Local search over allocations from tuples of arms over the parts.

    Attributes
    ----------
    tuples
        The tuples to start from.
    index
        The regressor of each edge-arm, of one type (K x K).
    merged
        Whether both directions of a link are one entry, which takes links that are alike.
    starts, restarts
        From how many tuples, and from how many random allocations, to search.
    """

    tuples: Tuples
    index: IntArray
    merged: bool
    starts: int
    restarts: int

    @cached_property
    def links(self) -> Links:
        """The links of every agent, entry by entry."""
        problem = self.tuples.problem
        types, weights = problem.edge_types, problem.edge_weights
        agent, other = problem.sources.astype(np.int64), problem.targets.astype(np.int64)
        table, back, weight = types, types, weights
        if not self.merged:  # an entry for each direction: tables of edges out, then of edges in
            inward, G = np.lexsort((types, agent, other)), problem.types
            agent, other = np.append(agent, other[inward]), np.append(other, agent[inward])
            table = np.concatenate([types, G + types[inward]])
            back = np.concatenate([G + types, types[inward]])
            weight = np.append(weights, weights[inward]) / 2.0
        kept = np.flatnonzero(weight != 0.0)
        kept = kept[np.lexsort((table[kept] % problem.types, agent[kept]))]
        agent, other, table, back = (each[kept] for each in (agent, other, table, back))
        weight = weight[kept]
        group = self.tuples.group_of
        bundles, which, size = unique_rows(agent, table, group[other])
        total = np.bincount(which, weights=weight, minlength=len(size))
        bars = aligned_zeros(problem.n, padded(problem.K))
        bars[:, : problem.K][~problem.allowed] = -np.inf
        bars[:, problem.K :] = -np.inf
        plain = len(self._regressors) == 1 and bool((weight == 1.0).all())
        groups = len(self.tuples.group_part)
        degrees = np.bincount(agent * groups + group[other], minlength=problem.n * groups)
        return Links(
            start=_starts(agent, problem.n),
            other=other,
            table=table,
            back=back,
            weight=weight,
            bars=bars,
            free=bool(problem.allowed.all()),
            group=group,
            part=np.array(self.tuples.group_part),
            instead=np.array(self.tuples.group_instead),
            bundle_start=_starts(bundles[0], problem.n),
            bundle_table=bundles[1],
            bundle_group=bundles[2],
            bundle_weight=total.astype(np.float64),
            bundle_size=size,
            plain=plain,
            degrees=degrees.reshape(problem.n, groups).astype(np.float64),
            used=self._used,
            one=self._regressors,
            two=self._inward if self.merged else self._regressors,
        )

    @property
    def _used(self) -> IntArray:
        """The tables of the matrices in play."""
        types = np.array(self.tuples.problem.in_play)
        return types if self.merged else np.append(types, types + self.tuples.problem.types)

    @cached_property
    def _inward(self) -> IntArray:
        """The regressor of the edge to the agent by the neighbour's arm and its own (types x K x K)."""
        own = int(self.index.max()) + 1
        offsets = own * np.arange(self.tuples.problem.types)[:, None, None]
        return np.ascontiguousarray(offsets + self.index)

    @cached_property
    def _regressors(self) -> IntArray:
        """The regressor of every table by the neighbour's arm and the agent's (tables x K x K)."""
        out = np.ascontiguousarray(self._inward.transpose(0, 2, 1))
        return out if self.merged else np.concatenate([out, self._inward])

    @property
    def room(self) -> Room:
        """Scratch space for a choice."""
        problem, tuples = self.tuples.problem, self.tuples
        return Room(
            ends=np.zeros((self.starts + self.restarts, problem.n), dtype=np.int64),
            chosen=np.zeros(tuples.k, dtype=np.int64),
            played=np.zeros_like(tuples.group_part),
            values=aligned_zeros(padded(tuples.size)),
            mu=np.zeros(problem.types * (int(self.index.max()) + 1)),
            proposed=np.zeros(problem.n, dtype=np.int64),
        )

    def linear(self) -> Linear:
        """Room for what the links pay."""
        n, K = self.tuples.problem.n, self.tuples.problem.K
        pay = aligned_zeros(len(self._regressors), K, padded(K))
        due = np.zeros(-(-n // BITS), dtype=np.int64)
        return Linear(pay, aligned_zeros(n, padded(K)), due, self._sparse)

    @cached_property
    def _sparse(self) -> bool:
        """Whether a move leaves most agents as they are."""
        n = self.tuples.problem.n
        return n >= MANY and SPARSE * len(self.links.other) <= n**2

    def whitened(self, blocks: int, size: int) -> Whitened:
        """Room for whitened tables in so many blocks."""
        links, problem = self.links, self.tuples.problem
        K, tables = problem.K, len(self._regressors)
        types = problem.types if blocks > 1 else 1
        agent = np.repeat(np.arange(problem.n), np.diff(links.start))
        block = links.table % types
        segments, entry = np.unique(agent * blocks + block, return_index=True)
        segment = _starts(segments // blocks, problem.n)
        most = max(1, int(np.diff(segment).max()))
        return Whitened(
            tables=aligned_zeros(blocks, size + 1, tables // types * K * padded(K)),
            block=block,
            at=links.table // types * (K * padded(K)),
            segment=segment,
            entry=np.append(entry, len(agent)),
            blocks=np.array(problem.in_play) if blocks > 1 else np.zeros(1, dtype=np.int64),
            W=np.zeros((blocks, size + 1)),
            norm2s=np.zeros(blocks),
            h=aligned_zeros(most, size + 1, padded(K)),
            found=aligned_zeros(3, WIDTH),
        )

    def by_table(self, flat: FloatArray, blocks: int) -> FloatArray:
        """Rows by regressor, type after type, as columns by table and arms, of every block.

        So of blocks x size x columns, as :attr:`Whitened.tables` has them.
        """
        links, K = self.links, self.tuples.problem.K
        types = self.tuples.problem.types if blocks > 1 else 1
        wide = np.zeros((len(links.one), K, padded(K), flat.shape[1]))
        wide[:, :, :K] = flat[links.one] + flat[links.two]
        wide = wide.reshape(-1, types, K * padded(K), flat.shape[1]).transpose(1, 3, 0, 2)
        return np.ascontiguousarray(wide.reshape(types, flat.shape[1], -1))

    def counted(self) -> Counted:
        """Room for counts of regressors, which links list by both ends; nothing is counted yet."""
        lists, problem = self._counted_lists, self.tuples.problem
        shape, level, around = lists.counts.shape, lists.level.shape, lists.around.shape
        return lists._replace(
            mean=aligned_zeros(*shape),
            var=aligned_zeros(*shape),
            counts=aligned_zeros(*shape),
            level=aligned_zeros(*level),
            around=aligned_zeros(*around),
            crowd=np.zeros(lists.crowd.shape, dtype=np.int64),
            rows=np.zeros(lists.rows.shape, dtype=np.int64),
            shares=np.zeros(lists.shares.shape),
            added=aligned_zeros(*lists.added.shape),
            last=np.zeros(lists.last.shape, dtype=np.int64),
            slopes=aligned_zeros(*shape),
            limits=_without_limits(problem.n),
            found=aligned_zeros(3, WIDTH),
        )

    @cached_property
    def _counted_lists(self) -> Counted:
        """Who counts in which slot, which the links alone decide; the rest is empty room."""
        links, problem, tables = self.links, self.tuples.problem, len(self._regressors)
        agent = np.repeat(np.arange(problem.n), np.diff(links.start))
        slots, slot = np.unique(agent * tables + links.table, return_inverse=True)
        whose = np.repeat(np.arange(problem.n), np.diff(links.bundle_start))
        joint, which, _ = unique_rows(links.bundle_table, links.group[whose], links.bundle_group)
        total = np.bincount(which, weights=links.bundle_weight)
        owner, table = np.divmod(slots, tables)
        mate = np.arange(tables) if self.merged else np.roll(np.arange(tables), problem.types)
        mates = np.searchsorted(slots, owner * tables + mate[table])
        there = slots[np.minimum(mates, len(slots) - 1)] == owner * tables + mate[table]
        around = np.bincount(agent, weights=np.abs(links.weight), minlength=problem.n)
        apart = aligned_zeros(problem.K, padded(problem.K))
        np.fill_diagonal(apart, -np.inf)
        shape, most = (tables, problem.K, padded(problem.K)), int(np.diff(links.start).max())
        return Counted(
            mean=aligned_zeros(*shape),
            var=aligned_zeros(*shape),
            counts=aligned_zeros(*shape),
            level=aligned_zeros(tables, padded(problem.K)),
            mate=mate,
            slot_start=_starts(owner, problem.n),
            slot_table=table,
            slot_mate=np.where(there, mates, -1),
            slot=slot,
            back=np.searchsorted(slots, links.other * tables + links.back),
            bundle_slot=np.searchsorted(slots, whose * tables + links.bundle_table),
            joint_table=joint[0],
            joint_own=joint[1],
            joint_other=joint[2],
            joint_weight=total.astype(np.float64),
            around=aligned_zeros(len(slots), padded(problem.K)),
            crowd=np.zeros((len(slots), problem.K), dtype=np.int64),
            rows=np.zeros(most, dtype=np.int64),
            shares=np.zeros(most),
            added=aligned_zeros(2, padded(problem.K)),
            last=np.zeros(problem.K, dtype=np.int64),
            reach=2.0 * float(around.max()) if self._sparse and tables == 1 else 0.0,
            slopes=aligned_zeros(*shape),
            apart=apart,
            limits=_without_limits(problem.n),
            found=aligned_zeros(3, WIDTH),
        )

    def search(
        self, objective: Objective, values: FloatArray, rng: np.random.Generator
    ) -> tuple[IntArray, int, float]:
        """The best allocation found, the number of its tuple (-1 if it is none), and its value.

        ``values`` are what the tuples of arms are worth.
        """
        linear, white, links, radius = None, None, self.links, objective.radius
        if radius == 0.0:
            linear = self.linear()
            flat = _by_regressor(objective.means, self.index)
            fill_pay(flat, links.used, links.one, links.two, linear.pay)
        else:
            centre = objective.centre
            white = self.whitened(*centre.shape)
            flat = _by_regressor(objective.ridge.table, self.index)
            white.tables[:, :-1] = self.by_table(flat, len(centre))
            white.tables[:, -1] = np.einsum("ij,ijk->ik", centre, white.tables[:, :-1])
        arms = np.empty(self.tuples.problem.n, dtype=np.int64)
        number, value = climb_alone(
            links, values, self.starts, self.room, linear, white, None, radius, rng, arms
        )
        return arms, number, value


def _without_limits(n: int) -> FloatArray:
    """Infinite limits of n agents, padded to whole lanes."""
    limits = aligned_zeros(padded(n))
    limits[:] = np.inf
    return limits


def _by_regressor(table: FloatArray, index: IntArray) -> FloatArray:
    """A table by type and edge-arm as one by regressor, type after type."""
    flat = np.empty((len(table), int(index.max()) + 1, *table.shape[3:]))
    flat[:, index] = table
    return flat.reshape(-1, *table.shape[3:])


def _starts(agent: IntArray, n: int) -> IntArray:
    return np.searchsorted(agent, np.arange(n + 1)).astype(np.int64)
