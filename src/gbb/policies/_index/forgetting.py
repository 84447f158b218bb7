"""Policies that forget: JointOFUL on what is left of the record."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any, Generic

import numpy as np

from gbb._support.checks import FloatArray
from gbb.learning import radius
from gbb.learning.record import AnyRecord, observe
from gbb.policies._base import Choice, Learned, Policy, State
from gbb.policies.joint_oful import JointOFUL


class ForgettingPolicy(Policy[State], Generic[State]):
    """:class:`~gbb.policies.JointOFUL`, told less than was seen.

    What is left is another sum of noise each time something is forgotten, so that the radius takes
    :func:`gbb.learning.radius.delta_after`, from the first round on: where the matrix does not change,
    the confidence set misses it in any round at all with probability delta at most.
    """

    controllable = False  # a record does not know which rounds are old
    plays_any_problem = True

    def __init__(self, inner: JointOFUL, *, name: str | None) -> None:
        super().__init__(inner.problem, name=name)
        self.inner = inner
        self.cut, self.lam, self.radius = inner.cut, inner.lam, inner.radius
        self.delta: float = inner.delta
        self.learns_two_way = inner.learns_two_way

    @abstractmethod
    def remember(self, state: State) -> Learned:
        """What is left, and how many rounds that counts as."""

    @abstractmethod
    def forgettings(self, state: State) -> int | None:
        """How many times something was forgotten; None for a policy that never forgets."""

    @abstractmethod
    def add(self, state: State, seen: AnyRecord) -> State:
        """The state after one more round."""

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "cut": self.inner.settings()["cut"]}

    def record_of(self, state: State) -> AnyRecord | None:
        return self.remember(state).record

    def select(self, state: State, rng: np.random.Generator) -> Choice:
        return self.after(state).select(self.remember(state), rng)

    def after(self, state: State) -> JointOFUL:
        """The policy that chooses after ``state``: the inner one, with the delta that is left to it."""
        rule = self.inner.rule if self.inner.is_diagonal else None
        _ = self.inner.counted_search  # made once, for all copies, as the rule is
        now = copy.copy(self.inner)
        if (forgettings := self.forgettings(state)) is not None:
            now.delta = radius.delta_after(forgettings, self.delta)
        if rule is not None:
            vars(now)["rule"] = rule._replace(spread=now.constants["spread"])
        return now

    def update(self, state: State, choice: Choice, rewards: FloatArray) -> State:
        rewards = self.problem.rewards(rewards)
        return self.add(state, observe(self.problem, choice.allocation, rewards))
