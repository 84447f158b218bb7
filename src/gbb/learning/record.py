"""The record: all that a learner remembers, additive over rounds and over parts of the graph.

With rewards per edge it is a pair of tables for each edge type. With rewards in sums over edges an
observation is ``y = <q, theta> + noise``, q the sum of the edges' weighted edge-arms, and the record
is ``sum q q'`` and ``sum y q``. Beside them stand the number of rewards and the sum of their squares,
from which unknown noise is estimated (:mod:`gbb.learning.scales`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.problem import Problem

Counts = IntArray | FloatArray
"""Whole numbers, or fractions of them if edges have weights or the record was discounted."""

ROUNDING = 1e-9
"""Sums of squared weights that differ by less than this share are the same."""


class _Sums:
    """Sums over rounds: what both kinds of record share."""

    SUMS: ClassVar[tuple[str, ...]]
    """The fields that add up."""

    estimates: dict[Any, Any]
    """Estimates made from this record (:meth:`gbb.Ridge.of`): one for all rounds that share it."""

    paired: Any = None

    @property
    def two_way_part(self) -> Self:
        """The part of the record from links seen in both directions."""
        return self if self.paired is None else self.paired

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "estimates": {}}  # they are made again when asked for

    def forget_estimates(self) -> None:
        """Drop the estimates kept beside this record; they are made again when asked for."""
        for record in (self, self.two_way_part):
            record.estimates.clear()

    def merge(self, other: Any) -> Self:
        """Return both records as one."""
        if type(other) is not type(self):
            rule = f"be a {type(self).__name__}, as the other one is"
            raise checks.input_error("record", rule, type(other).__name__)
        return self._combine(operator.add, other)

    def discount(self, factor: float) -> Self:
        """Return the record with every observation worth ``factor`` of what it was."""
        return self._combine(lambda total: total * float(factor))

    def _pad(self, width: Any) -> Self:
        return self._combine(lambda total: np.pad(total, width) if np.ndim(total) else total)

    def _combine(self, function: Callable[..., Any], *others: Self) -> Self:
        records = (self, *others)
        sums = ([getattr(record, name) for record in records] for name in self.SUMS)
        return type(self)(*(function(*terms) for terms in sums))


@dataclass(frozen=True, eq=False)
class Record(_Sums):
    """What was seen edge by edge, or link by link.

    Parameters
    ----------
    counts
        N: the number of directed edges of each type played with arms (a, b), types x K x K, or K x K for
        one type; sums of squared weights if edges have weights. Twice as much for rewards per link.
    sums
        Y: the sum of their rewards, each times its weight, in the same shape.
    count, squares
        The number of rewards, and the sum of their squares; NaN if unknown.
    paired
        The part seen in both directions of a link, which alone can be learnt in symmetric parts. None if
        that is all of the record.
    """

    counts: Counts
    sums: FloatArray
    count: float = math.nan
    squares: float = math.nan
    paired: Record | None = None
    estimates: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    SUMS = ("counts", "sums", "count", "squares")

    def __post_init__(self) -> None:
        for name in ("counts", "sums"):
            table = np.asarray(getattr(self, name))
            object.__setattr__(self, name, table if table.ndim == 3 else table[None])

    @property
    def N(self) -> Counts:
        """The counts: K x K for one type, else types x K x K."""
        return self.counts[0] if len(self.counts) == 1 else self.counts

    @property
    def Y(self) -> FloatArray:
        """The sums of rewards, in the shape of N."""
        return self.sums[0] if len(self.sums) == 1 else self.sums

    @property
    def tables(self) -> tuple[Counts, FloatArray] | None:
        """N and Y, types x K x K."""
        return self.counts, self.sums

    @property
    def two_way(self) -> bool:
        """Whether the two directions of every pair of arms were seen equally often.

        Then ``Y + Y'`` is linear in the symmetric part of M* alone. Fractions may differ by rounding.
        """
        back = self.counts.transpose(0, 2, 1)
        slack = 0.0 if self.counts.dtype.kind == "i" else ROUNDING
        return bool((np.abs(self.counts - back) <= slack * (self.counts + back)).all())

    def _combine(self, function: Callable[..., Any], *others: Record) -> Record:
        records, combined = (self, *others), super()._combine(function, *others)
        if all(record.paired is None for record in records):
            return combined
        # From the first single direction on, the part seen both ways is kept beside the record.
        part, *parts = (record.two_way_part for record in records)
        return replace(combined, paired=part._combine(function, *parts))

    def resize(self, problem: Problem) -> Record:
        """Return the record with the types of ``problem``; new types have seen nothing."""
        new = problem.types - len(self.counts)
        return self if new == 0 else self._pad(((0, new), (0, 0), (0, 0)))

    def gram(self, problem: Problem) -> FloatArray:
        """Return ``sum q q'`` (parameters x parameters), a block for each type."""
        from scipy.linalg import block_diag  # noqa: PLC0415  (slow to import)

        z = _regressors_of_tables(problem)
        return block_diag(*((z * counts.reshape(-1, 1)).T @ z for counts in self.counts))

    def moment(self, problem: Problem) -> FloatArray:
        """Return ``sum y q`` (parameters)."""
        return (self.sums.reshape(len(self.sums), -1) @ _regressors_of_tables(problem)).ravel()

    def weight(self, problem: Problem) -> float:  # noqa: ARG002
        """Return the number of edges seen, as a sum of squared weights; four for a link seen as one."""
        return float(self.counts.sum())

    def to_dict(self) -> dict[str, Any]:
        """Return the tables and sums by name."""
        content = {"N": self.N, "Y": self.Y, "count": self.count, "squares": self.squares}
        return content if self.paired is None else {**content, "paired": self.paired.to_dict()}


