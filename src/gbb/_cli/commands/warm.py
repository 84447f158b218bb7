"""``gbb warm``: compile ahead what is usually played, so that no later command waits for it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from gbb import policies
from gbb._cli.given.policies import policies_option, read_own_policies
from gbb.controller import Controller
from gbb.cuts import best
from gbb.environment import Environment
from gbb.graph import Graph
from gbb.instances import absolute_normal
from gbb.problem import Problem
from gbb.simulation import simulate

USUAL = ("OFUL", "ImprovedOFUL", "ExploreThenCommit", "ThompsonSampling", "JointOFUL")
ROUNDS = 20
ABREAST = 4
"""So many runs are played side by side, by loops of their own."""


def warm(
    policy: Annotated[list[str] | None, policies_option(USUAL)] = None,
) -> None:
    """Compile ahead what is usually played.

    Plays a few rounds of each policy, simulated and controlled, with one-hot arms
    and with arms in few dimensions, where sigma and S are known and
    where not. What is compiled stays on disk until the version changes.
    """
    dense = np.random.default_rng(0).normal(size=(8, 3))  # more arms than dimensions
    for spec in read_own_policies(policy or USUAL, {}):
        for kind, arms in (("one-hot arms", np.eye(5)), ("dense arms", dense)):
            problem = Problem(Graph.complete(5), arms, S=4.0)
            built = spec.build(problem, cut=best(problem.graph), horizon=ROUNDS)
            with _report_time(f"{spec.label}, simulated, {kind}"):
                env = Environment(problem, absolute_normal(problem.d, seed=0, frobenius=4.0))
                for runs in (1, ABREAST):
                    simulate(env, built, rounds=ROUNDS, runs=runs)
            if built.controllable:
                with _report_time(f"{spec.label}, controlled, {kind}"):
                    _control(built)
                    if built.estimates_scales:  # as a controller does that is told neither
                        unknown = Problem(problem.graph, arms, sigma=None, S=None)
                        _control(spec.build(unknown, cut=best(problem.graph), horizon=ROUNDS))


def _control(policy: policies.AnyPolicy) -> None:
    """A round of a controller that is thrown away."""
    problem = policy.problem
    with tempfile.TemporaryDirectory() as folder:
        url = Path(folder) / "warm.db"
        with Controller.create(url, problem, policy) as controller:
            for _ in range(2):
                controller.tell(controller.ask().id, np.arange(problem.graph.m) / problem.graph.m)
            controller.recommend(seconds=0.1)
            controller.estimate()
            controller.diagnose()


@contextmanager
def _report_time(what: str) -> Iterator[None]:
    """Print ``what`` and the seconds it took."""
    start = time.perf_counter()
    yield
    typer.echo(f"{what}: {time.perf_counter() - start:.1f} s")
