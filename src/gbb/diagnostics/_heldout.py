"""What rounds that were left out of the fit would have been predicted to pay."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._support.checks import FloatArray, IntArray
from gbb.learning.typed import AnyRecord, Moments, TypedRidge, empty, observed, tables
from gbb.problem import Problem

RIDGE = 1e-3
"""The regulariser, as a share of the mean eigenvalue of the Gram matrix: it fits, it hardly shrinks."""

LEVERAGE = 0.5
"""A prediction counts when its variance is at most this share of one observation's."""


def held_out(
    problem: Problem, allocations: IntArray, rewards: FloatArray, folds: int
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Predictions of every round from the other folds, their leverages, and which are supported.

    Rounds are dealt to the folds at random, the same way every time. An observation with regressor q
    is supported when ``q' A^-1 q <= 1/2``: arms that no other fold has played together predict
    nothing, and are not counted against the model.
    """
    rounds = len(allocations)
    deal = np.random.default_rng(0).permutation(rounds) % folds
    records = [_record(problem, allocations[deal == f], rewards[deal == f]) for f in range(folds)]
    predicted = np.full(rewards.shape, np.nan)
    leverage = np.full(rewards.shape, np.inf)
    for fold in range(folds):
        rest = empty(problem)
        for other in (record for f, record in enumerate(records) if f != fold):
            rest = _merged(rest, other)
        ridge = TypedRidge(problem, rest, _regulariser(problem, rest))
        for t in np.flatnonzero(deal == fold):
            predicted[t], leverage[t] = _predict(problem, ridge, allocations[t])
    return predicted, leverage, (leverage <= LEVERAGE) & np.isfinite(rewards)


def _record(problem: Problem, allocations: IntArray, rewards: FloatArray) -> AnyRecord:
    record = empty(problem)
    for allocation, round_ in zip(allocations, rewards, strict=True):
        seen = np.flatnonzero(np.isfinite(round_))
        record = _merged(record, observed(problem, allocation, round_[seen], seen))
    return record


def _merged(one: AnyRecord, other: AnyRecord) -> AnyRecord:
    if isinstance(one, Moments) and isinstance(other, Moments):
        return one.merge(other)
    return tables(one).merge(tables(other))


def _regulariser(problem: Problem, record: AnyRecord) -> float:
    gram = TypedRidge(problem, record).gram
    mean = float(np.trace(gram, axis1=1, axis2=2).sum()) / problem.parameters
    return RIDGE * mean if mean > 0.0 else 1.0


def _predict(
    problem: Problem, ridge: TypedRidge, allocation: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Predicted rewards of a round and their leverages, one per observation."""
    graph, types = problem.graph, problem.edge_types
    first, second = allocation[graph.sources], allocation[graph.indices]
    f = problem.edge_weights[:, None] * ridge.table[types, first, second]
    if problem.feedback == "edge":
        centre = ridge.centre[types if len(ridge.centre) > 1 else np.zeros_like(types)]
        return (f * centre).sum(axis=1), (f**2).sum(axis=1)
    sums = np.zeros((problem.observations, f.shape[1]))
    whose = graph.sources if problem.feedback == "agent" else np.zeros_like(graph.sources)
    np.add.at(sums, whose, f)
    return sums @ ridge.centre[0], (sums**2).sum(axis=1)
