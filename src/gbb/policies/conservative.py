"""Any policy, held back so that it never earns much less than a plan that is known to work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.cuts import Cut, KCut, greedy
from gbb.learning.radius import check_radius, confidence_radius, default_radius, delta_after
from gbb.learning.record import AnyRecord, empty, observe
from gbb.learning.ridge import Ridge
from gbb.policies._base import AnyPolicy, Choice, Policy, playable
from gbb.policies._safety.accounts import (
    Accounts,
    deviation_of,
    least_missing,
    noise_scale,
    paying,
)
from gbb.policies._safety.ledger import Account, Ledger, Rules, Step
from gbb.policies._safety.steps import as_good, way_home, way_out
from gbb.policies.joint_oful import JointOFUL
from gbb.problem import Problem, check_lam

CONFIDENCES = ("symmetric", "complete")
"""Radii that hold for whatever record was absorbed; the paper's counts rounds."""

EVENTS = 3
"""What must not fail: the confidence set, and the sums of the rounds at and away from the baseline."""


class Guarded(NamedTuple):
    """State: the inner policy's, all that was seen, and what was asked and told since it began."""

    inner: Any
    record: AnyRecord
    ledger: Ledger

    @property
    def at_baseline(self) -> Account:
        """The rounds at the baseline."""
        return self.ledger.at_baseline

    @property
    def away(self) -> Account:
        """The rounds away from it."""
        return self.ledger.away

    @property
    def last(self) -> Step:
        """What the plant plays now."""
        return self.ledger.path[-1]


