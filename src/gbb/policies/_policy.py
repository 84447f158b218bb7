"""What a policy is: settings that never change, and three pure functions of an explicit state."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cache, cached_property, lru_cache
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar, dataclass_transform

import numpy as np

from gbb import cuts
from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.cuts import Cut
from gbb.learning.record import AnyRecord, Moments, Record, observe
from gbb.learning.scales import Scales
from gbb.problem import Problem, rounds_kept

State = TypeVar("State")

DERIVED: Any = None
"""The default of a setting that follows from the problem when a policy is made, as the best cut."""

REQUIREMENTS = {
    "is_paper_problem": "rewards per edge",
    "has_one_matrix": "rewards per edge or link",
}
"""The properties of a problem that policies require, in words."""


class Choice(NamedTuple):
    """What a policy plays in one round.

    Attributes
    ----------
    allocation
        An arm index per agent.
    couple
        The two arms over the cut, if it plays only two.
    value
        The value of the policy's index at this allocation, if it has one.
    target
        The allocation that the policy is moving to, if it may change only some agents at once.
    substituted
        Whether this is played instead of what an inner policy proposed.
    """

    allocation: IntArray
    couple: tuple[int, int] | None = None
    value: float = float("nan")
    target: IntArray | None = None
    substituted: bool = False


class Learned(NamedTuple):
    """The rounds seen, their record, and the estimated scales if sigma or S is unknown."""

    rounds: float
    record: AnyRecord
    scales: Scales | None = None


@cache
def parameters(kind: type[Any]) -> Mapping[str, inspect.Parameter]:
    """Return what the constructor of a policy class takes."""
    _, *taken = inspect.signature(kind.__init__).parameters.items()  # without self
    return dict(taken)


@dataclass_transform(eq_default=False, kw_only_default=True, frozen_default=True)
class Settings:
    """Makes every subclass a frozen dataclass of its annotated settings, which needs no decorator."""

    def __init_subclass__(cls, *, kw_only: bool = True) -> None:
        super().__init_subclass__()
        # A class that forgot a decorator could set attributes that `replace` would lose in round 1.
        dataclass(frozen=True, eq=False, kw_only=kw_only)(cls)


class Policy(Settings, ABC, Generic[State], kw_only=False):
    """Chooses an allocation each round from what it has seen.

    A policy is a frozen dataclass of settings; all that it learns is in the state. Randomness comes
    from the generator that ``select`` receives. There is no loop over rounds.

    Parameters
    ----------
    problem
        What the learner knows.
    name
        The policy's name in results; that of its class by default.
    """

    problem: Problem
    _: KW_ONLY
    name: str = ""

    requires: ClassVar[str] = "is_paper_problem"
    """The property of :class:`gbb.Problem` that must hold; "" if it plays every problem."""
    plays_shards: ClassVar[bool] = False
    """Whether it plays merged networks, in which all agents of a part play one arm."""
    estimates_scales: ClassVar[bool] = False
    """Whether it plays problems whose sigma or S is unknown: it estimates them, or needs neither."""
    controllable: ClassVar[bool] = False
    """Whether a controller can run it: it learns from records, in whatever parts they arrive."""
    cut_parts: ClassVar[int | None] = 2
    """How many parts its cut has, if it has the setting ``cut``; None for any number of them."""
    theorem: ClassVar[str | None] = None
    """The alpha of the theory report that it is proven to have no regret against, if any."""

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        """Name the nearest setting for a misspelt one, where a dataclass only says it is unexpected."""
        taken = parameters(cls)
        if not any(item.kind is item.VAR_KEYWORD for item in taken.values()):
            names = taken.keys() - {"problem", "name"}
            checks.known_names(cls.__name__, "setting", settings.keys() - taken.keys(), names)
        for name, item in taken.items():
            needed = item.kind is item.KEYWORD_ONLY and item.default is item.empty
            # Copies and pickles, made without arguments, have all their settings already.
            if needed and (args or settings) and name not in settings:
                text = f"{cls.__name__} needs the setting {name!r}: pass {name}=..."
                raise checks.conflict(text)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        self._check_problem()
        self._set("name", self.name or type(self).__name__)
        if not isinstance(self.name, str) or "\0" in self.name:
            raise checks.input_error("name", "be a text without NUL", repr(self.name))
        if any(field.name == "cut" for field in fields(self)):
            # Left out it is found here, or every round of a context would look for it again.
            self._set("cut", self._choose_cut(getattr(self, "cut", None)))

    def _set(self, name: str, value: Any) -> None:
        """Replace a setting by its checked or default value while the policy is made."""
        object.__setattr__(self, name, value)  # a frozen class refuses its own attributes too

    @classmethod
    def plays(cls, problem: Problem) -> bool:
        """Return whether policies of this class play problems of this kind."""
        return not cls.requires or bool(getattr(problem, cls.requires))

    def _check_problem(self) -> None:
        problem = self.problem
        if not isinstance(problem, Problem):
            raise checks.input_error("problem", "be a gbb.Problem", type(problem).__name__)
        if not self.plays(problem):
            plain = "no weights, no contexts" if problem.contexts is not None else "no weights"
            seen = REQUIREMENTS.get(self.requires, f"`{self.requires}`")
            rule, got = f"have one matrix, {plain}, {seen} and all arms allowed", repr(problem)
            cure = "JointOFUL and ThompsonSampling play any problem."
        elif problem.parts is not None and not self.plays_shards:
            rule, got = "list every agent and link", "a network in shards"
            cure = "OFUL, ImprovedOFUL, KCutOFUL and ThompsonSampling(starts=0) play such networks."
        elif problem.unknown and not self.estimates_scales:
            rule, got = f"declare {' and '.join(problem.unknown)}", "None"
            cure = "JointOFUL and ThompsonSampling estimate them; or declare a bound."
        else:
            return
        raise checks.input_error("problem", f"{rule} for {type(self).__name__}", got, cure)

    def _choose_cut(self, cut: Cut | None) -> Cut:
        """Return the cut to play over: the best one if it is left out."""
        graph = self.problem.graph
        return cuts.best(graph) if cut is None else cuts.check_cut(graph, cut, k=self.cut_parts)

    @abstractmethod
    def init(self) -> State:
        """Return the state before the first round."""

    @abstractmethod
    def select(self, state: State, rng: np.random.Generator) -> Choice:
        """Return the next allocation."""

    @abstractmethod
    def update(self, state: State, choice: Choice, rewards: FloatArray) -> State:
        """Return the state after ``choice`` earned ``rewards`` (as :meth:`gbb.Problem.rewards`)."""

    @property
    def guarantee(self) -> str | None:
        """The alpha that it has no regret against with these settings: its ``theorem``, or None."""
        return self.theorem

    @property
    def guaranteed_share(self) -> float:
        """The share of that alpha that is guaranteed: beta behind a guard."""
        return 1.0

    def at(self, context: Any = None) -> Self:
        """Return this policy for a round with this context; itself if the problem has no contexts."""
        return self.on(self.problem.at(context))

    def on(self, problem: Problem) -> Self:
        """Return this policy on a round's problem, which is its own at some context."""
        return self if problem is self.problem else self._on(problem)

    @cached_property
    def _on(self) -> Callable[[Problem], Self]:
        return lru_cache(rounds_kept(self.problem.m))(self._on_round)

    def _on_round(self, problem: Problem) -> Self:
        return replace(self, problem=problem)

    def __getstate__(self) -> dict[str, Any]:
        # Cached values are made again where they are needed; some hold functions.
        kind, values = type(self), vars(self).items()
        return {k: v for k, v in values if not isinstance(getattr(kind, k, None), cached_property)}


