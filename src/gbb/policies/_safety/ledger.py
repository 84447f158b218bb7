"""The ledger of a conservative policy: what was asked, what was told of it, and what is missing."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._support.checks import FloatArray, IntArray
from gbb.learning.record import weigh
from gbb.problem import Problem


class Account(NamedTuple):
    """Rounds of a kind.

    Attributes
    ----------
    rounds
        How many were asked, less those that were not played.
    told
        How many of their numbers were told, of those that may pay.
    whole
        How many were told wholly, at the baseline.
    parts
        Numbers whose sum is exactly what was told, so that the order of telling does not matter and
        what is taken back leaves nothing behind.
    worths
        The same for what the baseline pays in the rounds that were asked, where that is known by
        context.
    """

    rounds: int = 0
    told: int = 0
    whole: int = 0
    parts: tuple[float, ...] = ()
    worths: tuple[float, ...] = ()

    @property
    def worth(self) -> float:
        """What the baseline pays in these rounds, in sum, where that is known by context."""
        return math.fsum(self.worths)

    @property
    def paid(self) -> float:
        """What was told, in sum, rounded once."""
        return math.fsum(self.parts)

    def ask(self, rounds: int, worth: float = 0.0) -> Account:
        """So many rounds more, in which the baseline pays ``worth``; -1 for one that was not played."""
        return self._replace(rounds=self.rounds + rounds, worths=_add(self.worths, rounds * worth))

    def tell(self, told: int, paid: float, whole: int = 0) -> Account:
        """So many numbers more, their sum, and whole rounds; all negative for what is taken back."""
        parts = _add(self.parts, paid)
        return self._replace(told=self.told + told, whole=self.whole + whole, parts=parts)


def _add(parts: tuple[float, ...], number: float) -> tuple[float, ...]:
    """``parts`` with one number more, in sum exactly (Shewchuk 1997, Grow-Expansion)."""
    kept = []
    for part in parts:
        large, small = (number, part) if abs(number) >= abs(part) else (part, number)
        number = large + small
        if rest := small - (number - large):
            kept.append(rest)
    return (*kept, number) if number else tuple(kept)


class Missing(NamedTuple):
    """Numbers that nobody told.

    Attributes
    ----------
    numbers
        How many there are, of those that may pay.
    weights
        The weights of their edges, summed by type and edge-arm (types x K^2).
    """

    numbers: int
    weights: FloatArray

    @classmethod
    def none(cls, problem: Problem) -> Missing:
        """Nothing is missing."""
        return cls(0, np.zeros((problem.types, problem.K**2)))

    def add(self, problem: Problem, arms: IntArray, which: NDArray[np.bool_], sign: int) -> Missing:
        """With the numbers ``which`` of a round with these arms; without them if ``sign`` is -1."""
        numbers = self.numbers + sign * int(np.count_nonzero(which))
        if numbers == 0:
            return Missing.none(problem)
        return Missing(numbers, self.weights + sign * weigh(problem, arms, which[problem.adds_to]))


class Step(NamedTuple):
    """What was asked under a trial's number, where that was heading, and whether it was proposed."""

    trial: int
    allocation: IntArray
    target: IntArray | None = None
    substituted: bool = False


Path = tuple[Step, ...]
"""The newest trial played for sure, the one before it, and those asked since, in their order."""


def follow(path: Path, step: Step) -> Path:
    """The path with a trial that is open, unless one that was played came after it."""
    if step.trial < path[0].trial:
        return path
    return tuple(sorted((*path, step), key=lambda each: each.trial))


def settle(path: Path, trial: int, *, played: bool) -> Path:
    """The path once it is known whether a trial was played."""
    places = [place for place, step in enumerate(path) if step.trial == trial]
    if not places:
        return path
    if played:
        return path[
            max(0, places[-1] - 1) :
        ]  # should this be taken back, the one before is in play
    return path[: places[-1]] + path[places[-1] + 1 :] or path


class Rules(NamedTuple):
    """What a ledger counts.

    Attributes
    ----------
    problem
        What the learner knows.
    baseline
        The allocation that is known to work.
    paying
        Which numbers of a round may pay.
    two_way
        Whether a direction of a link counts only together with the other.
    worth
        What the baseline pays in this round, where that is known by context.
    """

    problem: Problem
    baseline: IntArray
    paying: NDArray[np.bool_]
    two_way: bool
    worth: float = 0.0

    def told(self, paid: FloatArray) -> NDArray[np.bool_]:
        """Which numbers of a round count as told."""
        told = self.paying & ~np.isnan(paid)
        if self.two_way and self.problem.reports_edges:
            told &= told[self.problem.graph.reverse]
        return told


class Ledger(NamedTuple):
    """Everything asked and told since the promise was made.

    Attributes
    ----------
    path
        What was asked last, and before that as far back as it may not have been played.
    at_baseline
        The rounds at the baseline, and what those paid of which everything was told.
    away
        The rounds away from it, and what was told of them.
    missing
        What was not told of the rounds away from it.
    """

    path: Path
    at_baseline: Account
    away: Account
    missing: Missing

    @classmethod
    def start(cls, problem: Problem, last: IntArray) -> Ledger:
        """Nothing was asked, and the plant plays ``last``."""
        return cls((Step(0, last),), Account(), Account(), Missing.none(problem))

    def begin(self, rules: Rules, step: Step) -> Ledger:
        """With a round more, of which nothing is told yet."""
        return self._replace(path=follow(self.path, step))._ask(rules, step.allocation, 1)

    def close(self, rules: Rules, trial: int, arms: IntArray, paid: FloatArray | None) -> Ledger:
        """Once a round is over: with what it paid, or without the round if it was not played."""
        after = self._replace(path=settle(self.path, trial, played=paid is not None))
        if paid is None:
            return after._ask(rules, arms, -1)
        return after._tell(rules, arms, paid, 1)

    def reopen(self, rules: Rules, trial: int, arms: IntArray, paid: FloatArray | None) -> Ledger:
        """Once it is taken back how a round was closed."""
        return (
            self.begin(rules, Step(trial, arms))
            if paid is None
            else self._tell(rules, arms, paid, -1)
        )

    def _ask(self, rules: Rules, arms: IntArray, sign: int) -> Ledger:
        if np.array_equal(arms, rules.baseline):
            return self._replace(at_baseline=self.at_baseline.ask(sign, rules.worth))
        missing = self.missing.add(rules.problem, arms, rules.paying, sign)
        return self._replace(away=self.away.ask(sign, rules.worth), missing=missing)

    def _tell(self, rules: Rules, arms: IntArray, paid: FloatArray, sign: int) -> Ledger:
        told = rules.told(paid)
        count, total = sign * int(np.count_nonzero(told)), sign * float(paid[told].sum())
        if not np.array_equal(arms, rules.baseline):
            missing = self.missing.add(rules.problem, arms, told, -sign)
            return self._replace(away=self.away.tell(count, total), missing=missing)
        if np.array_equal(told, rules.paying):
            return self._replace(at_baseline=self.at_baseline.tell(count, total, sign))
        return self
