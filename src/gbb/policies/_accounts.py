"""Accounts of a conservative policy: the promise, the ledger of its rounds, and limited steps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._support.checks import FloatArray, IntArray
from gbb.learning.radius import self_normalised
from gbb.learning.record import weigh
from gbb.learning.ridge import Ridge
from gbb.problem import Problem

TOLERANCE = 1e-9
"""Upper confidence bounds within this relative distance count as equal."""


def noise_scale(problem: Problem, *, shared: bool) -> float:
    """Return how many sigma the noise of a round has in the worst direction: 1, or sqrt(o) if shared.

    With o rewards a round that are not known to be 0, each with sigma-sub-Gaussian noise, and any u in
    R^o of 1-norm s, Hoelder's inequality with exponents ``s / |u_e|`` gives

        ``E exp(<u, noise>) <= prod_e E[exp(sign(u_e) s noise_e)]^(|u_e| / s) <= exp(sigma^2 s^2 / 2)``,

    however the rewards depend on each other, and ``s <= sqrt(o) ||u||``. That is all that the
    self-normalised bound asks of a round, with ``sqrt(o) sigma`` in place of sigma. It is attained: by
    the sum over all, if all share one noise.
    """
    return math.sqrt(np.count_nonzero(problem.root.report.nonzero)) if shared else 1.0


def deviation(problem: Problem, count: int, delta: float, scale: float = 1.0) -> float:
    """Return how far the sum of ``count`` observed rewards may be from its expectation.

        ``scale sigma sqrt((N + o) log((N + o) / (o delta^2)))``

    for N rewards, o of which may be nonzero in a round, and the scale by :func:`noise_scale`. It holds
    for all N at once with probability 1 - delta, whichever rewards are counted and in whatever order, as
    long as their values do not decide that: the self-normalised bound of Abbasi-Yadkori, Pal and
    Szepesvari (2011, Theorem 1) in one dimension with regulariser o.
    """
    if count == 0:
        return 0.0
    # Of the root: the regulariser must be the same in all rounds, whatever their contexts.
    size = int(np.count_nonzero(problem.root.report.nonzero))
    # In one dimension, with A = N + o: |sum of noise| = sqrt(A) ||sum of noise||_{A^-1}.
    one = self_normalised(scale * problem.sigma, math.log((count + size) / size), delta)
    return one * math.sqrt(count + size)


def min_reward(ridge: Ridge, radius: float, allocation: IntArray, floor: float | None) -> float:
    """Return a lower bound on the expected reward of ``allocation``, valid if theta is in the set.

    Reward e of a round is ``<q_e, theta> + noise``. For any set E of rewards

        ``<sum over E of q, theta_hat> - radius ||sum over E of q||_{A^-1} + floor * (those outside E)``

    is a lower bound if no reward is expected to be below ``floor``; those that are known to be 0 are
    left out of both. All hold on the same event, and so does the largest. E runs over the rewards with
    the k largest lower bounds of their own, k from none to all; without a floor it is all of them.
    """
    problem = ridge.problem
    index, types = problem.report.index, problem.edge_types
    arms = allocation[problem.sources], allocation[problem.targets]
    q = np.zeros((problem.observations, ridge.whitened.shape[-1]))
    np.add.at(q, index, problem.edge_weights[:, None] * ridge.whitened[types, *arms])
    blocks = np.zeros(problem.observations, dtype=np.int64)
    blocks[index] = ridge.block_of[types]
    # A floor of rewards that are known to be 0 would be earned for nothing.
    nonzero, remainder = problem.report.nonzero, 0.0
    q, blocks = q[nonzero], blocks[nonzero]
    if floor is not None:
        means = (q * ridge.theta[blocks]).sum(axis=1)
        order = np.argsort(radius * np.linalg.norm(q, axis=1) - means, kind="stable")
        norms = _cumulative_norms(q[order], blocks[order])
        gains = np.cumsum(means[order] - floor) - radius * norms
        best = int(np.argmax(gains)) + 1 if gains.max(initial=0.0) > 0.0 else 0
        remainder = floor * float(len(q) - best)
        q, blocks = q[order[:best]], blocks[order[:best]]
    total = np.zeros_like(ridge.theta)
    np.add.at(total, blocks, q)
    return _min_inside(ridge, radius, total) + remainder


def _min_inside(ridge: Ridge, radius: float, total: FloatArray) -> float:
    """Return ``min <total, theta>`` over the confidence set."""
    return float((total * ridge.theta).sum() - radius * np.linalg.norm(total))


def _cumulative_norms(q: FloatArray, blocks: IntArray) -> FloatArray:
    """Return the norm of the sum of the first k rows, each in its block, for every k from 1."""
    steps = np.empty(len(q))
    for block in np.unique(blocks):
        rows = np.flatnonzero(blocks == block)
        squares = (np.cumsum(q[rows], axis=0) ** 2).sum(axis=1)
        steps[rows] = np.diff(squares, prepend=0.0)  # blocks are orthogonal: their squares add up
    norms: FloatArray = np.sqrt(np.maximum(np.cumsum(steps), 0.0))
    return norms


class Promise(NamedTuple):
    """What was earned at least, and what that is compared with.

    Attributes
    ----------
    eps
        The share of the baseline's reward that may be lost.
    weight
        That of the present round: 1, or what the baseline pays in it if that is known by context.
    at_baseline, away
        The sums of the weights of the rounds at the baseline and away from it.
    earned
        A lower bound on the expected reward of the rounds away from the baseline.
    min_baseline, max_baseline
        Bounds on the baseline's reward in a round of weight 1.
    """

    eps: float
    weight: float
    at_baseline: float
    away: float
    earned: float
    min_baseline: float
    max_baseline: float

    def after(self, min_reward: float | None) -> Promise:
        """Return the promise after one more round, at the baseline or with at least this reward."""
        if min_reward is None:
            return self._replace(at_baseline=self.at_baseline + self.weight)
        return self._replace(away=self.away + self.weight, earned=self.earned + min_reward)

    @property
    def _credit(self) -> float:
        return self.at_baseline - (1.0 - self.eps) * (self.at_baseline + self.away)

    @property
    def _baseline_reward(self) -> float:
        """The baseline's reward that makes the promise hardest, of those that are possible."""
        return self.min_baseline if self._credit >= 0.0 else self.max_baseline

    @property
    def margin(self) -> float:
        """By how much the promise is kept at least."""
        return self.earned + self._credit * self._baseline_reward

    def report(self) -> dict[str, float | None]:
        """Return what was promised and earned, and the rest of the budget; None if unknown."""
        total, margin = (self.at_baseline + self.away) * self._baseline_reward, self.margin
        budget = self.eps * total
        values = {
            "promised": (1.0 - self.eps) * total,
            "earned": self.at_baseline * self._baseline_reward + self.earned,
            "budget": budget,
            "left": margin,
            "used": max(0.0, 1.0 - margin / budget) if budget > 0.0 else math.nan,
            "baseline_low": self.min_baseline * self.weight,
            "baseline_high": self.max_baseline * self.weight,
        }
        return {key: value if math.isfinite(value) else None for key, value in values.items()}


