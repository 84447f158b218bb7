"""Who learns, and what they know: the wind, nothing of it, FLORIS itself, or a promise to keep."""

from __future__ import annotations

from typing import Any

import numpy as np

from gbb import cuts, policies
from gbb._support.checks import FloatArray
from gbb.applications.wind.farm import SPEED, Farm
from gbb.applications.wind.problem import YAWS, ZERO
from gbb.applications.wind.rose.plan import Tables
from gbb.applications.wind.rose.result import BLIND, FITTED, SAFE
from gbb.applications.wind.rose.series import Series
from gbb.applications.wind.rose.wakes import Wakes
from gbb.learning.record import AnyRecord, empty, observe
from gbb.problem import Problem

LAM, SCALE = 0.1, 0.03
"""Ridge regulariser of all learners, and scale of the posterior that Thompson sampling draws from."""

EPS = 0.02
"""Share of zero yaw's energy that the conservative learner may lose, in sum and at any time."""

WINDS = 2000
"""Winds of the rose over which a learner that is blind to them has the mean of all features."""


def make_learner(
    name: str, problem: Problem, blind: Problem, tables: Tables
) -> policies.RecordPolicy[Any]:
    """The learner of this name; every series has one of its own, which keeps its last estimate."""
    known = blind if name == BLIND else problem
    cut = cuts.best(known.graph)
    if name == FITTED:
        return policies.EpsilonGreedy(known, cut=cut, lam=LAM, epsilon=0.0, name=name)
    thompson = policies.ThompsonSampling(known, cut=cut, lam=LAM, v=SCALE, name=name)
    if name != SAFE:
        return thompson
    return policies.Conservative(
        known,
        policy=thompson,
        baseline=np.full(known.n, ZERO),
        eps=EPS,
        baseline_reward=tables.zero_yaw(wakes_of(known)),
        floor=0.0,  # a turbine's power
        lam=LAM,
        name=name,
    )


def wakes_of(problem: Problem) -> Wakes:
    """The contexts of the farm."""
    assert isinstance(problem.contexts, Wakes)
    return problem.contexts


def mean_features(problem: Problem) -> FloatArray:
    """The features of all edges (m x P), averaged over the rose: all that is known without the wind.

    They say by what edges pay on average, whatever the angles.
    """
    winds = Series.draw(WINDS, np.random.default_rng(0), memory=0.0)
    total = np.zeros((problem.m, problem.types))
    for context in zip(winds.measured, winds.speeds, strict=True):
        entries = problem.at(context).edges
        total[entries.edge, entries.type] += entries.weight
    return total / WINDS


def fit(farm: Farm, problem: Problem, rounds: int, seed: int = 0) -> AnyRecord:
    """A record of FLORIS itself: angles at random, steady winds from all directions."""
    rng = np.random.default_rng(seed)
    directions = rng.uniform(0.0, 360.0, rounds)
    arms = np.column_stack([rng.integers(len(YAWS), size=(rounds, farm.n)), np.full(rounds, ZERO)])
    shares = farm.powers(YAWS[arms[:, :-1]], directions) / farm.free
    told = np.column_stack([shares * wakes_of(problem).share(SPEED), np.zeros(rounds)])
    record = empty(problem)
    for direction, each, paid in zip(directions, arms, told, strict=True):
        record = record.merge(observe(problem.at((direction, SPEED)), each, paid))
    return record


def best_angles(problem: Problem, record: AnyRecord, tables: Tables) -> FloatArray:
    """The angles (directions x n) that are best by a record, for each direction of the table."""
    rng = np.random.default_rng(0)
    greedy = make_learner(FITTED, problem, problem, tables)
    state = greedy.absorb(greedy.init(), None, record)
    chosen = [
        greedy.at((direction, SPEED)).select(state, rng).allocation[:-1]
        for direction in tables.directions
    ]
    angles: FloatArray = YAWS[np.array(chosen)]
    return angles
