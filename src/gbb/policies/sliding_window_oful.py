"""Optimism that remembers the last rounds only, for matrices that change."""

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


class Recent(NamedTuple):
    """State: rounds seen, and the records of the last of them, the oldest first."""

    rounds: int
    window: tuple[Record, ...]

    @property
    def record(self) -> Record | None:
        """The window as one record, if there is any round in it."""
        if not self.window:
            return None
        N = np.sum([seen.N for seen in self.window], axis=0)
        return Record(N, np.sum([seen.Y for seen in self.window], axis=0))


class SlidingWindowOFUL(Policy[Recent]):
    """:class:`~gbb.policies.JointOFUL` on the record of the last ``window`` rounds.

    Parameters
    ----------
    problem
        What the learner knows.
    cut
        The parts V1 and V2, or k parts to start from the best k-tuple of arms over them.
    window
        How many rounds are remembered.
    lam
        The ridge regulariser lambda, > 0.
    delta
        The confidence set misses theta* with probability at most delta.
    radius
        ``paper``, ``symmetric`` or ``released``, of the rounds remembered.
    name
        How results call this policy.

    References
    ----------
    Cheung, Simchi-Levi and Zhu (2019), "Learning to optimize under non-stationarity".
    """

    controllable: ClassVar[bool] = False  # a record cannot drop its oldest rounds

    def __init__(
        self,
        problem: Problem,
        *,
        cut: Cut | KCut,
        window: int = 100,
        lam: float = 1.0,
        delta: float = 1e-3,
        radius: str = "symmetric",
        name: str | None = None,
    ) -> None:
        super().__init__(problem, name=name)
        self.inner = JointOFUL(problem, cut=cut, lam=lam, delta=delta, radius=radius)
        self.cut = self.inner.cut
        self.window = checks.integer("window", window, low=1)

    def init(self) -> Recent:
        return Recent(0, ())

    def select(self, state: Recent, rng: np.random.Generator) -> Choice:
        record = state.record or Record.empty(self.problem.K)
        return self.inner.decide(record.N, record.Y, len(state.window), rng)

    def update(self, state: Recent, choice: Choice, rewards: FloatArray) -> Recent:
        rewards = self.problem.rewards(rewards)
        seen = Record.of(self.problem.graph, choice.allocation, rewards, self.problem.K)
        return Recent(state.rounds + 1, (*state.window, seen)[-self.window :])
