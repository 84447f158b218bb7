"""Links as the compiled searches take them, and the search itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gbb._kernels.choice.climb import Room, climb_alone
from gbb._kernels.choice.linear import BITS, Linear, fill_pay
from gbb._kernels.choice.links import Links
from gbb._kernels.choice.whitened import Whitened
from gbb._support.arrays import WIDTH, aligned_zeros, padded
from gbb._support.checks import FloatArray, IntArray
from gbb._support.rows import unique_rows
from gbb.learning.tuples import Tuples
from gbb.policies._search import Objective

MIN_AGENTS_FOR_LIMITS, SPARSE = 64, 8
"""From so many agents on, each linked to at most one in so many, a move leaves most as they are."""


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
            # A directed edge is listed at both of its ends, and search counts what an agent sees.
            weight = np.append(weights, weights[inward]) / 2.0
        nonzero = np.flatnonzero(weight != 0.0)
        # By agent, then by matrix: an agent's entries of one block are a segment of their own.
        nonzero = nonzero[np.lexsort((table[nonzero] % problem.types, agent[nonzero]))]
        agent, other, table, back = (values[nonzero] for values in (agent, other, table, back))
        weight = weight[nonzero]
        group = self.tuples.group_of
        # Neighbours of one group play the same arm in a tuple: their weights are added once, ahead.
        bundles, which, size = unique_rows(agent, table, group[other])
        total = np.bincount(which, weights=weight, minlength=len(size))
        # Added to values: forbidden arms, and the padding to whole SIMD vectors, never win.
        bars = aligned_zeros(problem.n, padded(problem.K))
        bars[:, : problem.K][~problem.allowed] = -np.inf
        bars[:, problem.K :] = -np.inf
        plain = len(self.regressors) == 1 and bool((weight == 1.0).all())
        groups = len(self.tuples.group_part)
        degrees = np.bincount(agent * groups + group[other], minlength=problem.n * groups)
        return Links(
            start=first_entries(agent, problem.n),
            other=other,
            table=table,
            back=back,
            weight=weight,
            bars=bars,
            free=bool(problem.allowed.all()),
            group=group,
            part=np.array(self.tuples.group_part),
            instead=np.array(self.tuples.arms_of_group),
            bundle_start=first_entries(bundles[0], problem.n),
            bundle_table=bundles[1],
            bundle_group=bundles[2],
            bundle_weight=total.astype(np.float64),
            bundle_size=size,
            plain=plain,
            degrees=degrees.reshape(problem.n, groups).astype(np.float64),
            used=self._used,
            one=self.regressors,
            two=self._inward if self.merged else self.regressors,
        )

    @property
    def _used(self) -> IntArray:
        """The tables of the matrices in play."""
        types = np.array(self.tuples.problem.matrices_in_play)
        return types if self.merged else np.append(types, types + self.tuples.problem.types)

    @cached_property
    def _inward(self) -> IntArray:
        """The regressor of the edge to the agent by the neighbour's arm and its own (types x K x K)."""
        count = int(self.index.max()) + 1
        offsets = count * np.arange(self.tuples.problem.types)[:, None, None]
        return np.ascontiguousarray(offsets + self.index)

    @cached_property
    def regressors(self) -> IntArray:
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
        """Return buffers for the rewards of links."""
        n, K = self.tuples.problem.n, self.tuples.problem.K
        pay = aligned_zeros(len(self.regressors), K, padded(K))
        pending = np.zeros(-(-n // BITS), dtype=np.int64)
        return Linear(pay, aligned_zeros(n, padded(K)), pending, self.sparse)

    @cached_property
    def sparse(self) -> bool:
        """Whether a move leaves most agents as they are."""
        n = self.tuples.problem.n
        return n >= MIN_AGENTS_FOR_LIMITS and SPARSE * len(self.links.other) <= n**2

    def whitened(self, blocks: int, size: int) -> Whitened:
        """Return buffers for whitened tables in so many blocks."""
        links, problem = self.links, self.tuples.problem
        K, tables = problem.K, len(self.regressors)
        types = problem.types if blocks > 1 else 1
        agent = np.repeat(np.arange(problem.n), np.diff(links.start))
        block = links.table % types
        segments, entry = np.unique(agent * blocks + block, return_index=True)
        segment = first_entries(segments // blocks, problem.n)
        longest = max(1, int(np.diff(segment).max()))
        return Whitened(
            tables=aligned_zeros(blocks, size + 1, tables // types * K * padded(K)),
            block=block,
            at=links.table // types * (K * padded(K)),
            segment=segment,
            entry=np.append(entry, len(agent)),
            blocks=np.array(problem.matrices_in_play)
            if blocks > 1
            else np.zeros(1, dtype=np.int64),
            W=np.zeros((blocks, size + 1)),
            norm2s=np.zeros(blocks),
            h=aligned_zeros(longest, size + 1, padded(K)),
            found=aligned_zeros(3, WIDTH),
        )

    def by_table(self, flat: FloatArray, blocks: int) -> FloatArray:
        """Return rows by regressor, type after type, as columns by table and arms, for every block.

        Of shape blocks x size x columns, as in :attr:`Whitened.tables`.
        """
        links, K = self.links, self.tuples.problem.K
        types = self.tuples.problem.types if blocks > 1 else 1
        wide = np.zeros((len(links.one), K, padded(K), flat.shape[1]))
        wide[:, :, :K] = flat[links.one] + flat[links.two]
        wide = wide.reshape(-1, types, K * padded(K), flat.shape[1]).transpose(1, 3, 0, 2)
        return np.ascontiguousarray(wide.reshape(types, flat.shape[1], -1))

    def search(
        self, objective: Objective, values: FloatArray, rng: np.random.Generator
    ) -> tuple[IntArray, int, float]:
        """Return the best allocation found, the number of its tuple (-1 if it is none), and its value.

        ``values`` are those of the tuples of arms.
        """
        linear, white, links, radius = None, None, self.links, objective.radius
        if radius == 0.0:
            linear = self.linear()
            flat = _by_regressor(objective.means, self.index)
            fill_pay(flat, links.used, links.one, links.two, linear.pay)
        else:
            centre = objective.theta
            white = self.whitened(*centre.shape)
            flat = _by_regressor(objective.ridge.whitened, self.index)
            white.tables[:, :-1] = self.by_table(flat, len(centre))
            # The last row is the mean, so that a move updates mean and norm in one pass.
            white.tables[:, -1] = np.einsum("ij,ijk->ik", centre, white.tables[:, :-1])
        arms = np.empty(self.tuples.problem.n, dtype=np.int64)
        number, value = climb_alone(
            links, values, self.starts, self.room, linear, white, None, radius, rng, arms
        )
        return arms, number, value


def _by_regressor(table: FloatArray, index: IntArray) -> FloatArray:
    """Return a table by type and edge-arm as one by regressor, type after type."""
    flat = np.empty((len(table), int(index.max()) + 1, *table.shape[3:]))
    flat[:, index] = table
    return flat.reshape(-1, *table.shape[3:])


def first_entries(agent: IntArray, n: int) -> IntArray:
    """Return where the entries of each of n agents begin, and where the last end (n + 1)."""
    return np.searchsorted(agent, np.arange(n + 1)).astype(np.int64)
