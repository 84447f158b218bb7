"""Policies that forget: JointOFUL on what is left of the record."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Generic, TypeVar

import numpy as np

from gbb._support.checks import FloatArray
from gbb.cuts import Cut, KCut
from gbb.learning.radius import Schedule
from gbb.learning.record import AnyRecord
from gbb.learning.record import observe as observe_round
from gbb.policies._base import Choice, Learned, Policy
from gbb.policies.joint_oful import JointOFUL
from gbb.problem import Problem

State = TypeVar("State")


class ForgettingPolicy(Policy[State], Generic[State]):
    """:class:`~gbb.policies.JointOFUL`, told less than was seen.

    Its settings but for what it forgets are those of :class:`~gbb.policies.JointOFUL`.
    """

    controllable: ClassVar[bool] = False  # a record does not know which rounds are old
    plays_any_problem: ClassVar[bool] = True

    def __init__(
        self,
        problem: Problem,
        *,
        cut: Cut | KCut,
        lam: float,
        delta: float,
        radius: str | Schedule,
        name: str | None,
    ) -> None:
        super().__init__(problem, name=name)
        self.inner = JointOFUL(problem, cut=cut, lam=lam, delta=delta, radius=radius)
        self.cut, self.lam, self.delta = self.inner.cut, self.inner.lam, self.inner.delta
        self.learns_two_way = self.inner.learns_two_way

    @abstractmethod
    def remember(self, state: State) -> Learned:
        """What is left, and how many rounds that counts as."""

    @abstractmethod
    def add(self, state: State, seen: AnyRecord) -> State:
        """The state after one more round."""

    def record_of(self, state: State) -> AnyRecord | None:
        return self.remember(state).record

    def select(self, state: State, rng: np.random.Generator) -> Choice:
        return self.inner.select(self.remember(state), rng)

    def update(self, state: State, choice: Choice, rewards: FloatArray) -> State:
        rewards = self.problem.rewards(rewards)
        return self.add(state, observe_round(self.problem, choice.allocation, rewards))