class Account(NamedTuple):
    """Rounds at the baseline, or away from it.

    Attributes
    ----------
    rounds
        How many were asked, less those that were not played.
    observed
        How many of their rewards were observed, of those that may be nonzero.
    complete
        How many rounds at the baseline were observed completely.
    rewards
        The sum of the observed rewards, as an expansion (:func:`add_exactly`).
    weights
        The sum of their weights likewise: 1 each, or what the baseline pays in them if that is known by
        context.
    """

    rounds: int = 0
    observed: int = 0
    complete: int = 0
    rewards: tuple[float, ...] = ()
    weights: tuple[float, ...] = ()

    def add_round(self, sign: int, weight: float) -> Account:
        """Return the account with a round more (``sign`` 1) or less (-1)."""
        weights = add_exactly(self.weights, sign * weight)
        return self._replace(rounds=self.rounds + sign, weights=weights)

    def add_rewards(self, sign: int, rewards: FloatArray, *, complete: bool) -> Account:
        """Return the account with the observed rewards of a round more (``sign`` 1) or less (-1)."""
        return self._replace(
            observed=self.observed + sign * len(rewards),
            complete=self.complete + sign * complete,
            rewards=add_exactly(self.rewards, sign * float(rewards.sum())),
        )


def add_exactly(expansion: tuple[float, ...], number: float) -> tuple[float, ...]:
    """Return an expansion, numbers whose sum is exact, with one number more.

    Shewchuk (1997), Grow-Expansion.
    """
    # Rounded sums would depend on the order of reports, and a retracted reward would leave its
    # rounding behind.
    terms = []
    for term in expansion:
        large, small = (number, term) if abs(number) >= abs(term) else (term, number)
        number = large + small
        if error := small - (number - large):
            terms.append(error)
    return (*terms, number) if number else tuple(terms)


