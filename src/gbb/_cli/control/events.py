"""An event of the history as one line of text: its number, when, and what."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from gbb._cli.show import number
from gbb._support.json_text import as_json

if TYPE_CHECKING:
    from gbb.controller import Entry

Content = Mapping[str, Any]

WIDTH = 80
KIND = 8


def line_of(entry: Entry) -> str:
    """``seq  time  kind  what``, cut off at 80 columns.

    What does not fit is in the JSON form.
    """
    time = entry.time.isoformat(" ", "seconds")[:19]
    trial = "" if entry.trial_id is None else f"trial {entry.trial_id}"
    what = SAY.get(entry.kind, _say_all)(entry.content)
    text = f"{trial}: {what}" if trial and what else trial or what
    line = f"{entry.seq:>6}  {time}  {entry.kind:<{KIND}}  {' '.join(text.split())}".rstrip()
    return line if len(line) <= WIDTH else line[: WIDTH - 3] + "..."


def _say_create(content: Content) -> str:
    return f"{_say_graph(content)}; {_say_policy(content)}"


def _say_graph(content: Content) -> str:
    graph = content["graph"]
    types = f", {graph['types']} types" if graph.get("types", 1) > 1 else ""
    return f"{graph['n']:,} agents, {graph['m']:,} directed edges{types}"


def _say_policy(content: Content) -> str:
    policy = content["policy"]
    shown = {key: value for key, value in policy["settings"].items() if key != "name"}
    return " ".join([policy["kind"], *(f"{key}={_value(value)}" for key, value in shown.items())])


def _say_ask(content: Content) -> str:
    arms = ", ".join(f"{agent}={arm}" for agent, arm in content["allocation"].items())
    after = f" after trial {content['after']}" if "after" in content else ""
    repaired = f" ({content['repaired']} repaired)" if "repaired" in content else ""
    return f"{_say_context(content)}{arms}{repaired}{after}"


def _say_context(content: Content) -> str:
    """What was known before the round, where that is short."""
    known = content.get("context")
    if isinstance(known, dict):
        known = ", ".join(f"{name}={number(value)}" for name, value in known.items())
    elif isinstance(known, list | tuple):
        known = ", ".join(map(_value, known[:4])) + (", ..." if len(known) > 4 else "")
    return "" if known is None else f"at {known}: "


def _say_told(content: Content) -> str:
    rewards = [row[-1] for row in content["rewards"]]
    key = f", key {content['key']}" if "key" in content else ""
    count = "1 reward" if len(rewards) == 1 else f"{len(rewards):,} rewards"
    return f"{_say_context(content)}{count}, {number(math.fsum(rewards))} in all{key}"


def _say_closed(content: Content) -> str:
    return str(content.get("reason", ""))


def _say_retract(content: Content) -> str:
    reason = f": {content['reason']}" if "reason" in content else ""
    return f"{content['closed_by']} taken back{reason}"


def _say_alert(content: Content) -> str:
    return (
        f"{content['alert']}: {content['text']}"
        if content["begins"]
        else f"{content['alert']} ends"
    )


def _say_tables(content: Content) -> str:
    shards = content["shards"]
    return f"shard {shards[0]}" if len(shards) == 1 else f"{len(shards):,} shards"


def _say_arms(content: Content) -> str:
    agents, arms = (_list(content[key], key) for key in ("agents", "arms"))
    return f"{agents}: {arms}"


def _list(names: Iterable[Any] | None, what: str) -> str:
    return f"all {what}" if names is None else ", ".join(map(str, names))


def _say_all(content: Content) -> str:
    return as_json(content) if content else ""


def _value(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)


SAY: dict[str, Callable[[Content], str]] = {
    "create": _say_create,
    "graph": _say_graph,
    "policy": _say_policy,
    "ask": _say_ask,
    "tell": _say_told,
    "attach": _say_told,
    "fail": _say_closed,
    "abandon": _say_closed,
    "timeout": _say_closed,
    "tables": _say_tables,
    "alert": _say_alert,
    "retract": _say_retract,
    "forbid": _say_arms,
    "pin": _say_arms,
    "allow": _say_arms,
    "discount": lambda content: f"by {number(content['factor'])}",
    "warning": lambda content: str(content["message"]),
}
"""What each kind of event says; others say all they hold."""
