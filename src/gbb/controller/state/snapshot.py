"""Snapshots: a state as text, so that a long log opens at once. They only save time."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

from gbb.controller.log import codec
from gbb.controller.log.events import damaged
from gbb.controller.log.store import Study
from gbb.controller.state.fold import read_ask
from gbb.controller.state.recent import RecentRounds
from gbb.controller.state.specs import decode_problem, decode_seed, state_types
from gbb.controller.state.state import InForce, Keys, Setup, State
from gbb.controller.state.tables import shards_of
from gbb.learning.record import from_dict

FORMAT = 10
"""Snapshots of another format are not read."""


def write_snapshot(state: State) -> bytes | None:
    """A state as bytes; None when the policy's state has no such form."""
    setup = state.setup
    try:
        memory = codec.dumps(state.memory)
        codec.loads(memory, state_types(setup.policy))
    except (TypeError, KeyError):  # of classes that no log decodes: the log is replayed instead
        return None
    text = codec.dumps(
        {
            "format": FORMAT,
            "seq": state.seq,
            "seal": state.seal,
            "setup": setup.seq,
            "policy_since": setup.policy_since,
            "graphs": list(state.graphs),
            "policy": setup.spec,
            "allowed": setup.allowed,
            "discounts": setup.discounts,
            "rng": list(state.rng),
            "memory": memory,
            "record": state.record.to_dict(),
            "rounds": state.rounds,
            "trials": state.trials,
            "out_of_bounds_rounds": state.out_of_bounds_rounds,
            "keys": [list(pair) for pair in state.keys.items()],
            "open": [[key, *ask.place] for key, ask in state.open.items()],
            "recent": state.recent.to_dict(),
            "alerts": [[kind, *alert] for kind, alert in state.alerts.items()],
        }
    )
    return f"{_checksum(text)} {text}".encode()


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode('utf-8')):08x}"


def open_snapshot(content: bytes) -> dict[str, Any] | None:
    """What a snapshot says; None when it is damaged."""
    checksum, _, text = content.decode(errors="replace").partition(" ")
    if checksum != _checksum(text):
        return None
    kept: dict[str, Any] = codec.loads(text)
    return kept


def read_snapshot(content: bytes, study: Study) -> State | None:
    """The state of a snapshot; None when it is damaged or of another version.

    One that is whole must fit the log: otherwise it is the log that has lost something.
    """
    kept = open_snapshot(content)
    if kept is None:
        return None
    if study.event(kept["seq"]).seal != kept["seal"]:
        raise damaged(f"event {kept['seq']} is not what the snapshot of it says")
    if kept["format"] != FORMAT:
        return None
    first = study.event(1).content
    present = kept["graphs"][-1]
    needed = sorted({present, *(row[3] for row in kept["open"])})
    graphs = {seq: study.event(seq).content["graph"] for seq in needed}
    problems = {seq: decode_problem(first["problem"], graph) for seq, graph in graphs.items()}
    setup = Setup.build(
        problems.pop(present),
        seq=kept["setup"],
        policy_since=kept["policy_since"],
        graph_seq=present,
        base=first["problem"],
        spec=kept["policy"],
        allowed=kept["allowed"],
        seed=decode_seed(first["seed"]),
        discounts=kept["discounts"],
    )
    memory: Any = codec.loads(kept["memory"], state_types(setup.policy))
    state = State(
        seq=kept["seq"],
        seal=kept["seal"],
        setup=setup,
        rng=bytes(kept["rng"]),
        memory=memory,
        record=from_dict(kept["record"]),
        rounds=kept["rounds"],
        trials=kept["trials"],
        open={},
        past_problems=problems,
        graphs=tuple(kept["graphs"]),
        out_of_bounds_rounds=kept["out_of_bounds_rounds"],
        keys=Keys((key, seq) for key, seq in kept["keys"]),
        recent=RecentRounds.from_dict(kept["recent"]),
        alerts={kind: InForce(*alert) for kind, *alert in kept["alerts"]},
    )
    trials = [row[0] for row in kept["open"]]
    events = study.events_of(*trials)
    asked = {event.trial: event for event in events if event.kind == "ask"}
    still_open = {}
    for trial, *place in kept["open"]:
        on = state.problem_on(place[2])
        told = (event for event in events if event.trial == trial and event.seq <= state.seq)
        still_open[trial] = read_ask(asked[trial], on, place)._replace(shards=shards_of(told))
    return replace(state, open=still_open)