@dataclass(frozen=True, eq=False)
class Moments(_Sums):
    """What was seen in sums over edges: ``qq`` sums ``q q'`` and ``yq`` sums ``y q``.

    ``count`` and ``squares`` are the number of rewards and the sum of their squares; NaN if unknown.
    """

    qq: FloatArray
    yq: FloatArray
    count: float = math.nan
    squares: float = math.nan
    estimates: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    SUMS = ("qq", "yq", "count", "squares")
    tables = None  # single edges were not seen
    two_way = True  # sums over edges have no directions

    def resize(self, problem: Problem) -> Moments:
        """Return the record with the types of ``problem``; new types have seen nothing."""
        new = problem.parameters - self.yq.size  # types come one after the other
        return self if new == 0 else self._pad((0, new))

    def gram(self, problem: Problem) -> FloatArray:  # noqa: ARG002
        """Return ``sum q q'`` (parameters x parameters)."""
        return self.qq

    def moment(self, problem: Problem) -> FloatArray:  # noqa: ARG002
        """Return ``sum y q`` (parameters)."""
        return self.yq

    def weight(self, problem: Problem) -> float:
        """Return the least number of edges with the largest edge-arms that add up to this."""
        return float(np.trace(self.qq)) / problem.L**2

    def to_dict(self) -> dict[str, Any]:
        """Return the moments and sums by name."""
        return {"gram": self.qq, "moment": self.yq, "count": self.count, "squares": self.squares}


AnyRecord = Record | Moments


def empty(problem: Problem) -> AnyRecord:
    """Return the record of a learner that has seen nothing."""
    if problem.tabular:
        shape = problem.types, problem.K, problem.K
        # Whole numbers, until a weight or a discount makes fractions of them.
        counts: Counts = np.zeros(shape) if problem.weighted else np.zeros(shape, dtype=np.int64)
        return Record(counts, np.zeros(shape), 0.0, 0.0)
    return Moments(np.zeros((problem.parameters,) * 2), np.zeros(problem.parameters), 0.0, 0.0)


def from_dict(content: dict[str, Any]) -> AnyRecord:
    """Return the record whose ``to_dict`` is part of ``content``."""
    sums = content["count"], content["squares"]
    if "gram" in content:
        return Moments(content["gram"], content["moment"], *sums)
    paired: Any = from_dict(content["paired"]) if "paired" in content else None
    return Record(content["N"], content["Y"], *sums, paired)


BERNOULLI_SIGMA = 0.5
"""Every reward of 0 or 1 is 1/2-sub-Gaussian, and of variance 1/4 at most."""


def bernoulli_weights(record: AnyRecord) -> Record:
    """Weigh each pair of arms by how little rewards of 0 or 1 vary on it.

    A 1 with probability p has variance ``p (1 - p)``, so n rewards of the pair count as
    ``n / (4 p (1 - p))`` rewards of variance 1/4, with ``p = (successes + 1/2) / (n + 1)`` (Krichevsky
    and Trofimov). Both directions of a pair count together.
    """
    assert record.tables is not None
    N, Y = (np.asarray(table, dtype=np.float64) for table in record.tables)
    played, successes = N + N.transpose(0, 2, 1), Y + Y.transpose(0, 2, 1)
    p = (np.clip(successes, 0.0, played) + 0.5) / (played + 1.0)
    weight = BERNOULLI_SIGMA**2 / (p * (1.0 - p))
    return Record(N * weight, Y * weight)


