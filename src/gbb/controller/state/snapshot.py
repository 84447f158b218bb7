"""Snapshots: a state as text, so that a long log opens at once. They only save time."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

from gbb.controller.state.fold import read_ask
from gbb.controller.state.keys import Keys
from gbb.controller.state.policy import state_types
from gbb.controller.state.problem import decode_problem, decode_seed
from gbb.controller.state.recent import Recent
from gbb.controller.state.state import InForce, Setup, State
from gbb.controller.state.tables import shards_of
from gbb.controller.storage import codec
from gbb.controller.storage.events import damaged
from gbb.controller.storage.study import Study
from gbb.learning.record import from_dict

FORMAT = 9
"""Snapshots of another format are not read."""


def write_snapshot(state: State) -> str | None:
    """A state as text; None when the policy's state has no such form."""
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
            "name": state.name,
            "setup": setup.seq,
            "since": setup.since,
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
    return f"{_checksum(text)} {text}"


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode('utf-8')):08x}"


def open_snapshot(text: str) -> dict[str, Any] | None:
    """What a snapshot says; None when it is damaged."""
    checksum, _, text = text.partition(" ")
    if checksum != _checksum(text):
        return None
    content: dict[str, Any] = codec.loads(text)
    return content


def read_snapshot(text: str, study: Study) -> State | None:
    """The state of a snapshot; None when it is damaged or of another version.

    One that is whole must fit the log: otherwise it is the log that has lost something.
    """
    content = open_snapshot(text)
    if content is None:
        return None
    if study.event(content["seq"]).seal != content["seal"]:
        raise damaged(f"event {content['seq']} is not what the snapshot of it says")
    if content["format"] != FORMAT:
        return None
    first = study.event(1).content
    present = content["graphs"][-1]
    needed = sorted({present, *(row[3] for row in content["open"])})
    graphs = {seq: study.event(seq).content["graph"] for seq in needed}
    problems = {seq: decode_problem(first["problem"], graph) for seq, graph in graphs.items()}
    setup = Setup.build(
        problems.pop(present),
        seq=content["setup"],
        since=content["since"],
        graph_seq=present,
        base=first["problem"],
        spec=content["policy"],
        allowed=content["allowed"],
        seed=decode_seed(first["seed"]),
        discounts=content["discounts"],
    )
    memory: Any = codec.loads(content["memory"], state_types(setup.policy))
    state = State(
        seq=content["seq"],
        seal=content["seal"],
        setup=setup,
        rng=bytes(content["rng"]),
        memory=memory,
        record=from_dict(content["record"]),
        rounds=content["rounds"],
        trials=content["trials"],
        open={},
        past_problems=problems,
        graphs=tuple(content["graphs"]),
        out_of_bounds_rounds=content["out_of_bounds_rounds"],
        keys=Keys((key, seq) for key, seq in content["keys"]),
        name=content["name"],
        recent=Recent.from_dict(content["recent"]),
        alerts={kind: InForce(*alert) for kind, *alert in content["alerts"]},
    )
    trials = [row[0] for row in content["open"]]
    events = study.events_of(*trials)
    asked = {event.trial: event for event in events if event.kind == "ask"}
    still_open = {}
    for trial, *place in content["open"]:
        on = state.problem_on(place[2])
        told = (event for event in events if event.trial == trial and event.seq <= state.seq)
        still_open[trial] = read_ask(asked[trial], on, place)._replace(shards=shards_of(told))
    return replace(state, open=still_open)
