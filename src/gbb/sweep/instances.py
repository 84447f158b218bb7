"""An instance of a sweep: graph, arms, matrix and policies from a cell and a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gbb import cuts, policies
from gbb.environment import Environment
from gbb.graph import FAMILIES, Graph
from gbb.instances import absolute_normal
from gbb.policies import AnyPolicy
from gbb.problem import Problem
from gbb.sweep.axes import Cell
from gbb.sweep.spec import Sweep

MATRIX, GRAPH, ARMS, RUNS = range(4)
"""What the children of a sweep's seed are for."""


def seed_of(sweep: Sweep, what: int, matrix: int) -> np.random.SeedSequence:
    """A child of the sweep's seed, the same in all cells."""
    return np.random.SeedSequence(sweep.seed, spawn_key=(what, matrix))


def make_graph(sweep: Sweep, cell: Cell, matrix: int) -> Graph:
    """The graph of an instance."""
    family = cell["graph"]
    if family not in FAMILIES:
        return Graph.read(family)
    options: dict[str, Any] = {}
    if family == "random":
        options["p"] = cell["p"]
    if family == "regular":
        options["degree"] = cell["degree"]
    if family in ("random", "regular"):
        options["seed"] = seed_of(sweep, GRAPH, matrix)
    return Graph.family(family, cell["n"], **options)


def make_environment(sweep: Sweep, cell: Cell, matrix: int) -> Environment:
    """The instance; the learner is told the norm of its matrix."""
    d, zeta = cell["d"], cell["zeta"]
    M = absolute_normal(
        d,
        seed=seed_of(sweep, MATRIX, matrix),
        frobenius=cell["frobenius"],
        distinct_couple=zeta is not None,
        zeta=zeta,
    )
    arms = np.eye(d)
    if cell["arms"] == "normal":
        rng = np.random.default_rng(seed_of(sweep, ARMS, matrix))
        arms = rng.standard_normal((cell["K"] or d, d))
        arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    S = float(np.linalg.norm(M))
    graph = make_graph(sweep, cell, matrix)
    return Environment(Problem(graph, arms, sigma=cell["sigma"], S=S), M, noise=cell["noise"])


def make_policies(sweep: Sweep, problem: Problem, names: Sequence[str]) -> list[AnyPolicy]:
    """The policies with these names on the problem of an instance, over the sweep's cut of it."""
    shared = {"cut": cuts.find(sweep.cut)(problem.graph), "horizon": sweep.rounds}
    made = []
    for spec in sweep.policies:
        if spec["name"] in names:
            known = policies.setting_names(spec["kind"])
            given = {key: value for key, value in shared.items() if key in known} | spec
            made.append(policies.build(given.pop("kind"), problem, **given))
    return made


def rehearse(sweep: Sweep) -> None:
    """Make the first instance and all policies on it: what is wrong with a setting is heard at once."""
    env = make_environment(sweep, sweep.cells[0], 0)
    make_policies(sweep, env.problem, sweep.names)