class Missing(NamedTuple):
    """Rewards that were not observed.

    Attributes
    ----------
    size
        How many there are, of those that may be nonzero.
    weights
        The weights of their edges, summed by type and edge-arm (types x K^2).
    """

    size: int
    weights: FloatArray

    @classmethod
    def none(cls, problem: Problem) -> Missing:
        """Return that nothing is missing."""
        return cls(0, np.zeros((problem.types, problem.K**2)))

    def add(
        self, problem: Problem, arms: IntArray, rewards: NDArray[np.bool_], sign: int
    ) -> Missing:
        """Return this with some rewards of an allocation more (``sign`` 1) or less (-1)."""
        size = self.size + sign * int(np.count_nonzero(rewards))
        if size == 0:  # sums of weights, unlike those of rewards, may be off by rounding
            return Missing.none(problem)
        edges = rewards[problem.report.index]
        return Missing(size, self.weights + sign * weigh(problem, arms, edges))

    def min_reward(self, ridge: Ridge, radius: float, floor: float | None) -> float:
        """Return a lower bound on their expected sum, valid if theta is in the confidence set.

        The largest of three, with q the sum of their edges' weighted edge-arms: ``min <q, theta>`` over
        the set; ``-S`` times the sum over types of ``||q||``, as no matrix has a larger norm; and the
        floor of each.
        """
        total = np.zeros_like(ridge.theta)
        table = ridge.whitened.reshape(*self.weights.shape, -1)
        np.add.at(total, ridge.block_of, np.einsum("gk,gks->gs", self.weights, table))
        norms = np.linalg.norm(self.weights @ ridge.problem.edge_arms, axis=1)
        bounds = [_min_inside(ridge, radius, total), -ridge.problem.S * float(norms.sum())]
        return max(bounds if floor is None else [*bounds, floor * self.size])


class Step(NamedTuple):
    """A trial: what was asked, where that leads, and whether it replaced a proposal."""

    trial: int
    allocation: IntArray
    target: IntArray | None = None
    substituted: bool = False


class Ledger(NamedTuple):
    """All rounds since the promise was made.

    Attributes
    ----------
    path
        The newest trial certainly played, the one before it, and the open ones since, by number.
    at_baseline
        The rounds at the baseline, and the rewards of those observed completely.
    away
        The rounds away from it, and their observed rewards.
    missing
        The rewards of the rounds away that were not observed.
    """

    path: tuple[Step, ...]
    at_baseline: Account
    away: Account
    missing: Missing

    @classmethod
    def start(cls, problem: Problem, current: IntArray) -> Ledger:
        """Return the ledger of no rounds of a plant that plays ``current``."""
        return cls((Step(0, current),), Account(), Account(), Missing.none(problem))

    def follow(self, step: Step) -> Ledger:
        """Return the ledger with an open trial in its path, unless a later one was played."""
        if step.trial < self.path[0].trial:
            return self
        return self._replace(path=tuple(sorted((*self.path, step), key=lambda step: step.trial)))

    def settle(self, trial: int, *, played: bool) -> Ledger:
        """Return the ledger once it is known whether a trial was played."""
        path, places = self.path, [k for k, step in enumerate(self.path) if step.trial == trial]
        if not places:
            return self
        last = places[-1]
        if played:  # the trial before it is in play again if this is taken back
            return self._replace(path=path[max(0, last - 1) :])
        return self._replace(path=path[:last] + path[last + 1 :] or path)


TYPES = (Ledger, Account, Missing, Step)
"""What a ledger is made of, for a log that decodes one."""


def as_good(ridge: Ridge, radius: float, one: IntArray, other: IntArray) -> bool:
    """Return whether the upper confidence bound of ``one`` is no less than that of ``other``."""
    bounds = [mean + radius * width for mean, width in map(ridge.total, (one, other))]
    return bounds[0] >= bounds[1] - TOLERANCE * abs(bounds[1])


def step_toward(ridge: Ridge, arms: IntArray, target: IntArray, limit: int) -> IntArray:
    """Return ``arms`` with the ``limit`` changes toward ``target`` that seem to gain most.

    One change after another, each the best by the estimate given those before it.
    """
    if np.count_nonzero(arms != target) <= limit:
        return target
    problem, means = ridge.problem, ridge.means
    source, end, types = problem.sources, problem.targets, problem.edge_types
    arms = arms.copy()
    for _ in range(limit):
        a, b = arms[source], arms[end]
        present = means[types, a, b]
        by_source = problem.edge_weights * (means[types, target[source], b] - present)
        by_end = problem.edge_weights * (means[types, a, target[end]] - present)
        gain: Any = np.bincount(source, weights=by_source, minlength=problem.n)
        gain += np.bincount(end, weights=by_end, minlength=problem.n)
        gain[arms == target] = -np.inf
        agent = int(np.argmax(gain))
        arms[agent] = target[agent]
    return arms


def way_out(
    ridge: Ridge, radius: float, arms: IntArray, target: IntArray, limit: int
) -> list[IntArray]:
    """Return the steps toward ``target`` up to the first with as high an upper bound as ``arms``."""
    steps = [step_toward(ridge, arms, target, limit)]
    while steps[-1] is not target and not as_good(ridge, radius, steps[-1], arms):
        steps.append(step_toward(ridge, steps[-1], target, limit))
    return steps


def way_home(arms: IntArray, baseline: IntArray, limit: int) -> Iterator[IntArray]:
    """Yield the allocations that lead back to the baseline, it included, ``limit`` agents a round."""
    while True:
        # In the order of their numbers: the way from each step is then the rest of the way, and every
        # suffix of a plan that was found safe is safe.
        away = np.flatnonzero(arms != baseline)[:limit]
        arms = arms.copy()
        arms[away] = baseline[away]
        yield arms
        if np.array_equal(arms, baseline):
            return
