"""``gbb control recommend | status | history | export``: what a controller knows and was told."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gbb._cli.control import files
from gbb._cli.control.options import Format, Name, Out, Storage, open_controller
from gbb._cli.errors import warn
from gbb._cli.show import as_json, console, number

FIELDS = ("allocation", "reward", "low", "high", "upper_bound", "gap", "proven", "caveat")
"""What ``recommend --format json`` holds."""


WHOSE = {
    "edge": ("source", "source_arm", "target", "target_arm"),
    "agent": ("agent", "arm"),
    "global": ("allocation",),
}
"""What ``export`` says of whose a reward is, by what a round reports."""


def recommend(
    url: Storage,
    name: Name = None,
    seconds: Annotated[float, typer.Option(help="Time limit of the search.")] = 2.0,
    format: Format = "text",
    out: Out = None,
) -> None:
    """The best allocation by what is known, with its predicted reward."""
    format = files.format_of(format, out)
    with open_controller(url, name) as controller:
        best = controller.recommend(seconds=seconds)
    data = {key: getattr(best, key) for key in FIELDS}
    columns = ("agent", "arm")
    files.show(format, "recommended", columns, best.allocation.items(), data=data, out=out)
    if format == "text":
        console.print(
            f"predicted reward {number(best.reward)} a round, in [{number(best.low)}, "
            f"{number(best.high)}]; no allocation pays more than {number(best.upper_bound)}"
        )
    if best.caveat is not None:
        warn(best.caveat)


def status(url: Storage, name: Name = None, format: Format = "text") -> None:
    """How far the controller is, and which trials are open."""
    files.format_of(format)
    with open_controller(url, name) as controller:
        facts = controller.status()
    rows = [row for item in facts.items() for row in _rows(*item, format)]
    files.show(format, facts["name"], ("what", "value"), rows, data=facts)


def _rows(key: str, value: Any, format: str) -> list[tuple[str, Any]]:
    """A fact of the status as rows of a table."""
    if isinstance(value, dict):
        short = format == "text"
        cells = {k: number(v) if short and isinstance(v, float) else v for k, v in value.items()}
        return [(f"{key}: {name.replace('_', ' ')}", cell) for name, cell in cells.items()]
    return [(key, _trials(value) if isinstance(value, list) else value)]


def _trials(numbers: list[int]) -> str:
    """How many trials there are, and which."""
    return f"{len(numbers)} (trial {', '.join(map(str, numbers))})" if numbers else "0"


def history(
    url: Storage,
    name: Name = None,
    kind: Annotated[list[str] | None, typer.Option(help="Only these kinds.")] = None,
    format: Format = "text",
    out: Out = None,
) -> None:
    """Every event, the oldest first."""
    format = files.format_of(format, out)
    with open_controller(url, name) as controller:
        entries = controller.history(kind or None)
    data = [
        {
            "seq": entry.seq,
            "time": entry.time.isoformat(),
            "kind": entry.kind,
            "trial": entry.trial_id,
            "content": entry.content,
        }
        for entry in entries
    ]
    rows = [
        (
            entry.seq,
            entry.time.isoformat(" ", "seconds")[:19] if format == "text" else row["time"],
            entry.kind,
            entry.trial_id,
            _short(entry.content, format),
        )
        for entry, row in zip(entries, data, strict=True)
    ]
    columns = ("seq", "time", "kind", "trial", "content")
    files.show(format, f"{len(rows)} events", columns, rows, data=data, out=out)


def _short(content: Any, format: str) -> str:
    text = as_json(content) if content else ""
    text = " ".join(text.split())
    return text if format == "csv" or len(text) < 60 else text[:57] + "..."


def export(
    url: Storage,
    out: Annotated[Path, typer.Option(metavar="FILE", help="A .csv or .json file.")],
    name: Name = None,
) -> None:
    """Every reward that counts, with its arms, as CSV; or the whole history, as JSON."""
    format = files.format_of("text", out)
    if format == "json":
        history(url, name, None, "json", out)
        return
    with open_controller(url, name) as controller:
        entries = controller.history(("ask", "tell", "attach", "retract"))
        feedback = controller.problem.feedback
    gone = {entry.content["of"] for entry in entries if entry.kind == "retract"}
    asked: dict[int | None, dict[Any, Any]] = {}
    rows = []
    for entry in entries:
        if entry.kind == "ask":
            asked[entry.trial_id] = entry.content["allocation"]
        if entry.kind not in ("tell", "attach") or entry.seq in gone:
            continue
        arms = entry.content.get("allocation") or asked[entry.trial_id]
        time = entry.time.isoformat()
        rows += [
            (entry.trial_id, time, *_whose(agents, arms), reward)
            for *agents, reward in entry.content["rewards"]
        ]
    columns = ("trial", "time", *WHOSE[feedback], "reward")
    files.show("csv", "", columns, rows, data=None, out=out)


def _whose(agents: list[Any], arms: dict[Any, Any]) -> list[Any]:
    """The agents of a reward with their arms; all of them, as JSON, for one that is the sum of all."""
    if not agents:
        return [" ".join(as_json(arms).split())]
    return [cell for agent in agents for cell in (agent, arms[agent])]
