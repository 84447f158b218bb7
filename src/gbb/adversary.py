"""Environments whose matrix changes from round to round, fixed before the first one (oblivious)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.cuts import Cut, check_cut
from gbb.environment import NOISES
from gbb.problem import Problem

Matrices = Callable[[IntArray], FloatArray]
"""``matrices(rounds)``: the d x d matrix of each of the given rounds, counted from 1."""


def switching(matrices: ArrayLike, *, period: int = 1) -> Matrices:
    """Plays the given matrices (c x d x d) in turn, each for ``period`` rounds, over and over.

    With M and -M in turn, whoever follows the average so far is always one round late: the leader of
    every second round loses all it seemed to gain.
    """
    stack = checks.array("matrices", matrices, ndim=3, meaning="several d x d matrices")
    if len(stack) == 0:
        raise checks.input_error("matrices", "hold at least one matrix", "none")
    period = checks.integer("period", period, low=1)
    return lambda rounds: stack[(rounds - 1) // period % len(stack)]


def drifting(first: ArrayLike, second: ArrayLike, *, period: float) -> Matrices:
    """Turns slowly: ``M_t = cos(2 pi t / period) first + sin(2 pi t / period) second``."""
    one = checks.array("first", first, ndim=2, meaning="d x d")
    two = checks.array("second", second, shape=one.shape, meaning="as `first`")
    period = checks.real("period", period, low=0.0, low_open=True)

    def matrices(rounds: IntArray) -> FloatArray:
        angle = (2.0 * np.pi / period * rounds)[:, None, None]
        turned: FloatArray = np.cos(angle) * one + np.sin(angle) * two
        return turned

    return matrices


def from_file(path: str | Path) -> Matrices:
    """The matrices of a file, one a round: ``.npy`` (T x d x d) or ``.csv`` (a row of d^2 a round)."""
    target = Path(path)
    kind = checks.choice("path", target.suffix, [".csv", ".npy"])
    try:
        loaded = np.load(target) if kind == ".npy" else np.loadtxt(target, delimiter=",", ndmin=2)
    except (OSError, ValueError) as error:
        raise checks.input_error("path", "name a readable file", f"{path} ({error})") from None
    if kind == ".csv":
        d = round(np.sqrt(loaded.shape[1]))
        if d * d != loaded.shape[1]:
            raise checks.input_error("path", "hold d^2 numbers in every row", loaded.shape[1])
        loaded = loaded.reshape(-1, d, d)
    stack = checks.array("path", loaded, ndim=3, meaning="a d x d matrix a round")

    def matrices(rounds: IntArray) -> FloatArray:
        if rounds.size and rounds[-1] > len(stack):
            raise checks.input_error(
                "rounds", f"be at most {len(stack)}, the file's", int(rounds[-1])
            )
        return stack[rounds - 1]

    return matrices


class AdversarialEnvironment:
    """A problem whose edges pay ``x_i' M_t x_j + sigma * noise`` with a matrix of the round.

    The adversary is oblivious: the matrices do not depend on what is played. What a learner can
    compete with is the best fixed couple over a cut, in hindsight.

    Parameters
    ----------
    problem
        What the learner knows; S bounds every M_t.
    matrices
        :func:`switching`, :func:`drifting`, :func:`from_file`, or any function from rounds (counted
        from 1) to matrices.
    noise
        As for :class:`gbb.Environment`.
    """

    def __init__(self, problem: Problem, matrices: Matrices, *, noise: str = "none") -> None:
        if not isinstance(problem, Problem):
            raise checks.input_error("problem", "be a gbb.Problem", type(problem).__name__)
        self.problem = problem
        self.matrices = matrices
        self.noise = checks.choice("noise", noise, NOISES)
        shape = (1, problem.d, problem.d)
        checks.array("matrices", matrices(np.array([1])), shape=shape, meaning="d x d a round")

    def reward_tables(self, rounds: IntArray) -> FloatArray:
        """``x_a' M_t x_b`` for every one of the given rounds (rounds x K x K)."""
        arms = self.problem.arms
        tables: FloatArray = arms @ self.matrices(rounds) @ arms.T
        return tables

    def couple_rewards(self, cut: Cut, rounds: IntArray) -> FloatArray:
        """Expected global reward of every couple over ``cut`` in each round (rounds x K^2)."""
        check_cut(self.problem.graph, cut)
        R = self.reward_tables(rounds)
        return cut.couple_values(R.transpose(1, 2, 0)).reshape(-1, len(rounds)).T

    def __repr__(self) -> str:
        return f"AdversarialEnvironment({self.problem!r}, noise={self.noise!r})"
