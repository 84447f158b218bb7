"""The controller's state: what the events fold to, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._support.checks import IntArray
from gbb.controller.state.keys import Keys
from gbb.controller.state.network import Network, Spec, graph_from, played
from gbb.controller.state.spec import policy_from
from gbb.controller.storage.bytes import pack_rng
from gbb.controller.storage.events import Event
from gbb.graph import Graph
from gbb.learning.typed import AnyRecord, empty
from gbb.policies import AnyPolicy, Choice
from gbb.problem import Problem

Allowed = NDArray[np.bool_]


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
    problem, policy
        What is played, and by which policy. Beyond the paper's problem, both know the allowed arms.
    spec
        The policy's settings.
    allowed
        Which agent may play which arm (n x K); None when all may play all.
    seed
        Where the policy's randomness comes from.
    """

    seq: int
    graph_seq: int
    base: Spec
    problem: Problem
    policy: AnyPolicy
    spec: Spec
    allowed: Allowed | None
    seed: np.random.SeedSequence


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
    paired
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
    far
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
    paired: AnyRecord
    rounds: int
    trials: int
    open: Mapping[int, Ask]
    networks: Mapping[int, Network]
    far: int = 0
    keys: Keys = field(default_factory=Keys)

    @property
    def graphs(self) -> dict[int, Graph]:
        """The graphs of :attr:`networks`."""
        return {seq: network.graph for seq, network in self.networks.items()}

    @property
    def network(self) -> Network:
        """The present network."""
        return self.networks[self.setup.graph_seq]


def begin(event: Event) -> State:
    """The state after the first event."""
    content = event.content
    network = graph_from(content["graph"])
    seed, allowed = seed_from(content["seed"]), content["problem"].get("allowed")
    problem = played(content["problem"], network, content["policy"], allowed)
    policy = policy_from(content["policy"], problem)
    setup = Setup(
        seq=event.seq,
        graph_seq=event.seq,
        base=content["problem"],
        problem=problem,
        policy=policy,
        spec=content["policy"],
        allowed=allowed,
        seed=seed,
    )
    record = empty(problem)
    return State(
        seq=event.seq,
        seal=event.seal,
        setup=setup,
        rng=pack_rng(np.random.default_rng(seed)),
        memory=policy.init(),
        record=record,
        paired=record,
        rounds=0,
        trials=0,
        open={},
        networks={event.seq: network},
    )


def seed_to(seed: np.random.SeedSequence) -> Spec:
    """A seed sequence as plain values."""
    entropy = seed.entropy if isinstance(seed.entropy, int) else list(seed.entropy or ())
    return {"entropy": entropy, "key": list(seed.spawn_key), "pool": seed.pool_size}


def seed_from(spec: Spec) -> np.random.SeedSequence:
    """The seed sequence that :func:`seed_to` was given."""
    return np.random.SeedSequence(
        spec["entropy"], spawn_key=tuple(spec["key"]), pool_size=spec["pool"]
    )