class RecordPolicy(Policy[State]):
    """A policy that learns from records alone, so that rewards may be late, partial or from a log."""

    controllable = True
    state_types: ClassVar[tuple[type, ...]] = (Learned, Scales, Record, Moments)
    """The classes that its state is made of, besides arrays and plain values: all that a log decodes."""

    def update(self, state: State, choice: Choice, rewards: FloatArray) -> State:
        """Return the state after ``choice`` earned ``rewards``; NaN stands for a missing one."""
        return self.absorb(state, choice, observe(self.problem, choice.allocation, rewards))

    @abstractmethod
    def absorb(
        self, state: State, choice: Choice | None, record: AnyRecord, *, rounds: int = 1
    ) -> State:
        """Return the state after ``rounds`` more rounds with this record.

        ``choice`` is None if this policy did not choose the allocation.
        """

    def relearn(self, state: State, record: AnyRecord, *, rounds: int) -> State:
        """Return the state that has learnt this record alone, as after a retraction."""
        return self.absorb(self.init(), None, record, rounds=rounds)


class AccountingPolicy(RecordPolicy[State]):
    """A policy with accounts of its own trials, from the moment they are asked for.

    It must implement all of these: with one missing, a retraction would lose its accounts or count a
    round twice.
    """

    @abstractmethod
    def init(self, current: IntArray | None = None) -> State:
        """Return the state before the first round of a plant that plays ``current``, if known."""

    @abstractmethod
    def on_ask(self, state: State, trial: int, choice: Choice) -> State:
        """Return the state once ``choice`` is to be played as the ``trial`` of this number."""

    @abstractmethod
    def on_close(
        self, state: State, trial: int, choice: Choice, rewards: FloatArray | None
    ) -> State:
        """Return the state once ``trial`` is over; the rewards are absorbed apart.

        ``rewards`` has all numbers of the round, NaN for missing ones; None if it was not played.
        """

    @abstractmethod
    def on_reopen(
        self, state: State, trial: int, choice: Choice, rewards: FloatArray | None
    ) -> State:
        """Return the state once the closing of ``trial`` with ``rewards`` is taken back."""

    @abstractmethod
    def relearn(self, state: State, record: AnyRecord, *, rounds: int) -> State:
        """Return the state that has learnt this record alone, with its accounts."""

    @abstractmethod
    def report(self, state: State) -> dict[str, Any]:
        """Return its accounts as plain values by name, for a status."""


AnyPolicy = Policy[Any]
