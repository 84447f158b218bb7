"""The record: all that a learner remembers, additive over rounds and over parts of the graph.

With rewards per edge it is a pair of tables for each edge type. With rewards in sums over edges an
observation is ``y = <q, theta> + noise``, q the sum of the edges' weighted edge-arms, and the record
is ``sum q q'`` and ``sum y q``. Beside them stand how many numbers were told, and the sum of their
squares, from which the noise is estimated where nobody knows it (:mod:`gbb.learning.scales`). Of a
link whose directions are alike q is ``2 w s``, s the symmetric part of either edge-arm: ``q q'`` and
``y q`` are those of two edges with ``N = 2 w^2`` and ``Y = w y`` each, so that tables hold it all, as
long as they are read in symmetric parts.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.graph import Graph
from gbb.problem import Problem

Counts = IntArray | FloatArray
"""Whole numbers, or fractions of them where edges have weights or the record was discounted."""

ROUNDING = 1e-9
"""Sums of squared weights that differ by less than this share are the same."""


class _Tables(NamedTuple):
    counts: Counts
    paid: FloatArray
    numbers: float = math.nan
    squares: float = math.nan


class Record(_Tables):
    """What was seen edge by edge, or link by link.

    Parameters
    ----------
    N
        How many directed edges of each type were played with arms (a, b), types x K x K; squared
        weights are summed where edges have weights. K x K where there is one type. Twice as much where
        a number per link was seen.
    Y
        The sum of their rewards, each times its weight; the link's where that was seen.
    numbers, squares
        How many rewards these are, and the sum of their squares; NaN where nobody kept it.

    Attributes
    ----------
    counts, paid
        N and Y, types x K x K.
    """

    __slots__ = ()

    def __new__(
        cls, N: Counts, Y: FloatArray, numbers: float = math.nan, squares: float = math.nan
    ) -> Record:
        """Tables for each type, or the K x K tables of one type."""
        return super().__new__(cls, _by_type(N), _by_type(Y), numbers, squares)

    @classmethod
    def empty(cls, K: int, types: int = 1) -> Record:
        """Nothing seen yet."""
        return cls(np.zeros((types, K, K), dtype=np.int64), np.zeros((types, K, K)), 0.0, 0.0)

    @classmethod
    def of(
        cls,
        graph: Graph,
        allocation: IntArray,
        rewards: FloatArray,
        K: int,
        *,
        edges: IntArray | None = None,
    ) -> Record:
        """One round of the paper's problem: edge rewards summed by edge-arm, in O(m).

        ``edges`` are the positions of the edges that ``rewards`` belong to; all of them when left out.
        """
        return _count(Problem(graph, np.ones((K, 1))), allocation, rewards, edges)

    @property
    def N(self) -> Counts:
        """The counts: K x K where there is one type, else types x K x K."""
        return self.counts[0] if len(self.counts) == 1 else self.counts

    @property
    def Y(self) -> FloatArray:
        """The sums of rewards, in the shape of N."""
        return self.paid[0] if len(self.paid) == 1 else self.paid

    def beside(self, numbers: float, squares: float) -> Record:
        """The same tables, with these sums beside them."""
        return Record(self.counts, self.paid, numbers, squares)

    @property
    def tables(self) -> tuple[Counts, FloatArray] | None:
        """The counts and the sums of rewards, types x K x K."""
        return self.counts, self.paid

    @property
    def two_way(self) -> bool:
        """Whether the two directions of every pair of arms were seen equally often.

        Then ``Y + Y'`` is linear in the symmetric part of M* alone. Fractions may differ by rounding.
        """
        back = self.counts.transpose(0, 2, 1)
        slack = 0.0 if self.counts.dtype.kind == "i" else ROUNDING
        return bool((np.abs(self.counts - back) <= slack * (self.counts + back)).all())

    def merge(self, other: AnyRecord) -> Record:
        """Both records as one."""
        if other.tables is None:
            raise checks.input_error("seen", "hold tables (N, Y)", type(other).__name__)
        counts, paid = other.tables
        return Record(self.counts + counts, self.paid + paid, *_add(self, other))

    def discount(self, factor: float) -> Record:
        """The record with every observation worth ``factor`` of what it was."""
        numbers, squares = self.numbers * factor, self.squares * factor
        counts = self.counts.astype(np.float64) * factor
        return Record(counts, self.paid * factor, numbers, squares)

    def resize(self, problem: Problem) -> Record:
        """The record with the types of ``problem``; those that are new have seen nothing."""
        new = problem.types - len(self.counts)
        if new == 0:
            return self
        more = ((0, new), (0, 0), (0, 0))
        counts: Any = np.pad(self.counts, more)
        return Record(counts, np.pad(self.paid, more), self.numbers, self.squares)

    def gram(self, problem: Problem) -> FloatArray:
        """``sum q q'`` (parameters x parameters), a block for each type."""
        z, size = _told(problem), problem.d**2
        total = np.zeros((problem.types, size, problem.types, size))
        for g, counts in enumerate(self.counts):
            total[g, :, g] = (z * counts.reshape(-1, 1)).T @ z
        return total.reshape(problem.parameters, problem.parameters)

    def moment(self, problem: Problem) -> FloatArray:
        """``sum y q`` (parameters)."""
        return (self.paid.reshape(len(self.paid), -1) @ _told(problem)).ravel()

    def weight(self, problem: Problem) -> float:  # noqa: ARG002
        """How many edges were seen; the sum of their squared weights; four for a whole link."""
        return float(self.counts.sum())

    def to_dict(self) -> dict[str, Any]:
        """The tables by name, and the sums beside them."""
        return {"N": self.N, "Y": self.Y, "numbers": self.numbers, "squares": self.squares}


