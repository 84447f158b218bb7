"""Any policy, held back so that it never earns much less than a plan that is known to work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.cuts import Cut, KCut, greedy
from gbb.learning.radius import check_radius, confidence_radius, default_radius
from gbb.learning.record import AnyRecord, empty, observe
from gbb.learning.ridge import Ridge
from gbb.policies._base import AnyPolicy, Choice, Policy, playable
from gbb.policies._safety.accounts import Account, Accounts, deviation, noise_scale, paying
from gbb.policies._safety.steps import as_good, way_home, way_out
from gbb.policies.joint_oful import JointOFUL
from gbb.problem import Problem, check_lam

CONFIDENCES = ("symmetric", "complete")
"""Radii that hold for whatever record was absorbed; the paper's counts rounds."""

EVENTS = 3
"""What must not fail: the confidence set, and the sums of the rounds at and away from the baseline."""


class Guarded(NamedTuple):
    """State: the inner policy's, all that was seen, what was played last, whereto, and two accounts."""

    inner: Any
    record: AnyRecord
    last: IntArray
    target: IntArray | None
    at_baseline: Account
    away: Account


class Conservative(Policy[Guarded]):
    """Plays what ``policy`` proposes when that is safe, and a known baseline otherwise.

    With r(a) the expected reward of a round with allocation a, and b the baseline, it keeps

        ``r(a_1) + ... + r(a_t) >= (1 - eps) t r(b)``  for all t, with probability 1 - delta.

    After ``n`` rounds at the baseline and ``k`` away from it, which paid Y in sum, a proposal a is
    played if

        ``Y - deviation(k) + low(a) + n r(b) >= (1 - eps) (n + k + 1) r(b)``,

    where ``deviation`` bounds the noise of those k rounds and ``low(a)`` is the least that a pays for
    any matrix of the confidence set. When the baseline's reward is not given, the least or most that its
    own rounds leave possible is put in its place, whichever makes the condition harder.

    Parameters
    ----------
    problem
        What the learner knows.
    policy
        The policy to hold back, for the same problem; ``JointOFUL`` over ``cut`` when left out.
    baseline
        The allocation that is known to work, as arm indices or by name; everybody's first allowed
        arm when left out. The plant is taken to play it before the first round.
    eps
        The share of the baseline's reward that may be lost, in sum and at any time; in (0, 1].
    baseline_reward
        What the baseline is known to pay per round, summed over all edges; >= 0. Estimated from the
        rounds that play it when left out.
    floor
        The least that one number of a round's rewards can be in expectation: 0 for powers. It is not
        said of numbers that are known to pay 0, for want of edges or because their weights are 0.
        Without it the confidence set is all there is, which at first says little.
    max_changes
        How many agents may change their arm from one round to the next; any number when left out.
    cut
        For the default policy: the paper's greedy cut when left out.
    lam
        The ridge regulariser of the confidence set, > 0.
    delta
        The promise may fail with this probability.
    confidence
        The radius of the confidence set: ``symmetric``, the default where it is valid, or ``complete``,
        which is valid as well after absorbing a log in which rewards are missing.
    shared_noise
        Whether the numbers of one round may be off together, in any way: one wind for all turbines, one
        demand for all lights. Off, their noise is taken to be independent, so that it averages out
        over a round, and *the promise does not hold if it is not*. On, the noise of a sum of o numbers
        counts as ``o sigma`` and not ``sqrt(o) sigma``, which holds for all dependence and costs
        ``sqrt(o)`` on everything. In between, off with a larger sigma: the square root of the
        largest eigenvalue of the covariance of one round's noise, if that is Gaussian.
    name
        How results call this policy.

    Notes
    -----
    It assumes ``r(b) >= 0``, without which a share of it is no promise. If the baseline turns out to pay
    less than 0, the baseline is all that is played.

    ``max_changes`` holds in every round, also on the way back. A proposal that is more than
    ``max_changes`` agents away is approached by the changes that gain most by the estimate, unless the
    allocation in play, or the one that it was heading for, has as high an upper confidence bound. A
    step is taken only if the condition holds after it *and after every round of the way home*, agents
    returning in the order of their numbers. So there is always a way home that can be afforded. It
    does not set out before it can afford to get to a place that may be better than where it is.

    An allocation in play that is known to pay no less than the baseline is kept in its stead.

    The promise holds for all that the confidence set allows, so it needs the model: rewards linear in
    the edge-arms, and noise of scale ``sigma`` that is independent between rounds and, without
    ``shared_noise``, between the numbers of a round. Of the past, though, only what was paid is
    counted, so that an error of the model is noticed in the round that it misleads.

    ``absorb`` teaches this policy and the inner one without counting towards the promise, which is about
    the rounds that it plays itself.

    References
    ----------
    Kazerouni, Ghavamzadeh, Abbasi-Yadkori and Van Roy (2017), "Conservative contextual linear bandits":
    the condition, with the confidence set for the past as well. Here the past is what was observed,
    in one dimension in place of d^2; and there are floors, limited changes and a way home.
    """

    controllable = False  # it keeps accounts, and holds a policy among its settings
    plays_any_problem = True

    def __init__(
        self,
        problem: Problem,
        *,
        policy: AnyPolicy | None = None,
        baseline: ArrayLike | Mapping[str, str] | None = None,
        eps: float = 0.03,
        baseline_reward: float | None = None,
        floor: float | None = None,
        max_changes: int | None = None,
        cut: Cut | KCut | None = None,
        lam: float = 1.0,
        delta: float = 1e-3,
        confidence: str | None = None,
        shared_noise: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(problem, name=name)
        valid = default_radius(problem)
        self.confidence = checks.choice("confidence", confidence or valid, CONFIDENCES)
        check_radius(problem, self.confidence)
        if policy is None:
            cut = greedy(problem.graph) if cut is None else cut
            policy = JointOFUL(problem, cut=cut, lam=lam, delta=delta, radius=valid)
        elif not isinstance(policy, Policy) or policy.problem is not problem:
            raise checks.input_error("policy", "be a policy for the same problem", repr(policy))
        self.policy: AnyPolicy = policy
        self.cut = policy.cut
        self.paying = paying(problem)
        if not isinstance(shared_noise, bool | np.bool_):
            raise checks.input_error("shared_noise", "be True or False", repr(shared_noise))
        self.shared_noise = bool(shared_noise)
        self._scale = noise_scale(problem, self.shared_noise)
        self.baseline = playable(problem, "baseline", baseline)
        self.eps = checks.real("eps", eps, low=0.0, low_open=True, high=1.0)
        self.baseline_reward = _optional("baseline_reward", baseline_reward, low=0.0)
        self.floor = _optional("floor", floor)
        self.max_changes = (
            None if max_changes is None else checks.integer("max_changes", max_changes, low=1)
        )
        self.lam: float = check_lam(lam)
        self.delta: float = checks.real("delta", delta, low=0.0, low_open=True, high=1.0)

    def init(self) -> Guarded:
        return Guarded(
            self.policy.init(), empty(self.problem), self.baseline, None, Account(), Account()
        )

    def select(self, state: Guarded, rng: np.random.Generator) -> Choice:
        return self._guard(state, self.policy.select(state.inner, rng))

    def select_within(
        self, state: Guarded, rng: np.random.Generator, allowed: NDArray[np.bool_]
    ) -> Choice:
        return self._guard(state, self.policy.select_within(state.inner, rng, allowed))

    def update(self, state: Guarded, choice: Choice, rewards: FloatArray) -> Guarded:
        rewards = self.problem.rewards(rewards)
        seen = observe(self.problem, choice.allocation, rewards)
        paid = float(rewards[self.paying].sum())
        home = np.array_equal(choice.allocation, self.baseline)
        return Guarded(
            self._teach(state.inner, choice, rewards, seen),
            state.record.merge(seen),
            choice.allocation,
            choice.target,
            state.at_baseline.add(paid) if home else state.at_baseline,
            state.away if home else state.away.add(paid),
        )

    def absorb(
        self, state: Guarded, choice: Choice | None, seen: AnyRecord, *, rounds: int = 1
    ) -> Guarded:
        inner = self.policy.absorb(state.inner, choice, seen, rounds=rounds)
        return state._replace(inner=inner, record=state.record.merge(seen))

    def _teach(self, inner: Any, choice: Choice, rewards: FloatArray, seen: AnyRecord) -> Any:
        """The inner policy's state after a round that it chose, or that was played in its stead."""
        if not choice.substituted:
            return self.policy.update(inner, choice, rewards)
        if not self.policy.off_policy:
            return inner
        if self.policy.controllable:
            return self.policy.absorb(inner, None, seen)
        return self.policy.update(inner, choice, rewards)

    def _guard(self, state: Guarded, proposal: Choice) -> Choice:
        books = self._accounts(state)
        ridge, radius, last = books.ridge, books.radius, state.last
        limit = self.problem.n if self.max_changes is None else self.max_changes
        wanted = proposal.allocation
        if np.count_nonzero(wanted != last) > limit:
            # Neither leave nor turn for what is no better: mirror images of a plan are common.
            others = [arms for arms in (last, state.target) if arms is not None]
            wanted = next((a for a in others if as_good(ridge, radius, a, wanted)), wanted)
        steps = way_out(ridge, radius, last, wanted, limit)

        def back(*plan: IntArray) -> Iterator[IntArray]:
            return chain(plan, way_home(plan[-1], self.baseline, limit))

        sound = books.most >= 0.0
        if sound and books.safe(back(steps[0])) and (len(steps) == 1 or books.safe(back(*steps))):
            if np.array_equal(steps[0], proposal.allocation):
                return proposal
            target = None if steps[0] is wanted else wanted
            return Choice(steps[0], target=target, substituted=True)
        if sound and books.low(last) >= books.most and books.safe(back(last)):
            return Choice(last, substituted=True)
        home = next(way_home(last, self.baseline, limit))
        return Choice(home, substituted=True)

    def _accounts(self, state: Guarded) -> Accounts:
        delta = self.delta / EVENTS
        halves = self.confidence == "symmetric"
        ridge = Ridge(self.problem, state.record, self.lam, symmetric=halves)
        away = state.away.rounds
        earned = state.away.paid - deviation(self.problem, away, delta, scale=self._scale)
        if self.floor is not None:
            earned = max(earned, self.floor * float(np.count_nonzero(self.paying)) * away)
        least, most = self.baseline_bounds(state)
        return Accounts(
            ridge=ridge,
            radius=confidence_radius(ridge, delta, shrinking=True, scale=self._scale),
            baseline=self.baseline,
            least=least,
            most=most,
            eps=self.eps,
            floor=self.floor,
            rounds=(state.at_baseline.rounds, away),
            earned=earned,
        )

    def baseline_bounds(self, state: Guarded) -> tuple[float, float]:
        """The least and the most that the baseline may pay per round, given what it paid."""
        if self.baseline_reward is not None:
            return self.baseline_reward, self.baseline_reward
        rounds, paid = state.at_baseline
        if rounds == 0:
            return 0.0, np.inf
        off = deviation(self.problem, rounds, self.delta / EVENTS, scale=self._scale)
        return max((paid - off) / rounds, 0.0), (paid + off) / rounds


def _optional(name: str, value: float | None, low: float = -np.inf) -> float | None:
    return None if value is None else checks.real(name, value, low=low)
