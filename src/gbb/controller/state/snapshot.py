"""Snapshots: a state as text, so that a long log opens at once. They only save time."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

from gbb.controller.state.fold import ask_of
from gbb.controller.state.keys import Keys
from gbb.controller.state.network import graph_from, played
from gbb.controller.state.records import record_from, record_to
from gbb.controller.state.spec import kinds_of, policy_from
from gbb.controller.state.state import Setup, State, seed_from
from gbb.controller.storage import codec
from gbb.controller.storage.events import Event
from gbb.learning.estimator import Record

FORMAT = 4
"""Snapshots of another format are not read."""


def snapshot_of(state: State) -> str | None:
    """A state as text; None when the policy's state has no such form."""
    setup = state.setup
    try:
        memory = codec.dumps(state.memory)
    except TypeError:
        return None
    text = codec.dumps(
        {
            "format": FORMAT,
            "seq": state.seq,
            "seal": state.seal,
            "setup": setup.seq,
            "graph": setup.graph_seq,
            "policy": setup.spec,
            "allowed": setup.allowed,
            "rng": list(state.rng),
            "memory": memory,
            **record_to(state.record),
            "paired": None if state.paired is state.record else list(state.paired),
            "rounds": state.rounds,
            "trials": state.trials,
            "far": state.far,
            "keys": [list(pair) for pair in state.keys.items()],
            "open": [[key, ask.round, ask.setup, ask.graph] for key, ask in state.open.items()],
        }
    )
    return f"{_checksum(text)} {text}"


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode('utf-8')):08x}"


def restored(
    text: str, find: Callable[[int], Event], asked: Callable[[list[int]], list[Event]]
) -> State | None:
    """The state of a snapshot, or None when it is damaged or does not fit the log.

    Parameters
    ----------
    text
        What :func:`snapshot_of` gave.
    find
        Gives the event with a number.
    asked
        Gives the ask events of some trials.
    """
    checksum, _, text = text.partition(" ")
    if checksum != _checksum(text):
        return None
    content = codec.loads(text)
    if content["format"] != FORMAT or find(content["seq"]).seal != content["seal"]:
        return None
    first = find(1).content
    needed = sorted({content["graph"], *(row[3] for row in content["open"])})
    networks = {seq: graph_from(find(seq).content["graph"]) for seq in needed}
    here, spec = networks[content["graph"]], content["policy"]
    problem = played(first["problem"], here, spec, content["allowed"])
    policy = policy_from(spec, problem)
    setup = Setup(
        seq=content["setup"],
        graph_seq=content["graph"],
        base=first["problem"],
        problem=problem,
        policy=policy,
        spec=spec,
        allowed=content["allowed"],
        seed=seed_from(first["seed"]),
    )
    events = {event.trial: event for event in asked([row[0] for row in content["open"]])}
    still_open = {
        key: ask_of(
            events[key],
            setup=made,
            graph=place,
            round=round,
            n=networks[place].graph.n,
            K=problem.K,
        )
        for key, round, made, place in content["open"]
    }
    memory: Any = codec.loads(content["memory"], kinds_of(policy))
    record = record_from(content)
    return State(
        seq=content["seq"],
        seal=content["seal"],
        setup=setup,
        rng=bytes(content["rng"]),
        memory=memory,
        record=record,
        paired=record if content["paired"] is None else Record(*content["paired"]),
        rounds=content["rounds"],
        trials=content["trials"],
        open=still_open,
        networks=networks,
        far=content["far"],
        keys=Keys((key, seq) for key, seq in content["keys"]),
    )