class Moments(NamedTuple):
    """What was seen in sums over edges: ``qq`` sums ``q q'`` and ``yq`` sums ``y q``.

    ``numbers`` and ``squares`` are how many there are, and the sum of their squares.
    """

    qq: FloatArray
    yq: FloatArray
    numbers: float = math.nan
    squares: float = math.nan

    def beside(self, numbers: float, squares: float) -> Moments:
        """The same moments, with these sums beside them."""
        return Moments(self.qq, self.yq, numbers, squares)

    @property
    def tables(self) -> None:
        """There are none: single edges were not seen."""
        return None

    @property
    def two_way(self) -> bool:
        """Sums over edges have no directions."""
        return True

    def merge(self, other: AnyRecord) -> Moments:
        """Both records as one."""
        if not isinstance(other, Moments):
            raise checks.input_error("seen", "hold moments", type(other).__name__)
        return Moments(self.qq + other.qq, self.yq + other.yq, *_add(self, other))

    def discount(self, factor: float) -> Moments:
        """The record with every observation worth ``factor`` of what it was."""
        beside = self.numbers * factor, self.squares * factor
        return Moments(self.qq * factor, self.yq * factor, *beside)

    def resize(self, problem: Problem) -> Moments:
        """The record with the types of ``problem``; those that are new have seen nothing."""
        more = problem.parameters - self.yq.size  # types come one after the other
        qq, yq = (np.pad(each, (0, more)) for each in (self.qq, self.yq))
        return Moments(qq, yq, self.numbers, self.squares) if more else self

    def gram(self, problem: Problem) -> FloatArray:  # noqa: ARG002
        """``sum q q'`` (parameters x parameters)."""
        return self.qq

    def moment(self, problem: Problem) -> FloatArray:  # noqa: ARG002
        """``sum y q`` (parameters)."""
        return self.yq

    def weight(self, problem: Problem) -> float:
        """How many edges of the largest edge-arms would have been seen, at least."""
        return float(np.trace(self.qq)) / problem.L**2

    def to_dict(self) -> dict[str, Any]:
        """The moments by name."""
        beside = {"numbers": self.numbers, "squares": self.squares}
        return {"gram": self.qq, "moment": self.yq, **beside}


AnyRecord = Record | Moments


def empty(problem: Problem) -> AnyRecord:
    """The record of a learner that has seen nothing."""
    if problem.keeps_tables:
        record = Record.empty(problem.K, problem.types)
        return record.discount(1.0) if problem.weighted else record
    return Moments(np.zeros((problem.parameters,) * 2), np.zeros(problem.parameters), 0.0, 0.0)


def from_dict(content: dict[str, Any]) -> AnyRecord:
    """The record whose ``to_dict`` is part of ``content``; earlier versions kept no squares."""
    beside = [content.get(name, math.nan) for name in ("numbers", "squares")]
    if "gram" in content:
        return Moments(content["gram"], content["moment"], *beside)
    return Record(content["N"], content["Y"], *beside)


