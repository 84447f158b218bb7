"""``warm_up``: compile ahead what policies play, so that no later call waits for it."""

from __future__ import annotations

import dataclasses
import time

import numpy as np

from gbb._support import checks
from gbb.environment import Environment
from gbb.graph import Graph
from gbb.instances import absolute_normal
from gbb.policies import AnyPolicy, PolicyLike, make_policies
from gbb.problem import Problem
from gbb.simulation.reference import play
from gbb.simulation.simulate import simulate

PAPER = ("ExploreThenCommit", "OFUL", "ImprovedOFUL")
ROUNDS = 20
RUNS = (1, 4)
"""A single run and a batch of runs are played by loops of their own."""


def warm_up(policies: PolicyLike = PAPER, *, arms: str = "both") -> dict[str, float]:
    """Compile the loops of these policies and return the seconds each took.

    Plays a few rounds of the paper's problem, in the engine and in the reference loop, whose choices
    are a controller's, with sigma and S known and estimated. What is compiled stays on disk.

    Parameters
    ----------
    policies
        As for :func:`gbb.simulate`; the paper's when left out.
    arms
        ``one-hot``, ``general`` (more arms than dimensions) or ``both``.

    Returns
    -------
    dict
        Seconds by policy and arms.
    """
    kinds = ("one-hot", "general")
    checks.choice("arms", arms, (*kinds, "both"))
    seconds = {}
    for kind in kinds if arms == "both" else (arms,):
        drawn = np.eye(5) if kind == "one-hot" else np.random.default_rng(0).normal(size=(8, 3))
        problem = Problem(Graph.complete(5), drawn, S=4.0)
        for policy in make_policies(policies, problem, ROUNDS):
            start = time.perf_counter()
            _play_all(policy)
            seconds[f"{policy.name}, {kind} arms"] = time.perf_counter() - start
    return seconds


def _play_all(policy: AnyPolicy) -> None:
    """Play a policy in every way that is compiled apart."""
    problem = policy.problem
    env = Environment(problem, absolute_normal(problem.d, seed=0, frobenius=4.0))
    for runs in RUNS:
        simulate(env, policy, rounds=ROUNDS, runs=runs)
    if policy.estimates_scales:  # as a controller does that knows neither
        unknown = Problem(problem.graph, problem.arms, sigma=None, S=None)
        for each in (policy, dataclasses.replace(policy, problem=unknown)):
            for _ in play(env, each, 3):
                pass
