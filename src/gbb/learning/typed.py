"""Estimation for any problem: edge types, weights, and rewards that are seen only in sums.

With rewards per edge the record is a pair of tables (N, Y) for each type, weights included. With rewards
per agent or in all, an observation is a sum of edge-arms and the record is ``sum q q'`` and ``sum y q``.
Both are additive, as the paper's own record is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.learning.estimator import Record, symmetric_edge_arms
from gbb.problem import Problem


class Moments(NamedTuple):
    """All that a learner remembers of rewards that are sums over edges.

    ``gram`` sums ``q q'`` and ``moment`` sums ``y q`` over the observations, where ``q`` is the sum of
    the observed edges' weighted edge-arms, type by type, in R^(types d^2).
    """

    gram: FloatArray
    moment: FloatArray

    def merge(self, other: Moments) -> Moments:
        """Both records as one."""
        return Moments(self.gram + other.gram, self.moment + other.moment)

    def discount(self, factor: float) -> Moments:
        """The record with every observation worth ``factor`` of what it was."""
        return Moments(self.gram * factor, self.moment * factor)


AnyRecord = Record | Moments


def tables(record: AnyRecord) -> Record:
    """``record``, if it is a pair of tables: rewards were seen edge by edge."""
    if not isinstance(record, Record):
        raise checks.input_error("record", "hold tables (N, Y)", type(record).__name__)
    return record


def empty(problem: Problem) -> AnyRecord:
    """The record of a learner that has seen nothing."""
    if problem.feedback != "edge":
        return Moments(np.zeros((problem.parameters,) * 2), np.zeros(problem.parameters))
    if problem.is_paper_problem:
        return Record.empty(problem.K)
    shape = (problem.types, problem.K, problem.K)
    return Record(np.zeros(shape, dtype=float if problem.weighted else np.int64), np.zeros(shape))


def observed(
    problem: Problem, allocation: IntArray, rewards: FloatArray, positions: IntArray | None = None
) -> AnyRecord:
    """The record of one round; ``positions`` are the edges or agents of ``rewards`` if not all."""
    if problem.is_paper_problem:
        return Record.of(problem.graph, allocation, rewards, problem.K, edges=positions)
    if problem.feedback == "edge":
        return _tables(problem, allocation, rewards, positions)
    q = regressors(problem, allocation)
    q = q if positions is None else q[positions]
    return Moments(q.T @ q, rewards @ q)


def _tables(
    problem: Problem, allocation: IntArray, rewards: FloatArray, positions: IntArray | None
) -> Record:
    """``N`` sums the squared weights and ``Y`` the weighted rewards by type and edge-arm."""
    graph, K, shape = problem.graph, problem.K, (problem.types, problem.K, problem.K)
    code = (problem.edge_types * K + allocation[graph.sources]) * K + allocation[graph.indices]
    weights = problem.edge_weights
    if positions is not None:
        code, weights = code[positions], weights[positions]
    size = problem.types * K * K

    def sums(values: FloatArray) -> FloatArray:
        return np.bincount(code, weights=values, minlength=size).reshape(shape).astype(np.float64)

    if problem.weighted:
        return Record(sums(weights**2), sums(weights * rewards))
    N = np.bincount(code, minlength=size).reshape(shape).astype(np.int64, copy=False)
    return Record(N, sums(weights * rewards))


def regressors(problem: Problem, allocation: IntArray) -> FloatArray:
    """What each number of a round's rewards is linear in (observations x parameters)."""
    graph, d2 = problem.graph, problem.d**2
    z = problem.edge_arms[allocation[graph.sources] * problem.K + allocation[graph.indices]]
    rows = np.zeros((problem.observations, problem.types, d2))
    which = {
        "edge": np.arange(graph.m),
        "agent": graph.sources,
        "global": np.zeros(graph.m, dtype=np.int64),
    }[problem.feedback]
    np.add.at(rows, (which, problem.edge_types), problem.edge_weights[:, None] * z)
    return rows.reshape(problem.observations, -1)


