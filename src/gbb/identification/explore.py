"""Rounds in which every agent draws its arm from a design, and their record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from gbb._support.checks import FloatArray, IntArray
from gbb.environment import Environment
from gbb.learning.estimator import Record
from gbb.policies import Choice, Policy
from gbb.policies._base import draw_arms
from gbb.problem import Problem
from gbb.simulation import Round
from gbb.simulation._noise import Blocks
from gbb.simulation._random_play import run_random

Play = Callable[[IntArray], ArrayLike]
"""Plays an allocation and returns what every directed edge paid, in edge order."""


class Outside:
    """A system of the caller's own: ``play`` is all that is known of it."""

    def __init__(self, problem: Problem, play: Play) -> None:
        self.problem, self.play = problem, play

    def expected(self, t: int, allocation: ArrayLike) -> float:  # noqa: ARG002
        """Nobody knows."""
        return float("nan")

    def draw(self, t: int, allocation: ArrayLike, rng: np.random.Generator) -> FloatArray:  # noqa: ARG002
        """What ``play`` returns for the allocation."""
        return self.problem.rewards(self.play(self.problem.allocation(allocation)))


class Exploration(Policy[Record]):
    """Draws every agent's arm from ``weights``, whatever was seen."""

    controllable: ClassVar[bool] = False

    def __init__(self, problem: Problem, weights: FloatArray) -> None:
        super().__init__(problem)
        self.weights = weights

    def init(self) -> Record:
        """Nothing was seen yet."""
        return Record.empty(self.problem.K)

    def select(self, state: Record, rng: np.random.Generator) -> Choice:  # noqa: ARG002
        """Every agent's arm, drawn independently."""
        return Choice(draw_arms(self.weights, self.problem.n, rng))

    def update(self, state: Record, choice: Choice, rewards: FloatArray) -> Record:
        """The record with one more round."""
        seen = Record.of(self.problem.graph, choice.allocation, rewards, self.problem.K)
        return state.merge(seen)


def continue_play(playing: Iterator[Round], rounds: int) -> Record:
    """The record of an :class:`Exploration` after so many more rounds."""
    *_, last = islice(playing, rounds)
    record: Record = last.state
    return record


def simulate_rounds(
    env: Environment,
    weights: FloatArray,
    rounds: int,
    noise_rng: np.random.Generator,
    rng: np.random.Generator,
) -> Record:
    """The record of so many random rounds, by the compiled loop."""
    last = np.array([rounds])
    trace = run_random(env, weights, rounds, recorded=last, blocks=Blocks(env, noise_rng), rng=rng)
    assert trace.record is not None
    return trace.record
