"""The history: events by names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from gbb.controller.answers.answers import Entry, name_arms
from gbb.controller.state.fold import is_partial
from gbb.controller.state.network import Spec, decode_network, decode_problem
from gbb.controller.state.report import names_of
from gbb.controller.storage.bytes import allocation_size, unpack_allocation, unpack_rewards
from gbb.controller.storage.events import Event
from gbb.problem import Problem

INNER = {"problem", "seed", "ask", "ask_graph", "N", "Y", "gram", "moment", "paired", "far"}
"""What the history leaves out: what only the fold needs."""


def read_history(events: Iterable[Event], kinds: set[str] | None) -> Iterator[Entry]:
    """The events of some kinds (or all) with their content by names."""
    reader = _Reader()
    for event in events:
        reader.remember(event)
        if kinds is None or event.kind in kinds:
            time = datetime.fromtimestamp(event.time, UTC)
            yield Entry(event.seq, event.kind, time, event.trial, reader.name(event))


class _Reader:
    """Remembers what later events refer to."""

    def __init__(self) -> None:
        self.base: Spec
        self.problem: Problem
        self.asked: dict[int, Problem] = {}

    def remember(self, event: Event) -> None:
        """Keep the problem in force, and the one that each trial was asked on."""
        if event.kind == "create":
            self.base = event.content["problem"]
        if event.kind in ("create", "graph"):
            self.problem = decode_problem(self.base, decode_network(event.content["graph"]))
        if event.kind == "ask" and event.trial is not None:
            self.asked[event.trial] = self.problem

    def name(self, event: Event) -> dict[str, Any]:
        """The event's content by names."""
        content, problem = event.content, self.problem
        plain = {key: value for key, value in content.items() if key not in INNER}
        if "policy" in plain:
            settings = content["policy"]["settings"]
            shown = {k: v for k, v in settings.items() if isinstance(v, int | float | str)}
            plain["policy"] = {"kind": content["policy"]["kind"], "settings": shown}
        if "graph" in plain:
            types = {"types": problem.types} if "edge_types" in content["graph"] else {}
            plain["graph"] = {"n": problem.n, "m": problem.m, **types}
        if event.kind in ("ask", "attach"):
            arms = unpack_allocation(event.data, problem.n, problem.K)
            plain["allocation"] = name_arms(problem.graph, arms, problem.arm_names)
        if event.kind == "tell" and event.trial is not None:
            plain["rewards"] = _name_rewards(self.asked[event.trial], event, event.data)
        elif event.kind == "attach":
            rest = event.data[allocation_size(problem.n, problem.K) :]
            plain["rewards"] = _name_rewards(problem, event, rest)
        return plain


def _name_rewards(problem: Problem, event: Event, data: bytes) -> list[list[Any]]:
    """Rows of source, target and reward; of agent and reward; or one with the sum."""
    seen = unpack_rewards(data, problem.observations, partial=is_partial(event))
    names = names_of(problem, seen.positions)
    return [[*each, value] for each, value in zip(names, seen.values.tolist(), strict=True)]
