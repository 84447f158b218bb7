"""What rounds that were left out of the fit would have been predicted to pay."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._support.checks import FloatArray, IntArray
from gbb.learning import AnyRecord, Ridge, empty, observe
from gbb.problem import Problem

RIDGE = 1e-3
"""The regulariser, as a share of the mean eigenvalue of the Gram matrix: it fits, it hardly shrinks."""

LEVERAGE = 0.5
"""A prediction counts when its variance is at most this share of one observation's."""


def predict_held_out(
    problem: Problem, allocations: IntArray, rewards: FloatArray, folds: int
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Predictions of every round from the other folds, their leverages, and which are supported.

    Rounds are dealt to the folds at random, the same way every time. An observation with regressor q
    is supported when ``q' A^-1 q <= 1/2``: arms that no other fold has played together predict
    nothing, and are not counted against the model.
    """
    rounds = len(allocations)
    deal = np.random.default_rng(0).permutation(rounds) % folds
    records = [
        _make_record(problem, allocations[deal == f], rewards[deal == f]) for f in range(folds)
    ]
    predicted = np.full(rewards.shape, np.nan)
    leverage = np.full(rewards.shape, np.inf)
    for fold in range(folds):
        rest = empty(problem)
        for other in (record for f, record in enumerate(records) if f != fold):
            rest = rest.merge(other)
        ridge = Ridge(problem, rest, _find_regulariser(problem, rest))
        for t in np.flatnonzero(deal == fold):
            predicted[t], leverage[t] = _predict(problem, ridge, allocations[t])
    return predicted, leverage, (leverage <= LEVERAGE) & np.isfinite(rewards)


def _make_record(problem: Problem, allocations: IntArray, rewards: FloatArray) -> AnyRecord:
    record = empty(problem)
    for allocation, round_ in zip(allocations, rewards, strict=True):
        seen = np.flatnonzero(np.isfinite(round_))
        record = record.merge(observe(problem, allocation, round_[seen], seen))
    return record


def _find_regulariser(problem: Problem, record: AnyRecord) -> float:
    mean = float(np.trace(record.gram(problem))) / problem.parameters
    return RIDGE * mean if mean > 0.0 else 1.0


def _predict(problem: Problem, ridge: Ridge, allocation: IntArray) -> tuple[FloatArray, FloatArray]:
    """Predicted rewards of a round and their leverages, one per observation."""
    graph, types = problem.graph, problem.edge_types
    first, second = allocation[graph.sources], allocation[graph.indices]
    f = problem.edge_weights[:, None] * ridge.table[types, first, second]
    sums = np.zeros((problem.observations, f.shape[1]))
    np.add.at(sums, problem.adds_to, f)
    blocks = np.zeros(problem.observations, dtype=np.int64)
    blocks[problem.adds_to] = ridge.block_of[types]
    return (sums * ridge.centre[blocks]).sum(axis=1), (sums**2).sum(axis=1)
