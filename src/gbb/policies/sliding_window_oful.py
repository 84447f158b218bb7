"""Optimism that remembers the last rounds only, for matrices that change."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

from gbb._support import checks
from gbb.cuts import Cut, KCut
from gbb.learning.radius import Schedule
from gbb.learning.record import AnyRecord, empty
from gbb.policies._base import Learned
from gbb.policies._index.forgetting import ForgettingPolicy
from gbb.policies.joint_oful import JointOFUL
from gbb.problem import Problem


class Recent(NamedTuple):
    """State: rounds seen, and the records of the last of them, the oldest first."""

    rounds: int
    window: tuple[AnyRecord, ...]


class SlidingWindowOFUL(ForgettingPolicy[Recent]):
    """:class:`~gbb.policies.JointOFUL` on the record of the last ``window`` rounds.

    Each round that is dropped starts the bound on the noise anew, so that after k of them the radius has
    ``delta / ((k + 1) (k + 2))`` in the place of delta, also with k = 0, as it will drop some. Where the
    matrix does not change, the confidence set misses it in any round at all with probability delta at
    most.

    Parameters
    ----------
    problem, cut, lam, delta, name
        As for :class:`~gbb.policies.JointOFUL`.
    window
        How many rounds are remembered.
    radius
        As for :class:`~gbb.policies.JointOFUL`, of the rounds remembered.

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
        radius: str | Schedule = "default",
        lam: float = 1.0,
        delta: float = 1e-3,
        name: str | None = None,
    ) -> None:
        self.window = checks.integer("window", window, low=1)
        inner = JointOFUL(problem, cut=cut, radius=radius, lam=lam, delta=delta)
        super().__init__(inner, name=name)

    def init(self) -> Recent:
        return Recent(0, ())

    def remember(self, state: Recent) -> Learned:
        record = reduce(lambda all, seen: all.merge(seen), state.window, empty(self.problem))
        return Learned(len(state.window), record)

    def forgettings(self, state: Recent) -> int:
        return state.rounds - len(state.window)

    def add(self, state: Recent, seen: AnyRecord) -> Recent:
        return Recent(state.rounds + 1, (*state.window, seen)[-self.window :])
