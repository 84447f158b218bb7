"""Policies that forget: JointOFUL on what is left of the record."""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic

import numpy as np

from gbb._support.checks import FloatArray
from gbb.learning.record import AnyRecord, observe
from gbb.policies._base import Choice, Learned, Policy, State
from gbb.policies.joint_oful import JointOFUL


class ForgettingPolicy(Policy[State], Generic[State]):
    """:class:`~gbb.policies.JointOFUL`, told less than was seen."""

    controllable = False  # a record does not know which rounds are old
    plays_any_problem = True

    def __init__(self, inner: JointOFUL, *, name: str | None) -> None:
        super().__init__(inner.problem, name=name)
        self.inner = inner
        self.cut, self.lam, self.delta = inner.cut, inner.lam, inner.delta
        self.learns_two_way = inner.learns_two_way

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
        return self.add(state, observe(self.problem, choice.allocation, rewards))
