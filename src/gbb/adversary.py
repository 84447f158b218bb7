"""Environments whose matrix changes from round to round, fixed before the first one (oblivious)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.cuts import Cut, check_cut
from gbb.environment import Noise, TableSystem, check_matrices, reward_tables
from gbb.learning.tuples import Tuples
from gbb.problem import Problem

Matrices = Callable[[IntArray], FloatArray]
"""``matrices(rounds)``: the matrix of each of the given rounds, counted from 1 (rounds x d x d), or
those of each edge type (rounds x types x d x d)."""

REMEMBERED = 32
"""Rounds whose tables an environment keeps: those that runs side by side are playing."""


def switching(matrices: ArrayLike, *, period: int = 1) -> Matrices:
    """Plays the given matrices (c x d x d) in turn, each for ``period`` rounds, over and over.

    With M and -M in turn, whoever follows the average so far is always one round late: the leader of
    every second round loses all it seemed to gain. With edge types they are c x types x d x d.
    """
    stack = _check_stack("matrices", matrices, "several d x d matrices")
    if len(stack) == 0:
        raise checks.input_error("matrices", "hold at least one matrix", "none")
    period = checks.integer("period", period, low=1)
    return partial(_in_turn, stack, period)


def _in_turn(stack: FloatArray, period: int, rounds: IntArray) -> FloatArray:
    return stack[(rounds - 1) // period % len(stack)]


def drifting(first: ArrayLike, second: ArrayLike, *, period: float) -> Matrices:
    """Turns slowly: ``M_t = cos(2 pi t / period) first + sin(2 pi t / period) second``.

    Both are d x d, or types x d x d.
    """
    one = checks.array("first", first)
    if one.ndim not in (2, 3):
        raise checks.input_error("first", "be d x d or types x d x d", f"shape {one.shape}")
    two = checks.array("second", second, shape=one.shape, meaning="as `first`")
    period = checks.real("period", period, low=0.0, low_open=True)
    return partial(_turn, one, two, period)


def _turn(one: FloatArray, two: FloatArray, period: float, rounds: IntArray) -> FloatArray:
    angle = (2.0 * np.pi / period * rounds).reshape(-1, *[1] * one.ndim)
    turned: FloatArray = np.cos(angle) * one + np.sin(angle) * two
    return turned


def from_file(path: str | Path) -> Matrices:
    """The matrices of a file, one a round: ``.npy`` (T x d x d) or ``.csv`` (a row of d^2 a round).

    With edge types, ``.npy`` with T x types x d x d numbers.
    """
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
    return partial(_one_by_one, _check_stack("path", loaded, "a d x d matrix a round"))


def _one_by_one(stack: FloatArray, rounds: IntArray) -> FloatArray:
    if rounds.size and rounds[-1] > len(stack):
        raise checks.input_error("rounds", f"be at most {len(stack)}, the file's", int(rounds[-1]))
    return stack[rounds - 1]


def _check_stack(name: str, matrices: ArrayLike, meaning: str) -> FloatArray:
    """Matrices in a row: d x d each, or types x d x d."""
    stack = checks.array(name, matrices)
    return stack if stack.ndim == 4 else checks.array(name, stack, ndim=3, meaning=meaning)


class AdversarialEnvironment(TableSystem):
    """A problem whose edges pay ``x_i' M_t x_j + sigma * noise`` with a matrix of the round.

    The adversary is oblivious: the matrices do not depend on what is played. What a learner can
    compete with is the best fixed couple over a cut, in hindsight. Edge types, weights and feedback
    of the problem count as in :class:`gbb.Environment`.

    Parameters
    ----------
    problem
        What the learner knows; S bounds every M_t.
    matrices
        :func:`switching`, :func:`drifting`, :func:`from_file`, or any function from rounds (counted
        from 1) to matrices: rounds x d x d, or rounds x types x d x d.
    noise
        As for :class:`gbb.Environment`.
    """

    def __init__(
        self, problem: Problem, matrices: Matrices, *, noise: str | Noise = "gaussian"
    ) -> None:
        super().__init__(problem, noise)
        if problem.contexts is not None:
            cure = "Matrices that change by rule are gbb.contexts; an adversary's are not known before."
            raise checks.input_error("problem", "have no contexts", repr(problem.contexts), cure)
        self.matrices = matrices
        check_matrices("matrices", problem, matrices(np.array([1])), rounds=(1,))

    @cached_property
    def _remembered(self) -> Callable[[int], FloatArray]:
        return lru_cache(REMEMBERED)(lambda t: self.reward_tables(np.array([t]))[0])

    def reward_tables(self, rounds: IntArray) -> FloatArray:
        """``x_a' M_t x_b`` by round and edge type (rounds x types x K x K)."""
        problem = self.problem
        tables = reward_tables("matrices", problem, self.matrices(rounds))
        return tables.reshape(len(rounds), problem.types, problem.K, problem.K)

    def tables_at(self, t: int) -> FloatArray:
        """The tables of round ``t`` (types x K x K)."""
        tables: FloatArray = self._remembered(int(t))
        return tables

    def couple_rewards(self, cut: Cut, rounds: IntArray) -> FloatArray:
        """Expected global reward of every couple over ``cut`` in each round (rounds x K^2).

        An agent that may not play its part's arm plays the first one it may, as policies over a cut do.
        """
        sides = check_cut(self.problem.graph, cut).sides.astype(np.int64)
        couples = Tuples(self.problem, sides, 2, self.problem.edge_weights)
        return couples.combine(np.moveaxis(self.reward_tables(rounds), 0, -1)).T
