"""A simulator as a system that policies are played in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from gbb._support.checks import FloatArray
from gbb.policies import AnyPolicy
from gbb.problem import Problem
from gbb.simulation import Round, play


class HasRewards(Protocol):
    """What a simulator measures in a round: the rewards that it reports, and more."""

    @property
    def rewards(self) -> FloatArray:
        """The numbers that the round reports."""
        ...


Measured = TypeVar("Measured", bound=HasRewards)


class SimulatorSystem(ABC, Generic[Measured]):
    """A :class:`gbb.environment.System` whose rounds are fixed by their number and the allocation.

    All that is random in a round, its wind or its traffic, is drawn before the first one, so that every
    policy meets the same.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._remember = lru_cache(maxsize=1)(self.simulate)  # asked for what one round measured

    @abstractmethod
    def simulate(self, t: int, arms: tuple[int, ...]) -> Measured:
        """Run round ``t``, counted from 1, with one arm per agent."""

    def measure(self, t: int, allocation: ArrayLike) -> Measured:
        """What round ``t`` measures; the last round is not simulated again."""
        measured: Measured = self._remember(t, tuple(self.problem.allocation(allocation).tolist()))
        return measured

    def expected(self, t: int, allocation: ArrayLike) -> float:
        """The global reward of round ``t``."""
        return float(self.measure(t, allocation).rewards.sum())

    def draw(self, t: int, allocation: ArrayLike, rng: np.random.Generator) -> FloatArray:  # noqa: ARG002
        """The numbers that round ``t`` reports."""
        return self.measure(t, allocation).rewards


def play_together(
    systems: Sequence[SimulatorSystem[Measured]],
    policies: Sequence[AnyPolicy],
    rounds: int,
    streams: Sequence[np.random.Generator],
    *,
    run_all: Callable[[Callable[..., Any], Sequence[Any]], Iterable[Round]] = map,
) -> Iterator[list[tuple[Round, Measured]]]:
    """Every policy in a system of its own, round by round in step; what each did and measured.

    ``run_all`` calls a function on every item, as ``map`` does.
    """
    players = zip(systems, policies, streams, strict=True)
    playing = [play(system, policy, rounds, (rng, rng)) for system, policy, rng in players]
    for _ in range(rounds):
        steps = list(run_all(next, playing))
        yield [
            (step, system.measure(step.t, step.choice.allocation))
            for system, step in zip(systems, steps, strict=True)
        ]