@dataclass(frozen=True, eq=False)
class TypedRidge:
    """Ridge regression with one matrix per edge type (equation 3 of the paper, type by type).

    With rewards per edge the types do not share a parameter and ``A`` is a block for each of them;
    otherwise it is one block of all ``types d^2`` parameters.

    Parameters
    ----------
    problem, record
        What is known, and what was seen.
    lam
        The ridge regulariser, > 0.
    symmetric
        Estimate symmetric parts only, which decide where ``problem.symmetric`` (fact 2 of the design).

    Notes
    -----
    ``A = V (e + lam) V'`` gives the whitening ``V / sqrt(e + lam)``. From tables, e and V come from the
    singular values of the rows ``sqrt(N) z``, which squares no condition number. From moments they are
    those of the summed ``q q'``, whose eigenvalues below its own rounding count as 0: what cannot be
    told from nothing is left as uncertain as the regulariser says.
    """

    problem: Problem
    record: AnyRecord
    lam: float = 1.0
    symmetric: bool = False

    def __post_init__(self) -> None:
        checks.real("lam", self.lam, low=0.0, low_open=True)
        if self.symmetric and not self.problem.symmetric:
            rule = "be False unless both directions of every link are alike and seen one by one"
            raise checks.input_error("symmetric", rule, True)

    @cached_property
    def edge_arms(self) -> FloatArray:
        """The edge-arms in the coordinates of a type's block (K^2 x D)."""
        return symmetric_edge_arms(self.problem.arms) if self.symmetric else self.problem.edge_arms

    @cached_property
    def gram(self) -> FloatArray:
        """``A - lam I`` in blocks (blocks x size x size)."""
        if isinstance(self.record, Moments):
            return self.record.gram[None]
        z = self.edge_arms
        N = self.record.N.reshape(self.problem.types, -1, 1)
        gram: FloatArray = z.T @ (N * z)
        return gram

    @cached_property
    def _spectrum(self) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues e of ``A - lam I`` and ``V / sqrt(e + lam)``, in blocks."""
        if isinstance(self.record, Moments):
            e, V = np.linalg.eigh(self.gram)
            noise = e.shape[1] * np.finfo(np.float64).eps * np.abs(e).max(axis=1, keepdims=True)
            e = np.where(e > noise, e, 0.0)
        else:
            z = self.edge_arms
            rows = np.sqrt(self.record.N.reshape(self.problem.types, -1, 1)) * z
            if rows.shape[1] < rows.shape[2]:
                fill = ((0, 0), (0, rows.shape[2] - rows.shape[1]), (0, 0))
                rows = np.pad(rows, fill)  # so that V is square
            _, singular, Vt = np.linalg.svd(rows, full_matrices=False)
            e, V = singular**2, Vt.transpose(0, 2, 1)
        return e, V / np.sqrt(e + self.lam)[:, None, :]

    @cached_property
    def centre(self) -> FloatArray:
        """The whitened ``b`` in blocks (blocks x size)."""
        if isinstance(self.record, Moments):
            b = self.record.moment[None]
        else:
            b = self.record.Y.reshape(self.problem.types, -1) @ self.edge_arms
        centre = (b[:, None, :] @ self._spectrum[1])[:, 0]
        return np.ascontiguousarray(centre, dtype=np.float64)

    def _white(self, vectors: FloatArray) -> FloatArray:
        """Vectors in a type's own coordinates, whitened for every type (types x rows x size)."""
        basis = self._spectrum[1]
        if len(basis) == 1:  # all types in one block, each with rows of its own
            basis = basis[0].reshape(self.problem.types, -1, basis.shape[2])
        white: FloatArray = vectors @ basis
        return white

    @cached_property
    def table(self) -> FloatArray:
        """The whitened ``z_ab`` of every type and edge-arm (types x K x K x size)."""
        K, types = self.problem.K, self.problem.types
        return np.ascontiguousarray(self._white(self.edge_arms).reshape(types, K, K, -1))

    @cached_property
    def means(self) -> FloatArray:
        """The estimated reward of every type and edge-arm (types x K x K)."""
        several = len(self.centre) > 1
        centre = self.centre[:, None, None, :] if several else self.centre[0]
        means: FloatArray = (self.table * centre).sum(axis=-1)
        return means

    @cached_property
    def widths(self) -> FloatArray:
        """``||z_ab||_{A^-1}`` of every type and edge-arm (types x K x K)."""
        widths: FloatArray = np.linalg.norm(self.table, axis=-1)
        return widths

    def width(self, directions: FloatArray) -> FloatArray:
        """``||v||_{A^-1}`` of vectors v in a type's own coordinates (types x rows)."""
        widths: FloatArray = np.linalg.norm(self._white(directions), axis=-1)
        return widths

    @cached_property
    def M_hat(self) -> FloatArray:
        """The estimated matrices (types x d x d); their symmetric parts with ``symmetric``."""
        problem, d = self.problem, self.problem.d
        if self.symmetric:
            full = TypedRidge(problem, self.record, self.lam).M_hat
            parts: FloatArray = (full + full.transpose(0, 2, 1)) / 2.0
            return parts
        theta = (self._spectrum[1] @ self.centre[:, :, None]).astype(np.float64, copy=False)
        return theta.reshape(problem.types, d, d).transpose(0, 2, 1)  # vec stacks columns

    @cached_property
    def log_det(self) -> float:
        """``log det(A / lam)``."""
        return float(np.log1p(self._spectrum[0] / self.lam).sum())

    @cached_property
    def smallest(self) -> float:
        """The smallest eigenvalue of A."""
        return self.lam + float(self._spectrum[0].min())

    def total(self, allocation: IntArray) -> tuple[float, float]:
        """Estimated global reward of an allocation, and the width ``||sum w z||_{A^-1}`` of it."""
        problem, graph = self.problem, self.problem.graph
        first, second = allocation[graph.sources], allocation[graph.indices]
        f = problem.edge_weights[:, None] * self.table[problem.edge_types, first, second]
        W = np.zeros_like(self.centre)
        np.add.at(W, problem.edge_types if len(W) > 1 else np.zeros(graph.m, dtype=np.int64), f)
        return float((W * self.centre).sum()), float(np.linalg.norm(W))
