"""A policy that never earns much less than a baseline that is known to work."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import InitVar, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.cuts import Cut
from gbb.learning.radius import check_radius, confidence_radius, default_radius
from gbb.learning.record import AnyRecord, empty, observe
from gbb.learning.ridge import Ridge
from gbb.policies import _accounts as accounts
from gbb.policies._learner import RidgeLearner
from gbb.policies._policy import DERIVED, AccountingPolicy, Choice, Learned, Policy, RecordPolicy
from gbb.policies.baselines import allowed_allocation
from gbb.policies.joint_oful import JointOFUL
from gbb.problem import Problem, check_lam

CONFIDENCES = ("symmetric", "complete")
"""Radii that are valid for every record; the paper's counts rounds."""

EVENTS = 3
"""What may fail: the confidence set, and the sums of rewards at the baseline and away from it."""


class ConservativeState(NamedTuple):
    """The inner policy's state, the record of everything seen, and the ledger of the rounds asked."""

    inner: Any
    record: AnyRecord
    ledger: accounts.Ledger


class Conservative(AccountingPolicy[ConservativeState]):
    """Plays what ``policy`` proposes if that is safe, and a known baseline otherwise.

    With r(a) the expected reward of a round with allocation a, and a_0 the baseline, it keeps

        ``r(a_1) + ... + r(a_t) >= (1 - eps) t r(a_0)``  for all t, with probability 1 - delta.

    After ``n`` rounds at the baseline and ``k`` away from it, in which N rewards sum to Y, a proposal a
    is played if

        ``Y - deviation(N) + low(a) + n r(a_0) >= (1 - eps) (n + k + 1) r(a_0)``,

    where ``deviation`` bounds the noise of N rewards, and ``low(a)`` is the least expected reward of a
    for any matrix of the confidence set. If the baseline's reward is not given, its lower or upper
    confidence bound takes its place, whichever makes the condition harder.

    With contexts ``baseline_reward`` may be a function of the context: r_t(a_0), the baseline's reward
    in a round with the context of round t. Then it keeps

        ``r_1(a_1) + ... + r_t(a_t) >= (1 - eps) (r_1(a_0) + ... + r_t(a_0))``  for all t,

    and a proposal a is played in round t if, with the sums over the rounds so far,

        ``Y - deviation(N) + low_t(a) + sum at a_0 of r_s(a_0) >= (1 - eps) (sum of r_s(a_0) +
        r_t(a_0))``.

    The left side less the right one grows by ``eps r_t(a_0) >= 0`` in a round at the baseline: if the
    promise holds before a round, whatever its context, the baseline keeps it.

    Parameters
    ----------
    problem
        What the learner knows.
    policy
        The inner policy, for the same problem: it must learn from records and keep no accounts of its
        own. ``JointOFUL`` over ``cut`` by default.
    baseline
        The allocation that is known to work, as arm indices or by name; everybody's first allowed
        arm by default. The plant is taken to play it before the first round.
    eps
        The share of the baseline's reward that may be lost, in sum and at any time; in (0, 1].
    baseline_reward
        The baseline's expected reward per round, summed over all edges; >= 0. Estimated from the
        rounds that play it by default. With contexts it may be a function of the context; a number, or
        an estimate, is for a baseline whose reward is the same in all of them.
    floor
        A lower bound on the expectation of every single reward of a round: 0 for powers. Rewards that
        are known to be 0, for want of edges or because their weights are 0, are exempt. Without it there
        is the confidence set alone, which says little at first.
    max_changes
        How many agents may change their arm from one round to the next; any number by default. Not
        together with contexts: the way home leads through rounds of unknown context.
    cut
        The cut of the default policy, the best one (:func:`gbb.cuts.best`) by default; that of
        ``policy``, if it has one, otherwise.
    lam
        The ridge regulariser of the confidence set, > 0.
    delta
        The promise may fail with this probability.
    confidence
        The radius of the confidence set: ``symmetric``, the default if it is valid, or ``complete``,
        which also learns from rewards of one direction of a link alone.
    shared_noise
        Whether the noise of the rewards of one round may depend on each other in any way: one wind for
        all turbines, one demand for all lights. If not, it is taken to be independent, so that it
        averages out over a round, and *the promise does not hold if it is not*. If so, the noise of a
        sum of o rewards counts as ``o sigma`` and not ``sqrt(o) sigma``, which holds for every
        dependence and costs ``sqrt(o)`` everywhere. In between, declare independence and a larger sigma:
        the square root of the largest eigenvalue of the covariance of one round's noise, if that is
        Gaussian.
    name
        The policy's name in results.

    Notes
    -----
    It assumes ``r(a_0) >= 0``, without which a share of it is no promise. If the upper bound on the
    baseline's reward falls below 0, the baseline is all that is played.

    ``max_changes`` holds in every round, also on the way back. A proposal that is more than
    ``max_changes`` agents away is approached by the changes that gain most by the estimate, unless the
    allocation in play, or its target, has as high an upper confidence bound. A step is taken only if the
    condition holds after it *and after every round of the way home*, agents returning in the order of
    their numbers. So there is always a way home that can be afforded. It does not set out before it can
    afford to get to a place that may be better than where it is.

    If the proposal is not safe, an allocation in play whose reward is known to be no less than the
    baseline's is kept.

    The promise holds for every matrix of the confidence set, so it needs the model: rewards linear in
    the edge-arms, and noise of scale ``sigma`` that is independent between rounds and, without
    ``shared_noise``, between the rewards of a round. Past rounds count by their observed rewards alone,
    so that an error of the model is noticed in the round that it misleads.

    ``absorb`` teaches this policy and the inner one without counting towards the promise, which is about
    the rounds that it plays itself.

    Rewards may be late, partial or lost. A round counts from the moment it is asked (:meth:`on_ask`);
    one that was not played after all is taken back, and with it what it had added to the budget. Of the
    rounds away from the baseline let N rewards be observed, which sum to Y, and let q be the sum of the
    weighted edge-arms of all the others: of open rounds, of partial reports, and of rounds that failed.
    Then these rounds earned at least

        ``Y - deviation(N) + max(min <q, theta> over the set, -S ||q||, floor times their number)``,

    which takes the place of ``Y - deviation(N)`` above. The sum of the observed rewards is within
    ``deviation(N)`` of its mean for all N at once, and the present set holds the truth, whichever
    rewards q sums: these are the events that the promise needs when nothing is missing, so that it holds
    with the same probability. It requires that the values of rewards decide neither which of them are
    missing nor how late they come. With ``symmetric`` both directions of a link count as missing if one
    is, as the set bounds their sum only. If less than half of the record was seen in both directions,
    the set is that of the whole record in all dimensions (:class:`gbb.policies.RidgeLearner`). The
    baseline's reward is estimated from completely observed rounds, and if there are others by the
    set as well.

    An arm in play that is no longer allowed gives way to the agent's arm in the baseline at once,
    whatever ``max_changes`` says; if that leaves no way home that can be afforded, it goes home all the
    same.

    References
    ----------
    Kazerouni, Ghavamzadeh, Abbasi-Yadkori and Van Roy (2017), "Conservative contextual linear bandits":
    the condition, with the confidence set for the past as well. Here the past is what was observed,
    in one dimension in place of d^2; and there are floors, limited changes and a way home.
    """

    policy: RecordPolicy[Any] = DERIVED
    baseline: IntArray = DERIVED
    eps: float = 0.03
    baseline_reward: float | Callable[[Any], float] | None = None
    floor: float | None = None
    max_changes: int | None = None
    cut: InitVar[Cut] = DERIVED  # no setting of its own: the policy inside has it
    lam: float = 1.0
    delta: float = 1e-3
    confidence: str = DERIVED
    shared_noise: bool = False

    requires = ""
    state_types = (*RecordPolicy.state_types, ConservativeState, *accounts.TYPES)

    def __post_init__(self, cut: Cut) -> None:
        super().__post_init__()
        problem = self.problem
        confidence = self.confidence or default_radius(problem)
        self._set("confidence", checks.choice("confidence", confidence, CONFIDENCES))
        check_radius(problem, self.confidence)
        if self.policy is DERIVED:
            radius = default_radius(problem)
            inner = JointOFUL(problem, cut=cut, lam=self.lam, delta=self.delta, radius=radius)
            self._set("policy", inner)  # with all of delta: its proposals need not be safe
        self._check_policy()
        self._set("cut", getattr(self.policy, "cut", None))
        self._set("controllable", self.policy.controllable)

        self._set("baseline", allowed_allocation(problem, "baseline", self.baseline))
        self._set("eps", checks.real("eps", self.eps, low=0.0, low_open=True, high=1.0))
        self._set("shared_noise", checks.truth("shared_noise", self.shared_noise))
        self._set("lam", check_lam(self.lam))
        self._set("delta", checks.real("delta", self.delta, low=0.0, low_open=True, high=1.0))
        if self.floor is not None:
            self._set("floor", checks.real("floor", self.floor))
        if self.max_changes is not None:
            if problem.root.contexts is not None:
                raise checks.conflict(
                    "`max_changes` cannot be combined with contexts: the way home leads through "
                    "rounds of unknown context."
                )
            self._set("max_changes", checks.integer("max_changes", self.max_changes, low=1))
        if callable(self.baseline_reward):
            if problem.root.contexts is None:
                rule = "be a number for a problem without contexts"
                raise checks.input_error("baseline_reward", rule, "a function")
            _ = self._weight  # checked here, or an error would come in the middle of a round
        elif self.baseline_reward is not None:
            reward = checks.real("baseline_reward", self.baseline_reward, low=0.0)
            self._set("baseline_reward", reward)

    def _check_policy(self) -> None:
        policy: Any = self.policy
        if not isinstance(policy, Policy) or policy.problem is not self.problem:
            cure = "Build it on this Problem."
            rule = "be a policy for the same problem"
            raise checks.input_error("policy", rule, repr(policy), cure)
        if not isinstance(policy, RecordPolicy) or isinstance(policy, AccountingPolicy):
            rule = "learn from records and keep no accounts of its own"
            cure = "JointOFUL and ThompsonSampling do."
            raise checks.input_error("policy", rule, type(policy).__name__, cure)

    @cached_property
    def _weight(self) -> float:
        """What a round counts: its baseline reward if that is a function of the context, else 1."""
        if not callable(self.baseline_reward):
            return 1.0
        if self.problem.contexts is not None:  # no round in particular
            return math.nan
        return checks.real("baseline_reward", self.baseline_reward(self.problem.context), low=0.0)

    @property
    def learner(self) -> RidgeLearner:
        """What makes the confidence set."""
        symmetric = self.confidence == "symmetric"
        return RidgeLearner(lam=self.lam, symmetric=symmetric, delta=self.delta / EVENTS)

    def _on_round(self, problem: Problem) -> Conservative:
        return replace(self, problem=problem, policy=self.policy.on(problem))

    def init(self, current: IntArray | None = None) -> ConservativeState:
        ledger = accounts.Ledger.start(self.problem, self.baseline if current is None else current)
        return ConservativeState(self.policy.init(), empty(self.problem), ledger)

    def update(
        self, state: ConservativeState, choice: Choice, rewards: FloatArray
    ) -> ConservativeState:
        record = observe(self.problem, choice.allocation, rewards)  # which checks the rewards
        closed = self.on_close(self.on_ask(state, 0, choice), 0, choice, np.asarray(rewards, float))
        return self.absorb(closed, choice, record)

    def absorb(
        self, state: ConservativeState, choice: Choice | None, record: AnyRecord, *, rounds: int = 1
    ) -> ConservativeState:
        # The inner policy did not choose the allocation that replaced its proposal.
        choice = None if choice is None or choice.substituted else choice
        inner = self.policy.absorb(state.inner, choice, record, rounds=rounds)
        return state._replace(inner=inner, record=state.record.merge(record))

    def relearn(
        self, state: ConservativeState, record: AnyRecord, *, rounds: int
    ) -> ConservativeState:
        inner = self.policy.relearn(state.inner, record, rounds=rounds)
        return state._replace(inner=inner, record=record)

    def on_ask(self, state: ConservativeState, trial: int, choice: Choice) -> ConservativeState:
        step = accounts.Step(trial, choice.allocation, choice.target, choice.substituted)
        return state._replace(ledger=self._count(state.ledger.follow(step), choice, 1))

    def on_close(
        self, state: ConservativeState, trial: int, choice: Choice, rewards: FloatArray | None
    ) -> ConservativeState:
        ledger = state.ledger.settle(trial, played=rewards is not None)
        sign = -1 if rewards is None else 1  # a round that was not played is taken off the books
        return state._replace(ledger=self._count(ledger, choice, sign, rewards))

    def on_reopen(
        self, state: ConservativeState, trial: int, choice: Choice, rewards: FloatArray | None
    ) -> ConservativeState:
        if rewards is None:
            return self.on_ask(state, trial, choice)
        return state._replace(ledger=self._count(state.ledger, choice, -1, rewards))

    def _count(
        self, ledger: accounts.Ledger, choice: Choice, sign: int, rewards: FloatArray | None = None
    ) -> accounts.Ledger:
        """Return the ledger with a round, or with its rewards, more (``sign`` 1) or less (-1)."""
        problem, arms, nonzero = self.problem, choice.allocation, self.problem.report.nonzero
        at_baseline, missing, more = np.array_equal(arms, self.baseline), nonzero, sign
        account = ledger.at_baseline if at_baseline else ledger.away
        if rewards is None:  # of a round that is asked for, all rewards are missing
            account = account.add_round(sign, self._weight)
        else:
            observed = nonzero & ~np.isnan(rewards)
            if self.confidence == "symmetric" and problem.feedback == "edge":
                # The set of symmetric parts bounds the sum of both directions alone. The rule must not
                # follow which set is in force: what is added now may be taken back under the other one.
                observed &= observed[problem.graph.reverse]
            if at_baseline and not np.array_equal(observed, nonzero):
                return ledger  # the baseline's reward is estimated from whole rounds
            account = account.add_rewards(sign, rewards[observed], complete=at_baseline)
            missing, more = observed, -sign
        if at_baseline:
            return ledger._replace(at_baseline=account)
        return ledger._replace(
            away=account, missing=ledger.missing.add(problem, arms, missing, more)
        )

    def select(self, state: ConservativeState, rng: np.random.Generator) -> Choice:
        proposal, limit = self.policy.select(state.inner, rng), self.max_changes or self.problem.n
        promise, ridge, radius = self._promise(state)
        # An arm that is no longer allowed gives way at once, and so does a target that has one.
        last, agents, allowed = (
            state.ledger.path[-1],
            np.arange(self.problem.n),
            self.problem.allowed,
        )
        current = np.where(allowed[agents, last.allocation], last.allocation, self.baseline)
        goal = proposal.allocation
        if np.count_nonzero(goal != current) > limit:
            # Neither leave nor turn for what is no better: mirror images of an allocation are common.
            others = [current]
            if last.target is not None and allowed[agents, last.target].all():
                others.append(last.target)
            better = (arms for arms in others if accounts.as_good(ridge, radius, arms, goal))
            goal = next(better, goal)
        steps = accounts.way_out(ridge, radius, current, goal, limit)

        def min_reward(arms: IntArray) -> float:
            return accounts.min_reward(ridge, radius, arms, self.floor)

        def affordable(*plan: IntArray) -> bool:
            after = promise
            for arms in chain(plan, accounts.way_home(plan[-1], self.baseline, limit)):
                at_baseline = np.array_equal(arms, self.baseline)
                after = after.after(None if at_baseline else min_reward(arms))
                if not after.margin >= 0.0:  # nor if it is NaN
                    return False
            return True

        # Below 0 a share of the baseline's reward would be no promise.
        if promise.max_baseline >= 0.0:
            # It does not set out before it can afford all of the way: it would turn back halfway.
            if affordable(steps[0]) and (len(steps) == 1 or affordable(*steps)):
                if np.array_equal(steps[0], proposal.allocation):
                    return proposal
                target = None if steps[0] is goal else goal
                return Choice(steps[0], target=target, substituted=True)
            reward = promise.max_baseline * promise.weight
            if min_reward(current) >= reward and affordable(current):
                return Choice(current, substituted=True)
        home = next(accounts.way_home(current, self.baseline, limit))
        return Choice(home, substituted=True)

    def _promise(self, state: ConservativeState) -> tuple[accounts.Promise, Ridge, float]:
        """Return what was earned at least, and the estimate and the radius of the confidence set."""
        _, at_baseline, away, missing = state.ledger
        posterior = self.learner.posterior(self.problem, Learned(0, state.record))
        ridge, scale = posterior.ridge, accounts.noise_scale(self.problem, shared=self.shared_noise)
        # Missing rewards are of rounds with any context: the root's set has all matrices, and not only
        # those in play now.
        radius, root_radius = (
            confidence_radius(ridge.at(problem), posterior.delta, shrinking=True, scale=scale)
            for problem in (self.problem, self.problem.root)
        )
        # The three events at delta / 3: this deviation, that of the baseline's rewards, and the set.
        earned = math.fsum(away.rewards) - self._deviation(away.observed)
        if self.floor is not None:
            earned = max(earned, self.floor * away.observed)
        if missing.size:
            earned += missing.min_reward(ridge, root_radius, self.floor)
        low, high = self.baseline_bounds(state)
        estimated = self.baseline_reward is None and self.problem.contexts is None
        if estimated and at_baseline.rounds > at_baseline.complete:
            mean, width = ridge.total(self.baseline)
            low, high = max(low, mean - radius * width), min(high, mean + radius * width)
        rounds = math.fsum(at_baseline.weights), math.fsum(away.weights)
        promise = accounts.Promise(self.eps, self._weight, *rounds, earned, low, high)
        return promise, ridge, radius

    def _deviation(self, count: int) -> float:
        scale = accounts.noise_scale(self.problem, shared=self.shared_noise)
        return accounts.deviation(self.problem, count, self.delta / EVENTS, scale)

    def baseline_bounds(self, state: ConservativeState) -> tuple[float, float]:
        """Return bounds on the baseline's reward per round of weight 1, by its complete rounds."""
        if self.baseline_reward is not None:
            reward = 1.0 if callable(self.baseline_reward) else self.baseline_reward
            return reward, reward
        account = state.ledger.at_baseline
        if account.observed == 0:
            return 0.0, math.inf
        total, error = math.fsum(account.rewards), self._deviation(account.observed)
        low, high = (total - error) / account.complete, (total + error) / account.complete
        return max(low, 0.0), high

    def report(self, state: ConservativeState) -> dict[str, Any]:
        """Return what was promised and earned so far, and what of the budget is used and left.

        ``budget`` is ``eps t r(a_0)`` after t rounds, ``left`` what may be lost at once without breaking
        the promise, and ``used`` the share of the budget that is or may be gone: 0 if as much as the
        baseline's reward was certainly earned.
        """
        path, at_baseline, away, missing = state.ledger
        return {
            "policy": self.policy.name,
            "eps": self.eps,
            "max_changes": self.max_changes,
            "at_baseline": at_baseline.rounds,
            "away": away.rounds,
            "missing": missing.size,
            **self._promise(state)[0].report(),
            "substituted": path[-1].substituted,
            "baseline": self.baseline.tolist(),
        }
