"""The controller's state: what the events fold to, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from gbb._support.checks import IntArray
from gbb.controller.state.allowed import Allowed
from gbb.controller.state.keys import Keys
from gbb.controller.state.network import (
    Network,
    Spec,
    decode_network,
    decode_problem,
    decode_seed,
    make_problem,
)
from gbb.controller.state.policy import decode_policy
from gbb.controller.storage.bytes import pack_rng
from gbb.controller.storage.events import Event
from gbb.learning import AnyRecord, empty
from gbb.policies import AnyPolicy, Choice
from gbb.problem import Problem


class Ask(NamedTuple):
    """What a trial was asked to play, and under which setup and graph (their events' numbers)."""

    allocation: IntArray
    couple: tuple[int, int] | None
    round: int
    setup: int
    graph: int

    @property
    def choice(self) -> Choice:
        """The policy's choice."""
        return Choice(self.allocation, self.couple)


@dataclass(frozen=True, eq=False)
class Setup:
    """The problem, the policy and the arms the agents may play.

    Attributes
    ----------
    seq
        The event that last set the policy or the graph.
    graph_seq
        The event that holds the graph.
    base
        The problem but for its network.
    spec
        The policy's settings.
    allowed
        Which agent may play which arm (n x K); None when all may play all.
    seed
        Where the policy's randomness comes from.
    problem, policy
        What is played, and by which policy.
    knows_allowed
        Whether both know the allowed arms, so that the policy chooses among them.
    """

    seq: int
    graph_seq: int
    base: Spec
    spec: Spec
    allowed: Allowed | None
    seed: np.random.SeedSequence
    problem: Problem
    policy: AnyPolicy
    knows_allowed: bool

    @classmethod
    def build(cls, network: Network, **fields: Any) -> Setup:
        """The setup on ``network`` with all fields but those that follow from them."""
        base, spec, allowed = fields["base"], fields["spec"], fields["allowed"]
        problem, knows = make_problem(base, network, spec, allowed)
        policy = decode_policy(spec, problem)
        return cls(**fields, problem=problem, policy=policy, knows_allowed=knows)

    def change(self, network: Network, **changes: Any) -> Setup:
        """The setup with ``changes``, its problem and policy built anew on ``network``."""
        names = ("seq", "graph_seq", "base", "spec", "allowed", "seed")
        return Setup.build(network, **{name: getattr(self, name) for name in names} | changes)


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
    two_way_record
        The part of it from links seen in both directions in one round and alike in both; the same
        object if that is all, as it is where rewards are sums.
    rounds
        How many rounds were told or attached.
    trials
        How many trials were asked.
    open
        The trials that wait for their rewards.
    networks
        The networks of the open trials and the present one, by event.
    out_of_bounds_rounds
        How many rounds told rewards far outside the declared bounds.
    keys
        The events of the rounds that were attached under a key, by key.
    """

    seq: int
    seal: int
    setup: Setup
    rng: bytes
    memory: Any
    record: AnyRecord
    two_way_record: AnyRecord
    rounds: int
    trials: int
    open: Mapping[int, Ask]
    networks: Mapping[int, Network]
    out_of_bounds_rounds: int = 0
    keys: Keys = field(default_factory=Keys)

    @property
    def network(self) -> Network:
        """The present network."""
        return self.networks[self.setup.graph_seq]

    def problem_on(self, network: Network) -> Problem:
        """The problem on a network that a round was played on."""
        here = network is self.network
        return self.setup.problem if here else decode_problem(self.setup.base, network)

    def replace_records(self, record: AnyRecord, two_way: AnyRecord | None) -> State:
        """The state with other records; None for ``two_way`` when that is all of ``record``."""
        return replace(self, record=record, two_way_record=record if two_way is None else two_way)

    @property
    def own_two_way_record(self) -> AnyRecord | None:
        """``two_way_record`` where it is another than ``record``."""
        return None if self.two_way_record is self.record else self.two_way_record


def begin(event: Event) -> State:
    """The state after the first event."""
    content = event.content
    network, seed = decode_network(content["graph"]), decode_seed(content["seed"])
    setup = Setup.build(
        network,
        seq=event.seq,
        graph_seq=event.seq,
        base=content["problem"],
        spec=content["policy"],
        allowed=content["problem"].get("allowed"),
        seed=seed,
    )
    record = empty(setup.problem)
    return State(
        seq=event.seq,
        seal=event.seal,
        setup=setup,
        rng=pack_rng(np.random.default_rng(seed)),
        memory=setup.policy.init(),
        record=record,
        two_way_record=record,
        rounds=0,
        trials=0,
        open={},
        networks={event.seq: network},
    )
