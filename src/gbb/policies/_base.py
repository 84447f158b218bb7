"""What a policy is: ``init``, ``select`` and ``update`` on explicit state, and no loop over rounds."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.cuts import Cut, KCut
from gbb.learning.record import AnyRecord, observe
from gbb.learning.ridge import LastRidge, Ridge
from gbb.learning.scales import Scales
from gbb.problem import Problem, rounds_kept

State = TypeVar("State")

HOOKS = frozenset({"radii", "settings", "record_of"})
"""What a subclass may change and compiled loops still play."""


ACCOUNTS = ("begin", "close", "reopen", "start", "restart")
"""What a policy with accounts of its own has, all of it: without one, a discount or a retraction would
lose them or count a round twice."""


class Choice(NamedTuple):
    """What a policy plays in one round.

    Attributes
    ----------
    allocation
        An arm index per agent.
    couple
        The two arms over the cut, for policies that play only two.
    value
        What the policy believes the objective to be worth (its optimistic value), if it says.
    target
        Where the policy is heading, if it may not change as many agents at once as that takes.
    substituted
        Whether this is played in place of what the policy proposed.
    """

    allocation: IntArray
    couple: tuple[int, int] | None = None
    value: float = float("nan")
    target: IntArray | None = None
    substituted: bool = False


class Learned(NamedTuple):
    """State of a policy that learns: how many rounds it has seen, and their record.

    And what it takes the noise and the norm of M* to be, where nobody knows them.
    """

    rounds: float
    record: AnyRecord
    scales: Scales | None = None

    def absorb(self, seen: AnyRecord, rounds: int) -> Learned:
        """The state after ``rounds`` more rounds, with their record."""
        return Learned(self.rounds + rounds, self.record.merge(seen), self.scales)


class Policy(ABC, Generic[State]):
    """Chooses an allocation each round from what it has seen.

    A policy holds settings only; everything it learns is in the state, which ``update`` returns anew.
    Randomness comes from the generator that ``select`` is handed.

    Parameters
    ----------
    problem
        What the learner knows.
    name
        How results call this policy; the class's name when left out.
    """

    guarantee: str | None = None
    """Which alpha of the theory report the policy is no-regret for, if any."""

    guaranteed_share: float = 1.0
    """The share of that alpha that it is no-regret for: beta behind a guard."""

    controllable: bool = True
    """Whether a controller can run it: it learns from records alone, and its attributes say what its
    constructor was given."""

    plays_any_problem: ClassVar[bool] = False
    """Whether it plays problems with edge types, weights, rewards in sums and forbidden arms too."""

    learns_from_links: ClassVar[bool] = False
    """Whether it plays the paper's problem too where a round reports a number per link, the sum of its
    two directions. One that plays any problem does."""

    plays_parts: ClassVar[bool] = False
    """Whether it plays networks in shards: an arm for each part is all that it chooses."""

    learns_scales: ClassVar[bool] = False
    """Whether it plays where nobody knows ``sigma`` or ``S``: it estimates them, or needs neither."""

    off_policy: ClassVar[bool] = True
    """Whether it learns from rounds whose allocation it did not choose."""

    needs_allowed: ClassVar[bool] = False
    """Whether nobody may repair its choices, so that its problem must say which arms are allowed."""

    compiled: ClassVar[bool] = False
    """Whether a compiled loop may play it. A subclass that changes anything but :data:`HOOKS` starts
    from False again, unless it says otherwise: the engine never plays what a policy is not."""

    cut: Cut | None = None
    """The cut that it plays over, if it has one."""

    parts: KCut | None = None
    """The parts that it plays a tuple of arms over, if it does: those of the cut, or k of them."""

    keeps_accounts: ClassVar[bool] = False
    """Whether it has accounts of its own, and so all of :data:`ACCOUNTS`."""

    policy: Policy[Any] | None = None
    """The policy that it holds back, if it does."""

    lam: float | None = None
    """The ridge regulariser, if it has one."""

    delta: float | None = None
    """The probability that its confidence set misses, if it has one."""

    _last_ridge: LastRidge | None = None

    learns_two_way: bool = False
    """Whether it learns from the sums of both directions of a link, and so from links seen in both.

    Where most of what was told is of one direction alone everything is handed to
    :attr:`in_all_dimensions` instead, which does without the sums."""

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        own_accounts = [getattr(cls, name) is not getattr(Policy, name) for name in ACCOUNTS]
        if any(own_accounts) and not all(own_accounts):
            missing = ", ".join(n for n, own in zip(ACCOUNTS, own_accounts, strict=True) if not own)
            raise TypeError(f"{cls.__name__} keeps accounts and has no {missing} of its own.")
        cls.keeps_accounts = all(own_accounts)
        if "compiled" in vars(cls) or not cls.compiled:
            return
        played = next(base for base in cls.__mro__ if "compiled" in vars(base))
        own = cls.__mro__[: cls.__mro__.index(played)]  # mixins, too
        changed = {
            name
            for base in own
            for name, item in vars(base).items()
            if hasattr(played, name)
            and not name.startswith("__")
            and (callable(item) or isinstance(item, property | cached_property))
        }
        if changed - HOOKS:
            cls.compiled = False

    @classmethod
    def plays(cls, problem: Problem) -> bool:
        """Whether policies of this class play ``problem``: any, or the paper's, seen by link or not."""
        paper = problem.pays_as_paper if cls.learns_from_links else problem.is_paper_problem
        return cls.plays_any_problem or paper

    def __init__(self, problem: Problem, *, name: str | None = None) -> None:
        if not isinstance(problem, Problem):
            raise checks.input_error("problem", "be a gbb.Problem", type(problem).__name__)
        if not self.plays(problem):
            who = type(self).__name__
            seen = "per edge or link" if self.learns_from_links else "per edge"
            known = "no weights, no contexts" if problem.contexts is not None else "no weights"
            rule = f"have one matrix, {known}, rewards {seen} and all arms allowed for {who}"
            cure = "JointOFUL and ThompsonSampling play any problem."
            raise checks.input_error("problem", rule, repr(problem), cure)
        if problem.parts is not None and not self.plays_parts:
            cure = "OFUL, ImprovedOFUL, KCutOFUL and ThompsonSampling(starts=0) play such networks."
            rule = f"be of a graph that is at hand for {type(self).__name__}"
            raise checks.input_error("problem", rule, "a network in shards", cure)
        if problem.unknown and not self.learns_scales:
            unknown = " and ".join(problem.unknown)
            rule = f"say {unknown} for {type(self).__name__}"
            cure = "JointOFUL and ThompsonSampling estimate them; or declare a bound."
            raise checks.input_error("problem", rule, "None", cure)
        self.problem = problem
        self.name = type(self).__name__ if name is None else name
        if not isinstance(self.name, str) or not self.name or "\0" in self.name:
            raise checks.input_error("name", "be a text that is not empty", repr(name))

    def at(self, context: Any = None) -> Policy[State]:
        """The policy of a round of which ``context`` is known, on this policy's state.

        Itself where its problem has no contexts.
        """
        return self.on(self.problem.at(context))

    def on(self, problem: Problem) -> Policy[State]:
        """The policy on the problem of a round, which is its own :meth:`gbb.Problem.at` some context."""
        return self if problem is self.problem else self._kept_on(problem)

    @cached_property
    def _kept_on(self) -> Callable[[Problem], Policy[State]]:
        return lru_cache(maxsize=rounds_kept(self.problem.m))(self._share_on)

    def _share_on(self, problem: Problem) -> Policy[State]:
        other = self.rebuild(problem)
        # Those of this policy, not of the one that it may be the in_all_dimensions of.
        other.learns_two_way, other.delta = self.learns_two_way, self.delta
        other._last_ridge = self._rounds_ridge
        return other

    @cached_property
    def _rounds_ridge(self) -> LastRidge:
        """The estimate that the policies of all rounds share."""
        return LastRidge()

    def ridge(self, record: AnyRecord, lam: float, *, symmetric: bool) -> Ridge:
        """The estimate from a record; in the rounds of a problem with contexts, made once for all."""
        if self._last_ridge is None:
            return Ridge(self.problem, record, lam, symmetric=symmetric)
        return self._last_ridge.of(self.problem, record, lam, symmetric=symmetric)

    def __getstate__(self) -> dict[str, Any]:
        # These are made again where they are needed.
        made = ("_kept_on", "_rounds_ridge", "_last_ridge", "_knowing")
        return {name: value for name, value in vars(self).items() if name not in made}

    def rebuild(self, problem: Problem) -> Policy[State]:
        """The same settings on another problem."""
        return type(self)(problem, **self.settings())

    @property
    def in_all_dimensions(self) -> Policy[State]:
        """What plays in its place, from its state, where it cannot have the sums of both directions."""
        return self

    @abstractmethod
    def init(self) -> State:
        """The state before the first round."""

    @abstractmethod
    def select(self, state: State, rng: np.random.Generator) -> Choice:
        """The next allocation."""

    def update(self, state: State, choice: Choice, rewards: FloatArray) -> State:
        """The state after ``choice`` paid ``rewards``, as :meth:`gbb.Problem.rewards` takes them.

        The round begins, is over, and its record is absorbed; a policy that learns in another way has
        its own.
        """
        rewards = self.problem.rewards(rewards)
        seen = observe(self.problem, choice.allocation, rewards)
        over = self.close(self.begin(state, 0, choice), 0, choice, rewards)
        return self.absorb(over, choice, seen)

    def absorb(
        self,
        state: State,
        choice: Choice | None,  # noqa: ARG002
        seen: AnyRecord,
        *,
        rounds: int = 1,
    ) -> State:
        """The state after ``rounds`` rounds of which only the record is known.

        For rewards that come late, in part or from a log. With all edges of one round it does what
        ``update`` does. ``choice`` is what was played, or None when this policy did not choose it.
        """
        if isinstance(state, Learned):
            return cast(State, state.absorb(seen, rounds))
        if isinstance(state, int):
            return cast(State, state + rounds)
        cure = f"Give {type(self).__name__} its own `absorb`."
        got = type(state).__name__
        raise checks.input_error("state", "be Learned or a number of rounds", got, cure)

    def begin(self, state: State, trial: int, choice: Choice) -> State:  # noqa: ARG002
        """The state once ``choice`` is to be played, as the ``trial`` of this number.

        For rewards that may not come at once; with those that do, ``update`` is all of it, as trial 0.
        """
        return state

    def close(self, state: State, trial: int, choice: Choice, paid: FloatArray | None) -> State:  # noqa: ARG002
        """The state once ``trial`` is over; whoever calls it lets the rewards be absorbed as well.

        ``paid`` has all numbers of the round, NaN for those that are missing; it is None where the
        round was not played.
        """
        return state

    def reopen(self, state: State, trial: int, choice: Choice, paid: FloatArray | None) -> State:  # noqa: ARG002
        """The state once it is taken back how ``trial`` was closed."""
        return state

    def start(self, last: IntArray | None) -> State:  # noqa: ARG002
        """The state before its first round, where the plant plays ``last``, if that is known."""
        return self.init()

    def restart(self, state: State) -> State:  # noqa: ARG002
        """The state before anything is learnt, but with all that a round not learnt from leaves behind.

        Everything is then absorbed anew, as when some of it was taken back.
        """
        return self.init()

    def report(self, state: State) -> dict[str, Any]:  # noqa: ARG002
        """What a status should say of it, as plain values by name."""
        return {}

    def select_within(
        self,
        state: State,
        rng: np.random.Generator,
        allowed: NDArray[np.bool_],  # noqa: ARG002
    ) -> Choice:
        """The next allocation when agent i should play arm a only where ``allowed[i, a]``.

        A wish, not a promise: whoever asks repairs the agents that are left with a forbidden arm.
        """
        return self.select(state, rng)

    def record_of(self, state: State) -> AnyRecord | None:
        """The record that a state holds, if it holds one."""
        record: AnyRecord | None = getattr(state, "record", None)
        return record

    def settings(self) -> dict[str, Any]:
        """What its constructor was given, by name, without the problem."""
        names = inspect.signature(type(self)).parameters
        return {name: getattr(self, name) for name in names if name != "problem"}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.problem!r})"