def _add(one: AnyRecord, other: AnyRecord) -> tuple[float, float]:
    return one.numbers + other.numbers, one.squares + other.squares


def observe(
    problem: Problem, allocation: IntArray, rewards: FloatArray, positions: IntArray | None = None
) -> AnyRecord:
    """The record of one round; ``positions`` are the numbers of its report that are known."""
    paying = problem.paying if positions is None else problem.paying[positions]
    whole = bool(paying.all())
    told = rewards if whole else rewards[paying]
    beside = float(told.size), float(told @ told)
    if problem.keeps_tables:
        if problem.halves_only:
            rewards, positions = _spread(problem, rewards, positions)
        return _count(problem, allocation, rewards, positions).beside(*beside)
    q = regressors(problem, allocation)
    q = q if positions is None else q[positions]
    return Moments(q.T @ q, rewards @ q, *beside)


def _count(
    problem: Problem, allocation: IntArray, rewards: FloatArray, edges: IntArray | None
) -> Record:
    """``N`` sums the squared weights and ``Y`` the weighted rewards by type and edge-arm.

    Where a reward is that of a link, both of its edges have it, and N is doubled.
    """
    shape, weights = (problem.types, problem.K, problem.K), problem.edge_weights
    code = places_of(problem, allocation)
    if edges is not None:
        code, weights = code[edges], weights[edges]
    size = problem.types * problem.K**2
    squares = weights**2 if problem.weighted else None
    N: Any = np.bincount(code, weights=squares, minlength=size).reshape(shape)
    Y = np.bincount(code, weights=weights * rewards, minlength=size).reshape(shape)
    whole: Counts = N if problem.weighted else N.astype(np.int64, copy=False)
    return Record(problem.ways * whole, Y.astype(np.float64, copy=False))


def _spread(
    problem: Problem, rewards: FloatArray, links: IntArray | None
) -> tuple[FloatArray, IntArray | None]:
    """What each directed edge of some links is told, its link's reward, and which edges these are."""
    if links is None:
        return rewards[problem.adds_to], None
    place = np.full(problem.observations, -1, dtype=np.int64)
    place[links] = np.arange(len(links))
    told = place[problem.adds_to]
    edges = np.flatnonzero(told >= 0)
    return rewards[told[edges]], edges


def _told(problem: Problem) -> FloatArray:
    """What the entries of the tables are linear in: edge-arms, or their symmetric parts (K^2 x d^2)."""
    z = problem.edge_arms
    if not problem.halves_only:
        return z
    back = np.arange(problem.K**2).reshape(problem.K, problem.K).T.ravel()
    return (z + z[back]) / 2.0


def places_of(problem: Problem, allocation: IntArray) -> IntArray:
    """The type and edge-arm of each directed edge, as a place in a record's flat tables."""
    K, first, second = problem.K, allocation[problem.sources], allocation[problem.targets]
    places: IntArray = (problem.edge_types * K + first) * K + second
    return places


def played(problem: Problem, allocation: IntArray) -> IntArray:
    """The places in a record's flat tables that an allocation plays, increasing."""
    places: IntArray = np.unique(places_of(problem, allocation))
    return places


def weigh(
    problem: Problem, allocation: IntArray, edges: NDArray[np.bool_] | None = None
) -> FloatArray:
    """The weights of an allocation's edges, or of some, summed by type and edge-arm (types x K^2)."""
    size, weights = problem.types * problem.K**2, problem.edge_totals
    weights = weights if edges is None else np.where(edges, weights, 0.0)
    sums = np.bincount(places_of(problem, allocation), weights=weights, minlength=size)
    return sums.reshape(problem.types, -1).astype(np.float64, copy=False)


def regressors(problem: Problem, allocation: IntArray) -> FloatArray:
    """What each number of a round's report is linear in (observations x parameters)."""
    d2 = problem.d**2
    z = problem.edge_arms[allocation[problem.sources] * problem.K + allocation[problem.targets]]
    rows = np.zeros((problem.observations, problem.types, d2))
    np.add.at(rows, (problem.adds_to, problem.edge_types), problem.edge_weights[:, None] * z)
    return rows.reshape(problem.observations, -1)


def _by_type(table: ArrayLike) -> Any:
    tables = np.asarray(table)
    return tables if tables.ndim == 3 else tables[None]
