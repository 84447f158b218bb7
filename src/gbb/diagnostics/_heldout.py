"""What rounds that were left out of the fit would have been predicted to pay."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._support.checks import FloatArray, IntArray
from gbb.diagnostics._rounds import Rounds
from gbb.learning import AnyRecord, Ridge, empty, observe
from gbb.problem import Problem

RIDGE = 1e-3
"""The regulariser, as a share of the mean eigenvalue of the Gram matrix: it fits, it hardly shrinks."""

LEVERAGE = 0.5
"""A prediction counts when its variance is at most this share of one observation's."""


def predict_held_out(
    history: Rounds, folds: int
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Predictions of every round from the other folds, their leverages, and which are supported.

    Rounds are dealt to the folds at random, the same way every time. An observation with regressor q
    is supported when ``q' A^-1 q <= 1/2``: arms that no other fold has played together predict
    nothing, and are not counted against the model.
    """
    problem, rewards = history.problem, history.paid
    deal = np.random.default_rng(0).permutation(len(rewards)) % folds
    records = [_make_record(history, np.flatnonzero(deal == f)) for f in range(folds)]
    predicted = np.full(rewards.shape, np.nan)
    leverage = np.full(rewards.shape, np.inf)
    for fold in range(folds):
        rest = empty(problem)
        for other in (record for f, record in enumerate(records) if f != fold):
            rest = rest.merge(other)
        ridge = Ridge(problem, rest, _find_regulariser(problem, rest))
        for t in np.flatnonzero(deal == fold).tolist():
            predicted[t], leverage[t] = _predict(history.problem_at(t), ridge, history.played[t])
    return predicted, leverage, (leverage <= LEVERAGE) & np.isfinite(rewards)


def _make_record(history: Rounds, rounds: IntArray) -> AnyRecord:
    record = empty(history.problem)
    for t in rounds.tolist():
        paid = history.paid[t]
        seen = np.flatnonzero(np.isfinite(paid))
        own = history.problem_at(t)
        record = record.merge(observe(own, history.played[t], paid[seen], seen))
    return record


def _find_regulariser(problem: Problem, record: AnyRecord) -> float:
    mean = float(np.trace(record.gram(problem))) / problem.parameters
    return RIDGE * mean if mean > 0.0 else 1.0


def _predict(problem: Problem, ridge: Ridge, allocation: IntArray) -> tuple[FloatArray, FloatArray]:
    """Predicted rewards of a round and their leverages, one per observation."""
    types = problem.edge_types
    first, second = allocation[problem.sources], allocation[problem.targets]
    f = problem.edge_weights[:, None] * ridge.table[types, first, second]
    sums = np.zeros((problem.observations, f.shape[1]))
    np.add.at(sums, problem.adds_to, f)
    blocks = np.zeros(problem.observations, dtype=np.int64)
    blocks[problem.adds_to] = ridge.block_of[types]
    return (sums * ridge.centre[blocks]).sum(axis=1), (sums**2).sum(axis=1)