class Conservative(Policy[Guarded]):
    """Plays what ``policy`` proposes when that is safe, and a known baseline otherwise.

    With r(a) the expected reward of a round with allocation a, and a_0 the baseline, it keeps

        ``r(a_1) + ... + r(a_t) >= (1 - eps) t r(a_0)``  for all t, with probability 1 - delta.

    After ``n`` rounds at the baseline and ``k`` away from it, which paid Y in sum, a proposal a is
    played if

        ``Y - deviation(k) + low(a) + n r(a_0) >= (1 - eps) (n + k + 1) r(a_0)``,

    where ``deviation`` bounds the noise of those k rounds and ``low(a)`` is the least that a pays for
    any matrix of the confidence set. When the baseline's reward is not given, the least or most that its
    own rounds leave possible is put in its place, whichever makes the condition harder.

    Where contexts change what the baseline pays, ``baseline_reward`` is a function: it says
    r_t(a_0), what the baseline pays in a round with the context of round t. What is kept is then

        ``r_1(a_1) + ... + r_t(a_t) >= (1 - eps) (r_1(a_0) + ... + r_t(a_0))``  for all t,

    and a proposal a is played in round t if, with the sums over the rounds so far,

        ``Y - deviation(k) + low_t(a) + sum at a_0 of r_s(a_0) >= (1 - eps) (sum of r_s(a_0) +
        r_t(a_0))``.

    The left side less the right one grows by ``eps r_t(a_0) >= 0`` in a round at the baseline: if the
    promise is kept before a round, whatever its context, the baseline keeps it.

    Rewards may come late, in part or never (see the notes): what is missing counts as the least that is
    possible, so that the promise does not wait for it.

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
        rounds that play it when left out. With contexts it may be a function of the context; a number,
        or an estimate, is for a baseline that pays the same in all of them.
    floor
        The least that one number of a round's rewards can be in expectation: 0 for powers. It is not
        said of numbers that are known to pay 0, for want of edges or because their weights are 0.
        Without it the confidence set is all there is, which at first says little.
    max_changes
        How many agents may change their arm from one round to the next; any number when left out. Not
        together with contexts: the way home leads through rounds whose context nobody knows.
    cut
        For the default policy: the paper's greedy cut when left out.
    lam
        The ridge regulariser of the confidence set, > 0.
    delta
        The promise may fail with this probability.
    confidence
        The radius of the confidence set: ``symmetric``, the default where it is valid, or ``complete``,
        which is valid as well after absorbing a log in which rewards are missing, and uses rewards that
        are told of one direction of a link only.
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
    It assumes ``r(a_0) >= 0``, without which a share of it is no promise. If the
    baseline turns out to pay less than 0, the baseline is all that is played.

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

    A round counts from the moment it is asked (:meth:`begin`), for a plant plays what it was asked to;
    one that was not played after all is taken back, and with it what it had added to the budget. Of the
    rounds away from the baseline let N numbers have been told, which paid Y, and let q be the sum of the
    weighted edge-arms of all the others: of rounds still open, left out of a report, or of rounds that
    failed. Then these rounds earned at least

        ``Y - deviation(N) + max(min <q, theta> over the set, -S ||q||, floor times their number)``,

    which takes the place of ``Y - deviation(k)`` above. The sum of the told numbers is within
    ``deviation(N)`` of its mean for all N at once, and the present set holds the truth, whichever
    numbers q sums: these are the events that the promise needs when all is told, so that it holds with
    the same probability 1 - delta. What it takes is that what the numbers say decides neither which of
    them are missing nor how late they come. With ``symmetric`` both directions of a link count as
    missing where one is, as the set knows only their sum. The baseline's own reward is estimated from
    rounds of which everything was told, and where there are others by the set as well.

    An arm in play that is no longer allowed gives way to the agent's arm in the baseline at once,
    whatever ``max_changes`` says; if that leaves no way home that can be afforded, it goes home all the
    same.

    References
    ----------
    Kazerouni, Ghavamzadeh, Abbasi-Yadkori and Van Roy (2017), "Conservative contextual linear bandits":
    the condition, with the confidence set for the past as well. Here the past is what was observed,
    in one dimension in place of d^2; and there are floors, limited changes and a way home.
    """

    plays_any_problem = True
    needs_allowed = True

    def __init__(
        self,
        problem: Problem,
        *,
        policy: AnyPolicy | None = None,
        baseline: ArrayLike | Mapping[str, str] | None = None,
        eps: float = 0.03,
        baseline_reward: float | Callable[[Any], float] | None = None,
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
        self.baseline_reward, self._worth = _check_worth(problem, baseline_reward)
        if max_changes is not None and problem.whole.contexts is not None:
            raise checks.conflict(
                "`max_changes` cannot be combined with contexts: the way home leads through rounds "
                "whose context nobody knows."
            )
        self.floor = _optional("floor", floor)
        self.max_changes = (
            None if max_changes is None else checks.integer("max_changes", max_changes, low=1)
        )
        self.lam: float = check_lam(lam)
        self.delta: float = checks.real("delta", delta, low=0.0, low_open=True, high=1.0)
        self.controllable = policy.controllable
        self.learns_two_way = self.confidence == "symmetric" or policy.learns_two_way
        self._delta_of_set = self.delta / EVENTS
        two_way = self.confidence == "symmetric"
        self._rules = Rules(problem, self.baseline, self.paying, two_way, self._worth or 0.0)

    @property
    def _by_context(self) -> bool:
        """Whether it is known round by round what the baseline pays."""
        return callable(self.baseline_reward)

    @cached_property
    def in_all_dimensions(self) -> Conservative:
        """The same policy, which learns no halves; a set that takes the place of theirs has a delta

        of its own, as for :class:`~gbb.policies.IndexPolicy`.
        """
        if not self.learns_two_way:
            return self
        given = {**self.settings(), "policy": self.policy.in_all_dimensions}
        other = type(self)(self.problem, **{**given, "confidence": "complete"})
        if self.confidence == "symmetric":
            other._delta_of_set = delta_after(1, self._delta_of_set)
        return other

    def rebuild(self, problem: Problem) -> Conservative:
        other = type(self)(problem, **{**self.settings(), "policy": self.policy.on(problem)})
        other._delta_of_set = self._delta_of_set
        return other

    def settings(self) -> dict[str, Any]:
        given = super().settings()
        del given["cut"]  # the policy inside has it
        return given

    def init(self) -> Guarded:
        return self.start(None)

    def start(self, last: IntArray | None) -> Guarded:
        ledger = Ledger.start(self.problem, self.baseline if last is None else last)
        return Guarded(self.policy.start(last), empty(self.problem), ledger)

    def restart(self, state: Guarded) -> Guarded:
        inner = self.policy.restart(state.inner)
        return state._replace(inner=inner, record=empty(self.problem))

    def select(self, state: Guarded, rng: np.random.Generator) -> Choice:
        return self._guard(state, self.policy.select(state.inner, rng))

    def select_within(
        self, state: Guarded, rng: np.random.Generator, allowed: NDArray[np.bool_]
    ) -> Choice:
        return self._guard(state, self.policy.select_within(state.inner, rng, allowed))

    def begin(self, state: Guarded, trial: int, choice: Choice) -> Guarded:
        inner = self.policy.begin(state.inner, trial, choice)
        step = Step(trial, choice.allocation, choice.target, choice.substituted)
        return state._replace(inner=inner, ledger=state.ledger.begin(self._rules, step))

    def close(self, state: Guarded, trial: int, choice: Choice, paid: FloatArray | None) -> Guarded:
        inner = self.policy.close(state.inner, trial, choice, paid)
        ledger = state.ledger.close(self._rules, trial, choice.allocation, paid)
        return state._replace(inner=inner, ledger=ledger)

    def reopen(
        self, state: Guarded, trial: int, choice: Choice, paid: FloatArray | None
    ) -> Guarded:
        inner = self.policy.reopen(state.inner, trial, choice, paid)
        ledger = state.ledger.reopen(self._rules, trial, choice.allocation, paid)
        return state._replace(inner=inner, ledger=ledger)

    def update(self, state: Guarded, choice: Choice, rewards: FloatArray) -> Guarded:
        rewards = self.problem.rewards(rewards)
        seen = observe(self.problem, choice.allocation, rewards)
        after = self.close(self.begin(state, 0, choice), 0, choice, rewards)
        if self.policy.controllable or (choice.substituted and not self.policy.off_policy):
            return self.absorb(after, choice, seen)
        inner = self.policy.update(state.inner, choice, rewards)  # which is all of it in one
        return after._replace(inner=inner, record=state.record.merge(seen))

    def absorb(
        self, state: Guarded, choice: Choice | None, seen: AnyRecord, *, rounds: int = 1
    ) -> Guarded:
        inner, in_its_place = state.inner, choice is not None and choice.substituted
        if self.policy.off_policy or not in_its_place:
            own = None if in_its_place else choice
            inner = self.policy.absorb(inner, own, seen, rounds=rounds)
        return state._replace(inner=inner, record=state.record.merge(seen))

    def _guard(self, state: Guarded, proposal: Choice) -> Choice:
        books = self._accounts(state)
        ridge, radius = books.ridge, books.radius
        last, heading = self._in_play(state)
        limit = self.problem.n if self.max_changes is None else self.max_changes
        wanted = proposal.allocation
        if np.count_nonzero(wanted != last) > limit:
            # Neither leave nor turn for what is no better: mirror images of a plan are common.
            others = [arms for arms in (last, heading) if arms is not None]
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

    def _in_play(self, state: Guarded) -> tuple[IntArray, IntArray | None]:
        """What is played now and where that was heading, as far as it is still allowed."""
        agents, (_, last, heading, _) = np.arange(self.problem.n), state.last
        last = np.where(self.problem.allowed[agents, last], last, self.baseline)
        if heading is not None and not self.problem.allowed[agents, heading].all():
            heading = None
        return last, heading

    def _accounts(self, state: Guarded) -> Accounts:
        halves = self.confidence == "symmetric"
        ridge = self.ridge(state.record, self.lam, symmetric=halves)
        radius = self._radius(ridge)
        told = state.away.told
        earned = state.away.paid - self._deviation(told)
        if self.floor is not None:
            earned = max(earned, self.floor * told)
        if state.ledger.missing.numbers:
            # Of rounds with any context: of all matrices, not only of those in play now.
            wide = self._radius(ridge.at(self.problem.whole))
            earned += least_missing(ridge, wide, state.ledger.missing, self.floor)
        least, most = self.baseline_bounds(state)
        torn = state.at_baseline.rounds > state.at_baseline.whole
        if torn and self.baseline_reward is None and self.problem.contexts is None:
            mean, width = ridge.total(self.baseline)
            least = max(least, mean - radius * width)
            most = min(most, mean + radius * width)
        return Accounts(
            ridge=ridge,
            radius=radius,
            baseline=self.baseline,
            least=least,
            most=most,
            eps=self.eps,
            floor=self.floor,
            rounds=(state.at_baseline.rounds, state.away.rounds),
            earned=earned,
            worth=(state.at_baseline.worth, state.away.worth) if self._by_context else None,
        )

    def _radius(self, ridge: Ridge) -> float:
        return confidence_radius(ridge, self._delta_of_set, shrinking=True, scale=self._scale)

    def _deviation(self, told: int) -> float:
        return deviation_of(self.problem, told, self.delta / EVENTS, self._scale)

    def baseline_bounds(self, state: Guarded) -> tuple[float, float]:
        """The least and the most that the baseline may pay per round, given what it paid."""
        if self._by_context:
            worth = np.nan if self._worth is None else self._worth
            return worth, worth
        if isinstance(self.baseline_reward, float):
            return self.baseline_reward, self.baseline_reward
        _, told, rounds, *_ = state.at_baseline
        if told == 0:
            return 0.0, np.inf
        paid, off = state.at_baseline.paid, self._deviation(told)
        return max(float((paid - off) / rounds), 0.0), float((paid + off) / rounds)

    def report(self, state: Guarded) -> dict[str, Any]:
        """What was promised and earned so far, and what of the budget is used and left to risk.

        ``budget`` is ``eps t r(a_0)`` after t rounds, ``left`` what may be lost at once without breaking
        the promise, and ``used`` the share of the budget that is gone or may be: 0 where as much as the
        baseline pays was certainly earned.
        """
        return {
            "policy": self.policy.name,
            "eps": self.eps,
            "max_changes": self.max_changes,
            "at_baseline": state.at_baseline.rounds,
            "away": state.away.rounds,
            "missing": state.ledger.missing.numbers,
            **self._accounts(state).report(),
            "substituted": state.last.substituted,
            "baseline": self.baseline.tolist(),
        }


def _check_worth(
    problem: Problem, reward: float | Callable[[Any], float] | None
) -> tuple[float | Callable[[Any], float] | None, float | None]:
    """What is known of the baseline's reward, and what a function says of it in this round."""
    if not callable(reward):
        return _optional("baseline_reward", reward, low=0.0), None
    if problem.whole.contexts is None:
        rule = "be a number where the problem has no contexts"
        raise checks.input_error("baseline_reward", rule, "a function")
    if problem.contexts is not None:  # of all rounds
        return reward, None
    return reward, checks.real("baseline_reward", reward(problem.context), low=0.0)


def _optional(name: str, value: float | None, low: float = -np.inf) -> float | None:
    return None if value is None else checks.real(name, value, low=low)
