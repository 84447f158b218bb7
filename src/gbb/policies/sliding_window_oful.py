"""Optimism that remembers the last rounds only, for matrices that change."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

from gbb._support import checks
from gbb.cuts import Cut, KCut
from gbb.learning.radius import Schedule
from gbb.learning.record import AnyRecord, empty
from gbb.policies._base import Learned
from gbb.policies._forgetting import ForgettingPolicy
from gbb.problem import Problem


class Recent(NamedTuple):
    """State: rounds seen, and the records of the last of them, the oldest first."""

    rounds: int
    window: tuple[AnyRecord, ...]


class SlidingWindowOFUL(ForgettingPolicy[Recent]):
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
        As for :class:`~gbb.policies.JointOFUL`, of the rounds remembered.
    name
        How results call this policy.

    References
    ----------
    Cheung, Simchi-Levi and Zhu (2019), "Learning to optimize under non-stationarity".
    """

    def __init__(
        self,
        problem: Problem,
        *,
        cut: Cut | KCut,
        window: int = 100,
        lam: float = 1.0,
        delta: float = 1e-3,
        radius: str | Schedule = "default",
        name: str | None = None,
    ) -> None:
        super().__init__(problem, cut=cut, lam=lam, delta=delta, radius=radius, name=name)
        self.window = checks.integer("window", window, low=1)

    def init(self) -> Recent:
        return Recent(0, ())

    def remember(self, state: Recent) -> Learned:
        record = reduce(lambda all, seen: all.merge(seen), state.window, empty(self.problem))
        return Learned(len(state.window), record)

    def add(self, state: Recent, seen: AnyRecord) -> Recent:
        return Recent(state.rounds + 1, (*state.window, seen)[-self.window :])
