"""Accounts of a conservative policy: what was earned at least, and what may be risked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gbb._support.checks import FloatArray, IntArray
from gbb.learning.radius import self_normalised
from gbb.learning.ridge import Ridge
from gbb.policies._safety.ledger import Missing
from gbb.problem import Problem


def paying(problem: Problem) -> NDArray[np.bool_]:
    """Which numbers of a round may pay at all; the others have no edge, or edges of weight 0 only."""
    return problem.paying


def noise_scale(problem: Problem, shared: bool) -> float:
    """How many sigma the noise of a round has in the worst direction: 1, or sqrt(o) if it is ``shared``.

    With o numbers a round that may pay, each with sigma-sub-Gaussian noise, and any u in R^o of 1-norm
    s, Hoelder's inequality with exponents ``s / |u_e|`` gives

        ``E exp(<u, noise>) <= prod_e E[exp(sign(u_e) s noise_e)]^(|u_e| / s) <= exp(sigma^2 s^2 / 2)``,

    however the numbers depend on each other, and ``s <= sqrt(o) ||u||``. That is all that the
    self-normalised bound asks of a round, with ``sqrt(o) sigma`` in place of sigma. It is reached:
    by one noise that all share, in the sum over all.
    """
    return math.sqrt(np.count_nonzero(paying(problem.whole))) if shared else 1.0


def deviation(problem: Problem, rounds: int, delta: float, *, scale: float = 1.0) -> float:
    """How far the sum of all that ``rounds`` whole rounds paid may be from its expectation."""
    return deviation_of(problem, rounds * int(np.count_nonzero(paying(problem))), delta, scale)


def deviation_of(problem: Problem, told: int, delta: float, scale: float) -> float:
    """How far the sum of so many numbers told may be from its expectation.

        ``scale sigma sqrt((N + o) log((N + o) / (o delta^2)))``,

    N numbers, o of which may pay in a round, and scale by :func:`noise_scale`, for all N
    at once with probability 1 - delta, whichever numbers are counted and in whatever order, as long as
    what they say does not decide that: the self-normalised bound of Abbasi-Yadkori, Pal and
    Szepesvari (2011, Theorem 1) in one dimension with regulariser o. With contexts o is how many may
    pay in some round, so that the regulariser is the same in all.
    """
    if told == 0:
        return 0.0
    unit = int(np.count_nonzero(paying(problem.whole)))
    one = self_normalised(scale * problem.sigma, math.log((told + unit) / unit), delta)
    return one * math.sqrt(told + unit)


def lower_bound(ridge: Ridge, radius: float, allocation: IntArray, floor: float | None) -> float:
    """The least that ``allocation`` pays in expectation if the confidence set holds the truth.

    Observation e of a round is ``<q_e, theta> + noise``. For any set E of observations

        ``<sum over E of q, theta_hat> - radius ||sum over E of q||_{A^-1} + floor * (those outside E)``

    is a lower bound when none is expected to pay less than ``floor``; those that are known to pay 0
    (:func:`paying`) are left out of both. So is the largest of these over any sets, since all hold on
    the same event. Here E runs over the observations with the k largest
    lower bounds of their own, k from none to all; without a floor it is all of them.
    """
    problem = ridge.problem
    first, second = allocation[problem.sources], allocation[problem.targets]
    q = problem.edge_weights[:, None] * ridge.table[problem.edge_types, first, second]
    blocks = np.zeros(problem.observations, dtype=np.int64)
    blocks[problem.adds_to] = ridge.block_of[problem.edge_types]
    edges, q = q, np.zeros((problem.observations, q.shape[1]))
    np.add.at(q, problem.adds_to, edges)
    may = paying(problem)
    q, blocks, unknown = q[may], blocks[may], 0.0
    if floor is not None:
        means = (q * ridge.centre[blocks]).sum(axis=1)
        order = np.argsort(radius * np.linalg.norm(q, axis=1) - means, kind="stable")
        gains = np.cumsum(means[order] - floor) - radius * _norms(q[order], blocks[order])
        best = int(np.argmax(gains)) + 1 if gains.max(initial=0.0) > 0.0 else 0
        unknown = floor * float(len(q) - best)
        q, blocks = q[order[:best]], blocks[order[:best]]
    total = np.zeros_like(ridge.centre)
    np.add.at(total, blocks, q)
    return float((total * ridge.centre).sum() - radius * np.linalg.norm(total)) + unknown


def least_missing(ridge: Ridge, radius: float, missing: Missing, floor: float | None) -> float:
    """The least that the ``missing`` numbers pay in expectation if the confidence set holds the truth.

    The largest of three bounds on their sum, with q the sum of their edges' weighted edge-arms:
    ``min <q, theta>`` over the set; ``-S`` times the sum over types of ``||q||``, as no matrix has a
    larger norm; and the floor of each.
    """
    problem = ridge.problem
    total = np.zeros_like(ridge.centre)
    table = ridge.table.reshape(*missing.weights.shape, -1)
    np.add.at(total, ridge.block_of, np.einsum("gk,gks->gs", missing.weights, table))
    by_set = float((total * ridge.centre).sum() - radius * np.linalg.norm(total))
    norms = np.linalg.norm(missing.weights @ problem.edge_arms, axis=1)
    bounds = [by_set, -problem.S * float(norms.sum())]
    return max(bounds if floor is None else [*bounds, floor * missing.numbers])


def _norms(q: FloatArray, blocks: IntArray) -> FloatArray:
    """The norm of the sum of the first k rows, each in its block, for every k from 1."""
    steps = np.empty(len(q))
    for block in np.unique(blocks):
        rows = np.flatnonzero(blocks == block)
        squares = (np.cumsum(q[rows], axis=0) ** 2).sum(axis=1)
        steps[rows] = np.diff(squares, prepend=0.0)
    norms: FloatArray = np.sqrt(np.maximum(np.cumsum(steps), 0.0))
    return norms


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
        How many rounds were asked at the baseline and away from it.
    earned
        The least that the rounds away from the baseline pay in expectation.
    worth
        What the baseline pays in sum in the rounds at it and in those away from it, where that is known
        round by round; ``least`` and ``most`` are then those of this round.
    """

    ridge: Ridge
    radius: float
    baseline: IntArray
    least: float
    most: float
    eps: float
    floor: float | None
    rounds: tuple[int, int]
    earned: float
    worth: tuple[float, float] | None = None

    def low(self, arms: IntArray) -> float:
        """The least that a round with these arms pays in expectation."""
        return lower_bound(self.ridge, self.radius, arms, self.floor)

    def safe(self, plan: Iterable[IntArray]) -> bool:
        """Whether the promise holds after every round of ``plan``.

        Where what the baseline pays changes from round to round, only the first can be elsewhere: at the
        baseline a round adds ``eps`` of what it pays to the margin, whatever that is.
        """
        if self.worth is not None:
            return self._safe_now(next(iter(plan)))
        at_baseline, away = self.rounds
        earned = self.earned
        for arms in plan:
            if np.array_equal(arms, self.baseline):
                at_baseline += 1
            else:
                away += 1
                earned += self.low(arms)
            if not self._margin(at_baseline, away, earned) >= 0.0:
                return False
        return True

    def _safe_now(self, arms: IntArray) -> bool:
        assert self.worth is not None
        at_baseline, away = self.worth
        if np.array_equal(arms, self.baseline):
            return self._kept((at_baseline + self.least, away), self.earned) >= 0.0
        return self._kept((at_baseline, away + self.most), self.earned + self.low(arms)) >= 0.0

    def _kept(self, worth: tuple[float, float], earned: float) -> float:
        """By how much the promise is kept at least, where the baseline pays these sums."""
        return earned + worth[0] - (1.0 - self.eps) * sum(worth)

    def _margin(self, at_baseline: int, away: int, earned: float) -> float:
        """By how much the promise is kept at least, after so many rounds."""
        credit = at_baseline - (1.0 - self.eps) * (at_baseline + away)
        return earned + credit * (self.least if credit >= 0.0 else self.most)

    def report(self) -> dict[str, float | None]:
        """What was promised so far, what was earned at least, and what of the budget is left.

        All for the reward of the baseline, of those that are possible, that leaves the least; None
        where nothing is known of it.
        """
        at_baseline, away = self.rounds
        if self.worth is None:
            left = self._margin(at_baseline, away, self.earned)
            credit = at_baseline - (1.0 - self.eps) * (at_baseline + away)
            reward = self.least if credit >= 0.0 else self.most
            total, home = (at_baseline + away) * reward, at_baseline * reward
        else:
            left = self._kept(self.worth, self.earned)
            total, home = sum(self.worth), self.worth[0]
        budget = self.eps * total
        values = {
            "promised": (1.0 - self.eps) * total,
            "earned": home + self.earned,
            "budget": budget,
            "left": left,
            "used": max(0.0, 1.0 - left / budget) if budget > 0.0 else math.nan,
            "baseline_low": self.least,
            "baseline_high": self.most,
        }
        return {key: value if math.isfinite(value) else None for key, value in values.items()}