def observe(problem: Problem, allocation: IntArray, rewards: ArrayLike) -> AnyRecord:
    """Return the record of one round; NaN stands for a missing reward."""
    y = problem.rewards(rewards, missing=True)
    seen = ~np.isnan(y)
    if not problem.tabular:
        q = regressors(problem, allocation)[seen]
        return Moments(q.T @ q, y[seen] @ q, *_count(problem, y, seen))
    record = _tabulate(problem, allocation, y, seen)
    if problem.feedback != "edge" or (problem.symmetric and bool(seen.all())):
        return record
    # One direction alone also holds what M* does to the order of the two arms, which would pass for
    # noise in symmetric parts; so do two directions of other types or weights.
    back = problem.graph.reverse
    pairs = seen & seen[back]
    for values in (problem.edge_types, problem.edge_weights):
        pairs = pairs & (values == values[back])
    return replace(record, paired=_tabulate(problem, allocation, y, pairs))


def _count(problem: Problem, y: FloatArray, seen: NDArray[np.bool_]) -> tuple[float, float]:
    """Return how many rewards were seen, and the sum of their squares."""
    # Numbers that no edge adds to are 0 whatever M* is: they say nothing of the noise.
    informative = y[seen & problem.report.nonzero]
    return float(informative.size), float(informative @ informative)


def _tabulate(
    problem: Problem, allocation: IntArray, y: FloatArray, seen: NDArray[np.bool_]
) -> Record:
    """Return the tables of those numbers of a round's report that were ``seen``.

    ``N`` sums squared weights and ``Y`` weighted rewards. For a number per link N is doubled: ``q = 2 w
    s``, s the symmetric part of either edge-arm, so that ``q q'`` and ``y q`` are those of two edges
    with ``N = 2 w^2`` and ``Y = w y`` each.
    """
    shape, size = (problem.types, problem.K, problem.K), problem.types * problem.K**2
    rewards, edges = y, seen
    if problem.symmetric_only:  # both edges of a link have its number
        rewards, edges = y[problem.report.index], seen[problem.report.index]
    code, weights = places_of(problem, allocation)[edges], problem.edge_weights[edges]
    N = np.bincount(code, weights=weights**2, minlength=size).reshape(shape)
    Y = np.bincount(code, weights=weights * rewards[edges], minlength=size).reshape(shape)
    # Whole numbers while nothing is weighted, so that two_way can compare them exactly.
    counts: Counts = N if problem.weighted else N.astype(np.int64, copy=False)
    sums = Y.astype(np.float64, copy=False)  # bincount of nothing is of whole numbers
    return Record(problem.ways * counts, sums, *_count(problem, y, seen))


def _regressors_of_tables(problem: Problem) -> FloatArray:
    """What the entries of the tables are linear in: edge-arms, or their symmetric parts (K^2 x d^2)."""
    z = problem.edge_arms
    if not problem.symmetric_only:
        return z
    back = np.arange(problem.K**2).reshape(problem.K, problem.K).T.ravel()
    return (z + z[back]) / 2.0


def places_of(problem: Problem, allocation: IntArray) -> IntArray:
    """Return the type and edge-arm of each directed edge, as a place in a record's flat tables."""
    K, first, second = problem.K, allocation[problem.sources], allocation[problem.targets]
    return (problem.edge_types * K + first) * K + second


def played(problem: Problem, allocation: IntArray) -> IntArray:
    """Return the places in a record's flat tables that an allocation plays, increasing."""
    return np.unique(places_of(problem, allocation))


def weigh(
    problem: Problem, allocation: IntArray, edges: NDArray[np.bool_] | None = None
) -> FloatArray:
    """Return the weights of an allocation's edges, or of some, by type and edge-arm (types x K^2)."""
    size, weights = problem.types * problem.K**2, problem.edge_totals
    weights = weights if edges is None else np.where(edges, weights, 0.0)
    sums = np.bincount(places_of(problem, allocation), weights=weights, minlength=size)
    return sums.reshape(problem.types, -1).astype(np.float64, copy=False)


def regressors(problem: Problem, allocation: IntArray) -> FloatArray:
    """Return what each number of a round's report is linear in (observations x parameters)."""
    d2 = problem.d**2
    z = problem.edge_arms[allocation[problem.sources] * problem.K + allocation[problem.targets]]
    rows = np.zeros((problem.observations, problem.types, d2))
    np.add.at(rows, (problem.report.index, problem.edge_types), problem.edge_weights[:, None] * z)
    return rows.reshape(problem.observations, -1)
