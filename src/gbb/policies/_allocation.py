"""Policies over whole allocations: a tuple of arms over the parts, then local search.

An allocation policy is a handful of numbers: how optimistic it is (the radius), how much it draws at
random (``v``, ``explore``), over which parts it starts and whether it improves what it starts from.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from gbb._kernels.choice.joint import Rule, choose
from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.cuts import Cut, KCut, check_cut
from gbb.learning.estimator import Record, symmetric_edge_arms
from gbb.learning.radius import SCHEDULES, check_radius
from gbb.learning.typed import empty
from gbb.policies._base import Choice, Learned, Policy, observe
from gbb.policies._general import Chooser
from gbb.problem import Problem

STARTS = 5
"""Tuples that local search starts from. One gets stuck on an eighth of the matrices of the paper's
Figure 2, where three reach the optimum on all of sixty."""

TUPLES = 2_000_000
"""The largest number of tuples of arms over the parts that is enumerated each round."""


class AllocationPolicy(Policy[Learned]):
    """Plays the allocation with the best index that a local search from a tuple over parts finds.

    For an allocation whose directed edges sum to ``C = sum z`` the index is

        ``<C, theta> + radius ||C||_{A^-1}``,  theta = theta_hat, or a draw from N(theta_hat, v^2 A^-1).

    C is a symmetric matrix, so the symmetric block of dimension d (d + 1) / 2 decides (fact 2). The
    k-tuple of arms over the parts with the best index is found by enumeration. Agents in turn then take
    the arm that is best for the index until none gains, from that tuple and from the next best with
    other sets of arms; the best end is played, and its index is never below the best tuple's.

    Parameters
    ----------
    problem
        What the learner knows.
    cut
        The parts that the tuple of arms is played over: two, or k.
    lam
        The ridge regulariser lambda, > 0.
    delta
        The confidence set misses theta* with probability at most delta.
    radius
        One of :data:`gbb.learning.radius.RADII`, or None for no optimism.
    v
        Scale of the draw around ``theta_hat``; 0 for none.
    explore
        Probability of a round in which every agent draws its arm uniformly.
    starts
        From how many tuples to search; 0 to play the best tuple as it is.
    shrinking
        Charge the symmetric radius only ``lam S / sqrt(smallest eigenvalue of A_sym)`` for the
        regulariser's bias instead of ``sqrt(lam) S``.
    name
        How results call this policy.

    Notes
    -----
    With edge types, weights or rewards in sums, C has a part for each type's matrix, and all of it
    counts unless both directions of every link are alike. Forbidden arms are never played.
    """

    plays_any_problem: ClassVar[bool] = True

    def __init__(
        self,
        problem: Problem,
        *,
        cut: Cut | KCut,
        lam: float = 1.0,
        delta: float = 1e-3,
        radius: str | None = None,
        v: float = 0.0,
        explore: float = 0.0,
        starts: int = STARTS,
        shrinking: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(problem, name=name)
        self.parts = as_parts(problem, cut)
        if isinstance(cut, Cut):
            self.cut = cut
        elif self.parts.k == 2:  # its own two parts in its own order, as couples say them
            self.cut = Cut.of(problem.graph, self.parts.parts)
        else:
            self.cut = self.parts.merged
        self.lam = checks.real("lam", lam, low=0.0, low_open=True)
        self.delta = checks.real("delta", delta, low=0.0, low_open=True, high=1.0)
        self.radius = None if radius is None else check_radius(problem, radius)
        self.v = checks.real("v", v, low=0.0)
        self.explore = checks.real("explore", explore, low=0.0, high=1.0)
        self.shrinking = shrinking
        self.starts = checks.integer("starts", starts, low=0)

    @cached_property
    def rule(self) -> Rule:
        """The policy as the compiled choice takes it."""
        problem, K = self.problem, self.problem.K
        i, j = np.triu_indices(K)
        pair = np.zeros((K, K), dtype=np.int64)
        pair[i, j] = pair[j, i] = np.arange(len(i))
        features = np.ascontiguousarray(symmetric_edge_arms(problem.arms)[i * K + j])
        return Rule(
            indptr=np.array(problem.graph.indptr),  # writable: one type, compiled once
            indices=np.array(problem.graph.indices, dtype=np.int64),
            parts=np.array(self.parts.parts),
            counts=np.array(self.parts.counts),
            features=features,
            norm2=np.sum(features**2, axis=1),
            orthogonal=problem.orthogonal,
            pair=pair,
            lam=self.lam,
            adaptive=self.radius == "symmetric",
            sigma=problem.sigma,
            spread=float(2.0 * np.log(1.0 / self.delta)),
            offset=float(np.sqrt(self.lam) * problem.S),
            shrinking=self.shrinking,
            v=self.v,
            explore=self.explore,
            starts=self.starts,
        )

    def radii(self, rounds: FloatArray) -> FloatArray:
        """The radius after each number of rounds; 0 where there is none or the record decides."""
        if self.radius in SCHEDULES:
            return SCHEDULES[self.radius](self.problem, rounds, self.lam, self.delta)
        return np.zeros_like(rounds)

    def init(self) -> Learned:
        return Learned(0, empty(self.problem))

    @cached_property
    def chooser(self) -> Chooser:
        """How allocations are compared on a problem that is not the paper's."""
        return Chooser(
            problem=self.problem,
            parts=self.parts.parts.astype(np.int64),
            k=self.parts.k,
            weights=self.problem.edge_weights,
            lam=self.lam,
            delta=self.delta,
            radius=self.radius,
            shrinking=self.shrinking,
        )

    @property
    def compiled(self) -> bool:
        """Whether the compiled choice of the paper's problem serves; any other takes ``chooser``."""
        return self.problem.is_paper_problem and self.radius != "complete"

    def select(self, state: Learned, rng: np.random.Generator) -> Choice:
        if self.compiled and isinstance(state.record, Record):
            return self.decide(state.record.N, state.record.Y, state.rounds, rng)
        if self.explore > 0.0 and rng.random() < self.explore:
            return Choice(self.chooser.random(rng))
        return self.chooser.choose(
            state.record,
            state.rounds,
            rng,
            v=self.v,
            starts=self.starts,
            restarts=0 if self.problem.is_paper_problem else self.starts,
        )

    def decide(
        self, N: IntArray | FloatArray, Y: FloatArray, rounds: float, rng: np.random.Generator
    ) -> Choice:
        """The next allocation for the tables N and Y, whose counts need not be whole numbers."""
        given = float(self.radii(np.array([float(rounds)]))[0])
        arms = np.empty(self.problem.n, dtype=np.int64)
        number, value = choose(self.rule, N.astype(np.float64), Y, given, rng, arms)
        couple = divmod(number, self.problem.K) if number >= 0 and self.parts.k == 2 else None
        return Choice(arms, couple, value)

    def update(self, state: Learned, choice: Choice, rewards: FloatArray) -> Learned:
        return observe(self.problem, state, choice, rewards)


def as_parts(problem: Problem, cut: Cut | KCut) -> KCut:
    """``cut`` as parts, if it is a cut of the problem's graph and its tuples of arms can be listed."""
    graph = problem.graph
    parts = cut if isinstance(cut, KCut) else KCut.of(graph, check_cut(graph, cut).sides, 2)
    if parts.graph is not graph and parts.graph != graph:
        raise checks.input_error("cut", f"cut the problem's graph ({graph!r})", repr(parts.graph))
    if problem.K**parts.k > TUPLES:
        rule = f"have at most {TUPLES:,} tuples of arms, K^k"
        raise checks.input_error("k", rule, f"{problem.K}^{parts.k}", "Take fewer parts.")
    return parts
