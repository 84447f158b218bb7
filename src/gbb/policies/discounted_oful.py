"""Optimism with a memory that fades, for matrices that drift."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.cuts import Cut, KCut
from gbb.learning.estimator import Record
from gbb.policies._base import Choice, Policy
from gbb.policies.joint_oful import JointOFUL
from gbb.problem import Problem


class Faded(NamedTuple):
    """State: rounds seen, and the tables N and Y with every round's part multiplied by its age."""

    rounds: int
    N: FloatArray
    Y: FloatArray


class DiscountedOFUL(Policy[Faded]):
    """:class:`~gbb.policies.JointOFUL` on tables that fade.

    Each round ``N <- gamma N + N_t`` and ``Y <- gamma Y + Y_t``. A round of age s weighs ``gamma^s``,
    about ``1 / (1 - gamma)`` rounds in all. The width keeps ``A^-1``, which is larger than the faded
    estimate's own ``A^-1 A_2 A^-1`` with weights ``gamma^(2 s)``: wider than need be, never narrower.

    Parameters
    ----------
    problem
        What the learner knows.
    cut
        The parts V1 and V2, or k parts to start from the best k-tuple of arms over them.
    gamma
        What a round keeps of its weight each round, in (0, 1].
    lam
        The ridge regulariser lambda, > 0.
    delta
        The confidence set misses theta* with probability at most delta.
    radius
        ``paper``, ``symmetric`` or ``released``; the first and last with the faded number of rounds.
    name
        How results call this policy.

    References
    ----------
    Russac, Vernade and Cappe (2019), "Weighted linear bandits for non-stationary environments".
    """

    controllable: ClassVar[bool] = False  # a record does not know which rounds are old

    def __init__(
        self,
        problem: Problem,
        *,
        cut: Cut | KCut,
        gamma: float = 0.99,
        lam: float = 1.0,
        delta: float = 1e-3,
        radius: str = "symmetric",
        name: str | None = None,
    ) -> None:
        super().__init__(problem, name=name)
        self.inner = JointOFUL(problem, cut=cut, lam=lam, delta=delta, radius=radius)
        self.cut = self.inner.cut
        self.gamma = checks.real("gamma", gamma, low=0.0, low_open=True, high=1.0)

    def init(self) -> Faded:
        K = self.problem.K
        return Faded(0, np.zeros((K, K)), np.zeros((K, K)))

    def select(self, state: Faded, rng: np.random.Generator) -> Choice:
        return self.inner.decide(state.N, state.Y, float(state.N.sum()) / self.problem.m, rng)

    def update(self, state: Faded, choice: Choice, rewards: FloatArray) -> Faded:
        rewards = self.problem.rewards(rewards)
        seen = Record.of(self.problem.graph, choice.allocation, rewards, self.problem.K)
        N, Y = self.gamma * state.N + seen.N, self.gamma * state.Y + seen.Y
        return Faded(state.rounds + 1, N, Y)
