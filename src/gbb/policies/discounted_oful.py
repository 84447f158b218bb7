"""Optimism with a memory that fades, for matrices that drift."""

from __future__ import annotations

from typing import NamedTuple

from gbb._support import checks
from gbb.cuts import Cut, KCut
from gbb.learning.radius import Schedule
from gbb.learning.record import AnyRecord, empty
from gbb.policies._base import Learned
from gbb.policies._index.forgetting import ForgettingPolicy
from gbb.policies.joint_oful import JointOFUL
from gbb.problem import Problem


class Faded(NamedTuple):
    """State: rounds seen, and their record, every round's part multiplied by its age."""

    rounds: int
    record: AnyRecord


class DiscountedOFUL(ForgettingPolicy[Faded]):
    """:class:`~gbb.policies.JointOFUL` on a record that fades.

    Each round ``N <- gamma N + N_t`` and ``Y <- gamma Y + Y_t``. A round of age s weighs ``gamma^s``,
    about ``1 / (1 - gamma)`` rounds in all. The width keeps ``A^-1``, which is larger than the faded
    estimate's own ``A^-1 A_2 A^-1`` with weights ``gamma^(2 s)``. Every round starts the bound on the
    noise anew, so that after t rounds the radius has ``delta / ((t + 1) (t + 2))`` in the place of
    delta: where the matrix does not change, the confidence set misses it in any round at all with
    probability delta at most. With gamma = 1 nothing fades, and delta stays what it is.

    Parameters
    ----------
    problem, cut, lam, delta, name
        As for :class:`~gbb.policies.JointOFUL`.
    gamma
        What a round keeps of its weight each round, in (0, 1].
    radius
        As for :class:`~gbb.policies.JointOFUL`; those that count rounds get the faded number of them.

    References
    ----------
    Russac, Vernade and Cappe (2019), "Weighted linear bandits for non-stationary environments".
    """

    def __init__(
        self,
        problem: Problem,
        *,
        cut: Cut | KCut,
        gamma: float = 0.99,
        radius: str | Schedule = "default",
        lam: float = 1.0,
        delta: float = 1e-3,
        name: str | None = None,
    ) -> None:
        self.gamma = checks.real("gamma", gamma, low=0.0, low_open=True, high=1.0)
        inner = JointOFUL(problem, cut=cut, radius=radius, lam=lam, delta=delta)
        super().__init__(inner, name=name)

    def init(self) -> Faded:
        return Faded(0, empty(self.problem).discount(1.0))

    def remember(self, state: Faded) -> Learned:
        rounds = state.record.weight(self.problem) / self.problem.gram_growth_per_round
        return Learned(rounds, state.record)

    def forgettings(self, state: Faded) -> int | None:
        return state.rounds if self.gamma < 1.0 else None

    def add(self, state: Faded, seen: AnyRecord) -> Faded:
        return Faded(state.rounds + 1, state.record.discount(self.gamma).merge(seen))
