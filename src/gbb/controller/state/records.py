"""Records of any problem: as the log holds them, and how they fit another problem."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbb.controller.storage.bytes import Observed
from gbb.learning.estimator import Record
from gbb.learning.typed import AnyRecord, Moments, observed
from gbb.problem import Problem

SLACK = 1e-9
"""How far above a whole number a sum of weights may lie by rounding alone."""


def record_to(record: AnyRecord) -> dict[str, Any]:
    """A record as its arrays, by name."""
    return record._asdict()


def record_from(content: dict[str, Any]) -> AnyRecord:
    """The record that :func:`record_to` was given, whatever else stands beside it."""
    if "gram" in content:
        return Moments(content["gram"], content["moment"])
    return Record(content["N"], content["Y"])


def seen_in(problem: Problem, allocation: NDArray[np.int64], told: Observed) -> AnyRecord:
    """The record of what was told of one round."""
    return observed(problem, allocation, told.values, told.positions)


def fitted(record: AnyRecord, problem: Problem) -> AnyRecord:
    """``record`` in the shape that ``problem`` has records in; types that are new have seen nothing.

    The paper's problem has tables K x K, any other has them for each type.
    """
    if isinstance(record, Moments):
        size = problem.parameters
        if record.moment.size == size:
            return record
        more = size - record.moment.size  # types come one after the other
        return Moments(np.pad(record.gram, (0, more)), np.pad(record.moment, (0, more)))
    if problem.is_paper_problem:
        return record if record.N.ndim == 2 else Record(record.N[0], record.Y[0])
    if record.N.ndim == 3 and len(record.N) == problem.types:
        return record
    return Record(_padded(record.N, problem.types), _padded(record.Y, problem.types))


def _padded(table: NDArray[Any], types: int) -> NDArray[Any]:
    tables = table if table.ndim == 3 else table[None]
    return np.pad(tables, ((0, types - len(tables)), (0, 0), (0, 0)))


def rounds_of(record: AnyRecord, problem: Problem, rounds: int) -> int:
    """``rounds``, or more where the record holds more than so many rounds of ``problem`` can add.

    Radii that count rounds take each to add at most ``growth`` to the counts, ``growth L^2`` to the
    trace of the Gram matrix. A round on a larger graph may have added more.
    """
    if isinstance(record, Moments):
        most = float(np.trace(record.gram)) / (problem.gram_growth_per_round * problem.L**2)
    else:
        most = float(np.sum(record.N)) / problem.gram_growth_per_round
    return max(rounds, math.ceil(most if problem.is_paper_problem else most * (1.0 - SLACK)))
