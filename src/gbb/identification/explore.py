"""Where exploring rounds are played: a system of the caller's own, or the compiled loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gbb._support.checks import FloatArray, IntArray
from gbb.environment import Environment
from gbb.learning.record import AnyRecord
from gbb.problem import Problem
from gbb.simulation.engine.noise import Blocks
from gbb.simulation.engine.random_play import run_random
from gbb.simulation.engine.request import Request

Play = Callable[[IntArray], ArrayLike]
"""Plays an allocation and returns what every directed edge paid, in edge order; or every link."""


class Outside(NamedTuple):
    """A system of the caller's own: ``play`` is all that is known of it."""

    problem: Problem
    play: Play

    def expected(self, t: int, allocation: ArrayLike) -> float:  # noqa: ARG002
        """Nobody knows."""
        return float("nan")

    def draw(self, t: int, allocation: ArrayLike, rng: np.random.Generator) -> FloatArray:  # noqa: ARG002
        """What ``play`` returns for the allocation."""
        return self.problem.rewards(self.play(self.problem.allocation(allocation)))


def simulate_rounds(
    env: Environment,
    weights: FloatArray,
    rounds: int,
    noise_rng: np.random.Generator,
    rng: np.random.Generator,
) -> AnyRecord:
    """The record of so many random rounds, by the compiled loop."""
    last = np.array([rounds])
    trace = run_random(env, weights, Request(rounds, last, Blocks(env, noise_rng), rng))
    assert trace.record is not None
    return trace.record
