"""One small problem of every kind: those of the paper, then those beyond it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gbb.contexts import EdgeTypes, Regimes, Vector
from gbb.environment import Environment
from gbb.graph import Graph
from gbb.problem import Problem

SIGMA = 0.5
"""The noise of all of them."""


def _make(graph: Graph, arms: ArrayLike, **settings: Any) -> Problem:
    return Problem(graph, arms, sigma=SIGMA, S=2.0, **settings)


def _papers_problems() -> dict[str, Problem]:
    rng = np.random.default_rng(11)
    triangle = Graph.from_edges([[1, 2], [2, 4], [1, 4]], n=6, undirected=True)
    repeated = [[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]]
    return {
        "general arms": _make(Graph.random(6, p=0.6, seed=2), rng.normal(size=(4, 3))),
        "one-hot arms with ties": _make(Graph.complete(4), np.eye(3)),
        "isolated agents": _make(triangle, rng.normal(size=(3, 2))),
        "one arm": _make(Graph.circle(5), [[0.5, -2.0]]),
        "one dimension": _make(Graph.path(4), [[1.0], [-2.0], [0.5]]),
        "duplicated arms and a zero one": _make(Graph.star(4), repeated),
        "two agents": _make(Graph.complete(2), rng.normal(size=(5, 2))),
    }


def _more_problems() -> dict[str, Problem]:
    rng = np.random.default_rng(12)
    graph, one_hot, general = Graph.grid(2, 3), np.eye(3), rng.normal(size=(4, 2))
    across = (graph.sources // 3 == graph.indices // 3).astype(np.int64)
    weights = np.where(np.arange(graph.m) % 3 == 0, -0.5, 1.5)
    weights[[1, 4]] = 0.0  # numbers that nothing adds to
    alike = np.abs(weights[graph.reverse] + weights)
    allowed = np.ones((graph.n, 3), dtype=np.bool_)
    allowed[0, 0] = allowed[1, :2] = allowed[5, 2] = False
    links = {"edge_weights": alike, "edge_types": across, "allowed": allowed}
    all_at_once = {"edge_types": "source", "edge_weights": weights, "allowed": allowed}
    return {
        "edge types": _make(graph, general, edge_types=across),
        "own matrices": _make(graph, one_hot, edge_types="source"),
        "weights, one negative and one zero": _make(graph, general, edge_weights=weights),
        "feedback per link": _make(graph, general, feedback="link"),
        "feedback per link, weights and allowed arms": _make(
            graph, one_hot, feedback="link", **links
        ),
        "feedback per agent": _make(graph, one_hot, feedback="agent"),
        "feedback per agent, general arms": _make(graph, general, feedback="agent"),
        "feedback in all": _make(graph, general, feedback="global"),
        "allowed arms": _make(graph, one_hot, allowed=allowed),
        "all at once": _make(graph, one_hot, feedback="agent", **all_at_once),
    }


PROBLEMS = {**_papers_problems(), **_more_problems()}
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
