"""The controller's state: what the events fold to, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.controller.log.codec import pack_rng
from gbb.controller.log.events import Event
from gbb.controller.state.allowed import Allowed
from gbb.controller.state.context import problem_in
from gbb.controller.state.recent import RecentRounds
from gbb.controller.state.specs import (
    Spec,
    decode_policy,
    decode_problem,
    decode_seed,
    restrict,
)
from gbb.learning import AnyRecord, empty
from gbb.policies import Choice, RecordPolicy
from gbb.problem import Problem


class Keys(Mapping[str, int]):
    """The events of attached rounds by key; never changes.

    All mappings that grew from one another share a dictionary, of which each sees the events up to its
    own last one. What a turn added that was then given up lies beyond it, and is copied away from when
    the mapping next grows.
    """

    def __init__(self, pairs: Iterable[tuple[str, int]] = ()) -> None:
        self._shared = dict(pairs)
        self._count = len(self._shared)
        self._last = max(self._shared.values(), default=0)

    def plus(self, key: str, seq: int) -> Keys:
        """The same mapping with one key more, whose event comes after all others."""
        grown = Keys.__new__(Keys)
        own = len(self._shared) == self._count and key not in self._shared
        grown._shared = self._shared if own else dict(self.items())
        grown._shared[key] = seq
        grown._count, grown._last = len(grown._shared), seq
        return grown

    def minus(self, seq: int) -> Keys:
        """The same mapping without the key of event ``seq``, if it has one."""
        left = [(key, place) for key, place in self.items() if place != seq]
        return self if len(left) == len(self) else Keys(left)

    def __getitem__(self, key: str) -> int:
        seq = self._shared[key]
        if seq > self._last:
            raise KeyError(key)
        return seq

    def __iter__(self) -> Iterator[str]:
        return (key for key, seq in self._shared.items() if seq <= self._last)

    def __len__(self) -> int:
        return self._count


class Ask(NamedTuple):
    """What a trial was asked to play, and under which setup and graph (their events' numbers).

    It is open since ``since`` and times out at ``deadline``, both in seconds since 1970.
    Was it ``substituted``, the policy's own proposal was another.
    ``shards`` are those that have told their tables of it.
    ``context`` is what was known before its round, if anything was, as a row of numbers.
    """

    allocation: IntArray
    couple: tuple[int, int] | None
    round: int
    setup: int
    graph: int
    since: float
    deadline: float | None = None
    substituted: bool = False
    shards: frozenset[int] = frozenset()
    context: FloatArray | None = None

    @classmethod
    def of(
        cls,
        arms: IntArray,
        couple: Sequence[int] | None,
        place: Sequence[Any],
        *,
        substituted: bool = False,
        context: FloatArray | None = None,
    ) -> Ask:
        """An ask of an event; ``place`` is its round, setup, graph and times."""
        pair = None if couple is None else (couple[0], couple[1])
        return cls(arms, pair, *place)._replace(substituted=substituted, context=context)

    @property
    def place(self) -> tuple[int, int, int, float, float | None]:
        """Its round, setup, graph and times, as :meth:`of` takes them."""
        return self.round, self.setup, self.graph, self.since, self.deadline

    @property
    def choice(self) -> Choice:
        """The policy's choice."""
        return Choice(self.allocation, self.couple, substituted=self.substituted)


class InForce(NamedTuple):
    """An alert: when it began, in seconds since 1970, and what it says."""

    since: float
    text: str


@dataclass(frozen=True, eq=False)
class Setup:
    """The problem, the policy and the arms the agents may play.

    Attributes
    ----------
    seq
        The event that the policy's memory starts with: it set the policy or the graph, or had
        everything learnt anew.
    policy_since
        The event that last set the policy or the graph, whatever was learnt anew since then.
    graph_seq
        The event that holds the graph.
    base
        The problem but for its graph.
    spec
        The policy's settings.
    allowed
        Which agent may play which arm (n x K); None when all may play all.
    seed
        Where the policy's randomness comes from.
    discounts
        How many times everything told was discounted.
    problem, policy
        What is played, and by which policy.
    """

    seq: int
    policy_since: int
    graph_seq: int
    base: Spec
    spec: Spec
    allowed: Allowed | None
    seed: np.random.SeedSequence
    discounts: int
    problem: Problem
    policy: RecordPolicy[Any]

    @classmethod
    def build(cls, problem: Problem, **fields: Any) -> Setup:
        """Return the setup with all fields but the policy, on ``problem`` with the allowed arms."""
        problem = restrict(problem, fields["spec"]["kind"], fields["allowed"])
        policy = decode_policy(fields["spec"], problem, fields["discounts"])
        return cls(**fields, problem=problem, policy=policy)

    def change(self, **changes: Any) -> Setup:
        """Return the setup with ``changes``, its problem and policy built anew."""
        own = {
            each.name: getattr(self, each.name) for each in fields(self) if each.name != "policy"
        }
        return Setup.build(**(own | changes))


@dataclass(frozen=True, eq=False)
class State:
    """Everything that the events up to ``seq`` amount to.

    Attributes
    ----------
    seq, seal
        The last event and its checksum.
    setup
        What is played, and how.
    rng
        Where the policy's generator stands.
    memory
        The policy's own state.
    record
        Everything that was told, whatever the policy made of it.
    rounds
        How many rounds were told or attached.
    trials
        How many trials were asked.
    open
        The trials that wait for their rewards.
    past_problems
        Those of open trials that were asked on another graph, by the event that holds it.
    graphs
        The events that hold a graph, the present one's last.
    out_of_bounds_rounds
        How many rounds told rewards far outside the declared bounds.
    keys
        The events of the rounds that were attached under a key, by key.
    recent
        The last rounds told.
    alerts
        Those in force, by kind.
    """

    seq: int
    seal: int
    setup: Setup
    rng: bytes
    memory: Any
    record: AnyRecord
    rounds: int
    trials: int
    open: Mapping[int, Ask]
    past_problems: Mapping[int, Problem]
    graphs: tuple[int, ...]
    recent: RecentRounds
    out_of_bounds_rounds: int = 0
    keys: Keys = field(default_factory=Keys)
    alerts: Mapping[str, InForce] = field(default_factory=dict)

    def problem_on(self, graph: int) -> Problem:
        """The problem on the graph of an event, which is the present one or an open trial's."""
        here = graph == self.setup.graph_seq
        return self.setup.problem if here else self.past_problems[graph]

    def problem_of(self, ask: Ask) -> Problem:
        """The problem of an open trial's round: on its graph, at its context."""
        return problem_in(self.problem_on(ask.graph), ask.context)


def begin(event: Event) -> State:
    """The state after the first event."""
    content = event.content
    seed = decode_seed(content["seed"])
    setup = Setup.build(
        decode_problem(content["problem"], content["graph"]),
        seq=event.seq,
        policy_since=event.seq,
        graph_seq=event.seq,
        base=content["problem"],
        spec=content["policy"],
        allowed=content["problem"].get("allowed"),
        seed=seed,
        discounts=0,
    )
    return State(
        seq=event.seq,
        seal=event.seal,
        setup=setup,
        rng=pack_rng(np.random.default_rng(seed)),
        memory=setup.policy.init(),
        record=empty(setup.problem),
        rounds=0,
        trials=0,
        open={},
        past_problems={},
        graphs=(event.seq,),
        recent=RecentRounds.begin(setup.problem),
    )
