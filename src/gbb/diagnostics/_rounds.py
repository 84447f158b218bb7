"""The rounds of a history, each with the problem that it was played on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.problem import Problem


class Rounds(NamedTuple):
    """What was played and paid.

    Attributes
    ----------
    problem
        The model.
    played
        An arm index per agent, a row per round (T x n).
    paid
        What was reported, NaN where it is missing (T x observations).
    rows
        The contexts of the rounds, a row each; None where there are none.
    """

    problem: Problem
    played: IntArray
    paid: FloatArray
    rows: FloatArray | None = None

    def problem_at(self, t: int) -> Problem:
        """The problem of round ``t``, counted from 0."""
        return self.problem if self.rows is None else self.problem.at_row(self.rows[t])

    def contexts(self) -> IntArray:
        """A number for each round, the same for equal contexts."""
        if self.rows is None:
            return np.zeros(len(self.played), dtype=np.int64)
        return np.unique(self.rows, axis=0, return_inverse=True)[1].reshape(-1)

    def strata(self) -> IntArray | None:
        """A number for each round, by its context; None where there is one only.

        Rounds whose contexts never come again are one stratum: their own means would be themselves.
        """
        number = self.contexts()
        again = np.bincount(number)[number] > 1
        found = np.unique(np.where(again, number, -1), return_inverse=True)[1].reshape(-1)
        return found if found.max(initial=0) > 0 else None
