"""Rounds in which every agent draws its arm from a design, and their record."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.environment import Environment
from gbb.learning.record import AnyRecord, Record
from gbb.policies._base import draw_arms
from gbb.problem import Problem
from gbb.simulation.engine.noise import Blocks
from gbb.simulation.engine.random_play import run_random

Play = Callable[[IntArray], ArrayLike]
"""Plays an allocation and returns what every directed edge paid, in edge order."""


def simulated(
    env: Environment,
    weights: FloatArray,
    rounds: int,
    noise_rng: np.random.Generator,
    rng: np.random.Generator,
) -> AnyRecord:
    """The record of so many random rounds, by the compiled loop."""
    last = np.array([rounds])
    trace = run_random(env, weights, rounds, recorded=last, blocks=Blocks(env, noise_rng), rng=rng)
    assert trace.record is not None
    return trace.record


def played(
    problem: Problem, play: Play, weights: FloatArray, rounds: int, rng: np.random.Generator
) -> Record:
    """The record of so many random rounds of a system outside."""
    record = Record.empty(problem.K)
    for _ in range(rounds):
        arms = checks.frozen(draw_arms(weights, problem.n, rng))
        rewards = problem.rewards(play(arms))
        record = record.merge(Record.of(problem.graph, arms, rewards, problem.K))
    return record
