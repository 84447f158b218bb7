"""The controller's state: what the events fold to, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.controller.log.codec import pack_rng
from gbb.controller.log.events import Event
from gbb.controller.state.allowed import Allowed
from gbb.controller.state.context import problem_in
from gbb.controller.state.keys import Keys
from gbb.controller.state.policy import decode_policy
from gbb.controller.state.problem import Spec, decode_problem, decode_seed, narrow_problem
from gbb.controller.state.recent import Recent
from gbb.learning import AnyRecord, empty
from gbb.policies import Choice, RecordPolicy
from gbb.problem import Problem


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
    since
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
    knows_allowed
        Whether both know the allowed arms, so that the policy chooses among them.
    """

    seq: int
    since: int
    graph_seq: int
    base: Spec
    spec: Spec
    allowed: Allowed | None
    seed: np.random.SeedSequence
    discounts: int
    problem: Problem
    policy: RecordPolicy[Any]
    knows_allowed: bool

    @classmethod
    def build(cls, on: Problem, **fields: Any) -> Setup:
        """The setup where ``on`` is played, with all fields but those that follow from them."""
        spec = fields["spec"]
        problem, knows = narrow_problem(fields["base"], on, spec["kind"], fields["allowed"])
        policy = decode_policy(spec, problem, fields["discounts"])
        return cls(**fields, problem=problem, policy=policy, knows_allowed=knows)

    def change(self, on: Problem | None = None, **changes: Any) -> Setup:
        """The setup with ``changes``, its problem and policy built anew; ``on`` has another graph."""
        names = ("seq", "since", "graph_seq", "base", "spec", "allowed", "seed", "discounts")
        fields = {name: getattr(self, name) for name in names} | changes
        return Setup.build(self.problem if on is None else on, **fields)


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
    recent: Recent
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
        since=event.seq,
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
        recent=Recent.begin(setup.problem),
    )
