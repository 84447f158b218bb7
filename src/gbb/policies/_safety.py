"""Accounts of a conservative policy: what was earned at least, and what may be risked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gbb import _checks
from gbb._checks import IntArray
from gbb.problem import Problem
from gbb.typed import TypedRidge


class Tally(NamedTuple):
    """How many rounds of a kind were played, and the sum of all that they paid."""

    rounds: int = 0
    paid: float = 0.0

    def add(self, paid: float) -> Tally:
        """One more round."""
        return Tally(self.rounds + 1, self.paid + paid)


def deviation(problem: Problem, rounds: int, delta: float) -> float:
    """How far the sum of all that ``rounds`` rounds paid may be from its expectation.

        ``sigma sqrt((N + o) log((N + o) / (o delta^2)))``, N = o rounds observations, o of them a round,

    for all numbers of rounds at once with probability 1 - delta, whichever rounds are counted, as long
    as that is settled before they pay: the self-normalised bound of Abbasi-Yadkori, Pal and
    Szepesvari (2011, Theorem 1) in one dimension with regulariser o.
    """
    if rounds == 0:
        return 0.0
    count, unit = rounds * problem.observations, problem.observations
    spread = math.log((count + unit) / unit) + 2.0 * math.log(1.0 / delta)
    return problem.sigma * math.sqrt((count + unit) * spread)


def lower_bound(
    ridge: TypedRidge, radius: float, allocation: IntArray, floor: float | None
) -> float:
    """The least that ``allocation`` pays in expectation if the confidence set holds the truth.

    Observation e of a round is ``<q_e, theta> + noise``. For any set E of observations

        ``<sum over E of q, theta_hat> - radius ||sum over E of q||_{A^-1} + floor * (those outside E)``

    is a lower bound when none is expected to pay less than ``floor``. E are those that are known to
    pay more; all of them without a floor.
    """
    problem, graph = ridge.problem, ridge.problem.graph
    first, second = allocation[graph.sources], allocation[graph.indices]
    q = problem.edge_weights[:, None] * ridge.table[problem.edge_types, first, second]
    blocks = problem.edge_types if len(ridge.centre) > 1 else np.zeros(graph.m, dtype=np.int64)
    if problem.feedback != "edge":
        agents = graph.sources if problem.feedback == "agent" else np.zeros(graph.m, dtype=np.int64)
        edges, q = q, np.zeros((problem.observations, q.shape[1]))
        np.add.at(q, agents, edges)
        blocks = np.zeros(problem.observations, dtype=np.int64)
    unknown = 0.0
    if floor is not None:
        each = (q * ridge.centre[blocks]).sum(axis=1) - radius * np.linalg.norm(q, axis=1)
        known = each > floor
        q, blocks = q[known], blocks[known]
        unknown = floor * float(np.count_nonzero(~known))
    total = np.zeros_like(ridge.centre)
    np.add.at(total, blocks, q)
    return float((total * ridge.centre).sum() - radius * np.linalg.norm(total)) + unknown


@dataclass(frozen=True, eq=False)
class Accounts:
    """What was earned so far and at least, and what else may be played without breaking the promise.

    Attributes
    ----------
    ridge, radius
        The confidence set.
    baseline
        The allocation that is known to work.
    least, most
        What it pays per round, or bounds on it.
    eps
        The share of that which may be lost.
    floor
        As :func:`lower_bound` takes it.
    rounds
        How many rounds were played at the baseline and away from it.
    earned
        The least that the rounds away from the baseline paid in expectation.
    """

    ridge: TypedRidge
    radius: float
    baseline: IntArray
    least: float
    most: float
    eps: float
    floor: float | None
    rounds: tuple[int, int]
    earned: float

    def low(self, arms: IntArray) -> float:
        """The least that a round with these arms pays in expectation."""
        return lower_bound(self.ridge, self.radius, arms, self.floor)

    def safe(self, plan: Iterable[IntArray]) -> bool:
        """Whether the promise holds after every round of ``plan``."""
        at_baseline, away = self.rounds
        earned = self.earned
        for arms in plan:
            if np.array_equal(arms, self.baseline):
                at_baseline += 1
            else:
                away += 1
                earned += self.low(arms)
            credit = at_baseline - (1.0 - self.eps) * (at_baseline + away)
            if not earned + credit * (self.least if credit >= 0.0 else self.most) >= 0.0:
                return False
        return True


def playable(problem: Problem, name: str, value: ArrayLike | Mapping[str, str] | None) -> IntArray:
    """An allocation of allowed arms; everybody's first allowed arm when ``value`` is None."""
    arms = problem.allocation(problem.allowed.argmax(axis=1) if value is None else value)
    free = problem.allowed[np.arange(problem.n), arms]
    if not free.all():
        agent = int(np.argmin(free))
        got = f"arm {arms[agent]} at agent {problem.graph.label(agent)!r}"
        raise _checks.fail(name, "play allowed arms", got)
    return arms
