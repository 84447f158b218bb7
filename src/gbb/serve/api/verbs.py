"""The verbs of a controller as operations: one loop over the table of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gbb._support import checks
from gbb.controller.messages import REQUESTS, Request
from gbb.serve.api.operations import HERE, Given, Operation
from gbb.serve.api.schemas import VERBS
from gbb.serve.fields import fields_of

OWN = {"history"}
"""Verbs that the service answers in pages of its own."""

POSTED = {"table", "predict"}
"""Verbs that only read and are too long for a query."""

ABOUT = {
    "ask": "Choose the next allocation, or `count` of them; each trial stays open until it is closed.",
    "tell": "Report the rewards of a trial, all or some, and close it.",
    "next": "Tell a trial and ask for another, in one transaction.",
    "fail": "Close a trial that was played and gave no rewards.",
    "abandon": "Close a trial that was not played.",
    "retract": "Take back how a trial was closed, or an attached round.",
    "attach": "Learn from a round that was played elsewhere.",
    "open": "The trials that wait for rewards, or one of them.",
    "recommend": "The best allowed allocation by what is known.",
    "table": "The best allocation in each of some contexts.",
    "predict": "The expected reward of an allocation, with its interval.",
    "estimate": "What is known of every matrix.",
    "status": "Sizes and progress.",
    "watch": "Close trials whose time is up, and say which alerts are in force.",
    "diagnose": "Whether the pairwise model predicts what was told.",
    "check": "Read the whole log and compare it with all that was kept of it.",
    "forbid": "Forbid agents to play arms.",
    "pin": "Let agents play one arm only.",
    "allow": "Let agents play arms again.",
    "discount": "Let everything told so far count less.",
    "set-policy": "Let another policy choose.",
    "replace-graph": "Play on another graph and keep what was learnt.",
}

HIDDEN = {"url"}
"""What concerns nobody else: where the storage is."""

MOST = {"count": 1000, "worst": 1000, "seconds": 60.0}
"""The largest numbers that one request may ask for: they cost time."""


def verb_operations() -> Iterator[Operation]:
    """An operation for each verb."""
    for verb, request in REQUESTS.items():
        if verb in OWN:
            continue
        reads = request.scope == "read"
        yield Operation(
            id=verb,
            method="GET" if reads and verb not in POSTED else "POST",
            path=f"{HERE}/{verb}",
            about=ABOUT[verb],
            scope=request.scope,
            run=_run(request),
            fields=fields_of(request.json_fields()),
            answer=VERBS[verb],
            writes=not reads,
            tagged="log" if reads and verb not in POSTED else "",
        )


def _run(model: type[Request[Any]]) -> Callable[[Given], dict[str, Any]]:
    def run(given: Given) -> dict[str, Any]:
        request = model.from_json(given.values)
        for name, most in MOST.items():
            if name in given.values and given.values[name] > most:
                raise checks.input_error(name, f"be at most {most:g}", given.values[name])
        if len(given.values.get("contexts", ())) > MOST["count"]:
            rule = f"have at most {MOST['count']:g} of them"
            raise checks.input_error("contexts", rule, len(given.values["contexts"]))
        if model.scope == "read":
            found = given.controller.execute(request).to_json()
            return {name: value for name, value in found.items() if name not in HIDDEN}
        done = given.controller.execute(request, by=given.caller.name, key=given.key)
        answer = done.to_json()
        if not done.repeated:
            given.service.hub.wake(given.path["name"])
            given.service.metrics.count(given.operation, given.path["name"], answer)
        return answer

    return run
