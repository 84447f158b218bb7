"""Choices over parts for any problem: edge types, weights, sums of edges, forbidden arms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gbb._kernels.choice.typed import Layout, choose_typed, typed_values
from gbb._support.checks import FloatArray, IntArray
from gbb.learning.radius import typed as typed_radius
from gbb.learning.typed import AnyRecord, TypedRidge
from gbb.policies._base import Choice, draw_allowed
from gbb.problem import Problem


@dataclass(frozen=True, eq=False)
class Chooser:
    """What a policy needs beside its record to choose on a problem that need not be the paper's.

    Attributes
    ----------
    problem
        What the learner knows.
    parts, k
        The part of every agent, and how many parts there are.
    weights
        What each directed edge counts in the objective: its own weight, or that times a factor.
    lam, delta, radius, shrinking
        The policy's settings; ``radius`` None for no optimism.
    """

    problem: Problem
    parts: IntArray
    k: int
    weights: FloatArray
    lam: float
    delta: float
    radius: str | None
    shrinking: bool = False

    @cached_property
    def layout(self) -> Layout:
        """The problem as the compiled choice takes it."""
        problem, graph = self.problem, self.problem.graph
        arms = np.arange(problem.K)
        first = problem.allowed.argmax(axis=1)[:, None]
        instead = np.where(problem.allowed, arms, first).astype(np.int64)
        rows, alike = np.unique(np.column_stack([self.parts, instead]), axis=0, return_inverse=True)
        like: IntArray = alike.ravel()
        kinds = np.stack([problem.edge_types, like[graph.sources], like[graph.indices]])
        kind, which = np.unique(kinds, axis=1, return_inverse=True)
        sums = np.bincount(which.ravel(), weights=self.weights, minlength=kind.shape[1])
        paying = sums != 0.0
        return Layout(
            indptr=np.array(graph.indptr, dtype=np.int64),
            indices=np.array(graph.indices, dtype=np.int64),
            reverse=np.array(graph.reverse, dtype=np.int64),
            types=np.array(problem.edge_types),
            weights=np.array(self.weights),
            parts=np.array(self.parts, dtype=np.int64),
            allowed=np.array(problem.allowed),
            instead=instead,
            like_part=np.ascontiguousarray(rows[:, 0]),
            like_instead=np.ascontiguousarray(rows[:, 1:]),
            kind_type=np.ascontiguousarray(kind[0, paying]),
            kind_first=np.ascontiguousarray(kind[1, paying]),
            kind_second=np.ascontiguousarray(kind[2, paying]),
            kind_weight=sums[paying],
        )

    def estimate(self, record: AnyRecord, rounds: float) -> tuple[TypedRidge, float]:
        """The estimate from ``record``, on symmetric parts where they decide, and its radius."""
        halves = self.problem.symmetric and self.radius != "complete"
        ridge = TypedRidge(self.problem, record, self.lam, symmetric=halves)
        if self.radius is None:
            return ridge, 0.0
        width = typed_radius(self.radius, ridge, rounds, self.delta, shrinking=self.shrinking)
        return ridge, width

    def values(self, record: AnyRecord, rounds: float) -> FloatArray:
        """The optimistic value of every tuple of arms over the parts (K^k)."""
        ridge, radius = self.estimate(record, rounds)
        values: FloatArray = typed_values(self.layout, ridge.table, ridge.centre, radius, self.k)
        return values

    def place(self, arms: tuple[int, ...]) -> IntArray:
        """Every agent plays its part's arm, or its first allowed one where it may not."""
        wanted = np.array(arms)[self.layout.parts]
        placed: IntArray = self.layout.instead[np.arange(wanted.size), wanted]
        return placed

    def choose(
        self,
        record: AnyRecord,
        rounds: float,
        rng: np.random.Generator,
        *,
        v: float = 0.0,
        starts: int,
        restarts: int = 0,
    ) -> Choice:
        """The allocation with the best index that searches find.

        They start from ``starts`` tuples over the parts and from ``restarts`` random allocations: where
        links differ, couples need not be near the best allocation.
        """
        ridge, radius = self.estimate(record, rounds)
        centre = ridge.centre
        if v > 0.0:
            centre = centre + v * rng.standard_normal(centre.shape)
        table = ridge.table
        if radius == 0.0:  # only the drawn means count: vectors of one number
            own = centre[:, None, None, :] if len(centre) > 1 else centre[0]
            table = (table * own).sum(axis=-1, keepdims=True)
            centre = np.ones((len(centre), 1))
        arms = np.empty(self.problem.n, dtype=np.int64)
        number, value = choose_typed(
            self.layout, table, centre, radius, self.k, starts, restarts, rng, arms
        )
        couple = divmod(number, self.problem.K) if number >= 0 and self.k == 2 else None
        return Choice(arms, couple, value)

    def random(self, rng: np.random.Generator) -> IntArray:
        """Every agent draws one of its arms uniformly."""
        return draw_allowed(self.problem.allowed, rng)
