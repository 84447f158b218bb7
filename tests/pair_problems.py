"""Random small pair problems and their optimum, in plain numpy."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

import gbb
from graphs import small_graphs


class Case(NamedTuple):
    """A problem, its matrices, and the options that say who may play which arm."""

    problem: gbb.Problem
    M: np.ndarray
    options: dict[str, Any]

    def value(self, allocation: np.ndarray) -> float:
        """Sum over directed edges of ``x_i' M_t x_j``, edge by edge."""
        X, types = self.problem.arms, self.problem.edge_types
        total = 0.0
        for k, (i, j) in enumerate(self.problem.graph.edges):
            matrix = self.M if self.M.ndim == 2 else self.M[types[k]]
            total += X[allocation[i]] @ matrix @ X[allocation[j]]
        return float(total)

    def best(self) -> float:
        """The largest value of all allowed allocations."""
        n, K = self.problem.n, self.problem.K
        allowed = self.options.get("allowed", np.ones((n, K), dtype=bool))
        choices = [np.flatnonzero(row) for row in allowed]
        return max(self.value(np.array(arms)) for arms in itertools.product(*choices))

    def respects(self, allocation: np.ndarray) -> bool:
        """Whether every agent plays an arm that it may play."""
        allowed = self.options.get("allowed")
        return allowed is None or bool(allowed[np.arange(self.problem.n), allocation].all())

    @property
    def tolerance(self) -> float:
        """The size of rounding errors."""
        return 1e-9 * (1.0 + self.problem.m * float(np.abs(self.M).max()))


@st.composite
def cases(
    draw: st.DrawFn, *, kinds: str = "plain types both allowed oriented", high: int = 5
) -> Case:
    """One table for all edges, or edge types (of edges or of directions), or forbidden arms."""
    kind = draw(st.sampled_from(kinds.split()))
    graph = draw(small_graphs(high=high))
    K = draw(st.integers(2, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    arms = np.eye(K) if draw(st.booleans()) else rng.normal(size=(K, 2))
    types = None
    if kind not in ("plain", "allowed"):
        types = rng.integers(3, size=graph.m)
        types = types if kind == "oriented" else np.minimum(types, types[graph.reverse])
    problem = gbb.Problem(graph, arms, edge_types=types)
    shape = (problem.d, problem.d) if types is None else (problem.types, problem.d, problem.d)
    M = rng.normal(size=shape) if draw(st.booleans()) else rng.integers(-2, 3, shape) / 2.0
    options: dict[str, Any] = {}
    if kind in ("allowed", "both"):
        allowed = rng.random((graph.n, K)) < 0.6
        allowed[np.arange(graph.n), rng.integers(K, size=graph.n)] = True
        options["allowed"] = allowed
    return Case(problem, M, options)
