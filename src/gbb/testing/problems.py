"""One small problem of every kind: those of the paper, then those beyond it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gbb.contexts import EdgeTypes, Regimes, Vector
from gbb.environment import Environment
from gbb.graph import Graph
from gbb.problem import Problem

SIGMA = 0.5
"""The noise of all of them."""


def _problems() -> Iterator[tuple[str, Problem]]:
    rng = np.random.default_rng(11)
    triangle = Graph.from_edges([[1, 2], [2, 4], [1, 4]], n=6, undirected=True)
    repeated = [[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]]
    plain: dict[str, tuple[Graph, Any]] = {
        "general arms": (Graph.random(6, p=0.6, seed=2), rng.normal(size=(4, 3))),
        "one-hot arms with ties": (Graph.complete(4), np.eye(3)),
        "isolated agents": (triangle, rng.normal(size=(3, 2))),
        "one arm": (Graph.circle(5), [[0.5, -2.0]]),
        "one dimension": (Graph.path(4), [[1.0], [-2.0], [0.5]]),
        "duplicated arms and a zero one": (Graph.star(4), repeated),
        "two agents": (Graph.complete(2), rng.normal(size=(5, 2))),
    }
    for name, (graph, arms) in plain.items():
        yield name, Problem(graph, arms, sigma=SIGMA, S=2.0)

    rng = np.random.default_rng(12)
    graph, one_hot, general = Graph.grid(2, 3), np.eye(3), rng.normal(size=(4, 2))
    across = (graph.sources // 3 == graph.indices // 3).astype(np.int64)
    weights = np.where(np.arange(graph.m) % 3 == 0, -0.5, 1.5)
    weights[[1, 4]] = 0.0
    alike = np.abs(weights[graph.reverse] + weights)
    allowed = np.ones((graph.n, 3), dtype=np.bool_)
    allowed[0, 0] = allowed[1, :2] = allowed[5, 2] = False
    by_source = {"edge_types": "source"}
    beyond: dict[str, tuple[Any, dict[str, Any]]] = {
        "edge types": (general, {"edge_types": across}),
        "own matrices": (one_hot, by_source),
        "weights, one negative and one zero": (general, {"edge_weights": weights}),
        "feedback per link": (general, {"feedback": "link"}),
        "feedback per link, weights and allowed arms": (
            one_hot,
            {"feedback": "link", "edge_weights": alike, "edge_types": across, "allowed": allowed},
        ),
        "feedback per agent": (one_hot, {"feedback": "agent"}),
        "feedback per agent, general arms": (general, {"feedback": "agent"}),
        "feedback in all": (general, {"feedback": "global"}),
        "allowed arms": (one_hot, {"allowed": allowed}),
        "all at once": (
            one_hot,
            {**by_source, "edge_weights": weights, "feedback": "agent", "allowed": allowed},
        ),
    }
    for name, (arms, settings) in beyond.items():
        yield name, Problem(graph, arms, sigma=SIGMA, S=2.0, **settings)


PROBLEMS = dict(_problems())
"""A problem of every kind by what it is."""


def constant_twins(problem: Problem) -> Iterator[tuple[Problem, Any]]:
    """The same problem said by contexts, each with the context that makes it so in every round."""
    yield problem.replace(contexts=Regimes(1)), 0
    yield problem.replace(contexts=Vector(1)), [1.0]
    kinds = EdgeTypes(problem.types, symmetric=problem.links_alike)
    yield problem.replace(edge_types=None, contexts=kinds), problem.edge_types


def environment(problem: Problem) -> Environment:
    """An environment of ``problem`` with normal matrices of norm S at most, always the same."""
    d = problem.d
    shape = (d, d) if problem.types == 1 else (problem.types, d, d)
    M = np.random.default_rng(5).normal(size=shape)
    norm = float(np.linalg.norm(M, axis=(-2, -1)).max())
    return Environment(problem, M * min(1.0, problem.S / norm))
