"""The history: events by names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from gbb.controller.answers.answers import Entry, named
from gbb.controller.state.fold import is_partial
from gbb.controller.state.network import graph_from
from gbb.controller.storage.bytes import allocation_size, unpack_allocation, unpack_rewards
from gbb.controller.storage.events import Event
from gbb.graph import Graph

INNER = {"problem", "seed", "ask", "ask_graph", "N", "Y", "gram", "moment", "paired", "far"}
"""What the history leaves out: what only the fold needs."""


def entries(events: Iterable[Event], kinds: set[str] | None) -> Iterator[Entry]:
    """The events of some kinds (or all) with their content by names."""
    reader = _Reader()
    for event in events:
        if event.kind in ("create", "graph"):
            reader.graph = graph_from(event.content["graph"]).graph
        if event.kind == "create":
            problem = event.content["problem"]
            reader.K, reader.arm_names = len(problem["arms"]), problem["arm_names"]
            reader.feedback = problem.get("feedback", "edge")
        if event.kind == "ask" and event.trial is not None:
            reader.graphs[event.trial] = reader.graph
        if kinds is None or event.kind in kinds:
            time = datetime.fromtimestamp(event.time, UTC)
            yield Entry(event.seq, event.kind, time, event.trial, reader.content(event))


class _Reader:
    """Remembers what later events refer to."""

    def __init__(self) -> None:
        self.graph: Graph
        self.K = 0
        self.arm_names: list[str] | None = None
        self.feedback = "edge"
        self.graphs: dict[int, Graph] = {}

    def content(self, event: Event) -> dict[str, Any]:
        """The event's content by names."""
        plain = {key: value for key, value in event.content.items() if key not in INNER}
        if "policy" in plain:
            settings = event.content["policy"]["settings"]
            shown = {k: v for k, v in settings.items() if isinstance(v, int | float | str)}
            plain["policy"] = {"kind": event.content["policy"]["kind"], "settings": shown}
        if "graph" in plain:
            plain["graph"] = {"n": self.graph.n, "m": self.graph.m}
            if "edge_types" in event.content["graph"]:
                plain["graph"]["types"] = int(event.content["graph"]["edge_types"].max()) + 1
        if event.kind == "ask":
            plain["allocation"] = self._allocation(event.data)
        elif event.kind == "tell" and event.trial is not None:
            plain["rewards"] = self._rewards(self.graphs[event.trial], event, event.data)
        elif event.kind == "attach":
            rest = event.data[allocation_size(self.graph.n, self.K) :]
            plain["allocation"] = self._allocation(event.data)
            plain["rewards"] = self._rewards(self.graph, event, rest)
        return plain

    def _allocation(self, data: bytes) -> dict[Any, Any]:
        names = None if self.arm_names is None else tuple(self.arm_names)
        return named(self.graph, unpack_allocation(data, self.graph.n, self.K), names)

    def _rewards(self, graph: Graph, event: Event, data: bytes) -> list[list[Any]]:
        """Rows of source, target and reward; of agent and reward; or one with the sum."""
        count = {"edge": graph.m, "agent": graph.n, "global": 1}[self.feedback]
        seen = unpack_rewards(data, count, partial=is_partial(event))
        labels = graph.labels
        if self.feedback == "global":
            return [seen.values.tolist()]
        if self.feedback == "agent":
            agents = range(graph.n) if seen.positions is None else seen.positions.tolist()
            values = seen.values.tolist()
            return [[labels[i], value] for i, value in zip(agents, values, strict=True)]
        edges = graph.edges if seen.positions is None else graph.edges[seen.positions]
        return [
            [labels[i], labels[j], value]
            for (i, j), value in zip(edges.tolist(), seen.values.tolist(), strict=True)
        ]