AnyPolicy = Policy[Any]


def draw_arms(weights: FloatArray, n: int, rng: np.random.Generator) -> IntArray:
    """One arm per agent, independently from ``weights``."""
    steps = np.cumsum(weights)
    arms = np.searchsorted(steps, rng.random(n) * steps[-1], side="right")
    chosen: IntArray = np.minimum(arms, weights.size - 1)
    return chosen


def draw_allowed(allowed: NDArray[np.bool_], rng: np.random.Generator) -> IntArray:
    """One of its allowed arms per agent, uniformly (``allowed`` is n x K)."""
    steps = np.cumsum(allowed, axis=1)
    drawn = rng.random(len(allowed)) * steps[:, -1]
    arms: IntArray = np.argmax(steps > drawn[:, None], axis=1)
    return arms


def playable(problem: Problem, name: str, value: ArrayLike | Mapping[str, str] | None) -> IntArray:
    """An allocation of allowed arms; everybody's first allowed arm when ``value`` is None."""
    arms = problem.allocation(problem.allowed.argmax(axis=1) if value is None else value)
    free = problem.allowed[np.arange(problem.n), arms]
    if not free.all():
        agent = int(np.argmin(free))
        got = f"arm {arms[agent]} at agent {problem.graph.label(agent)!r}"
        raise checks.input_error(name, "play allowed arms", got)
    return arms
