"""``gbb control recommend | status``: what a controller knows."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gbb._cli.control import files
from gbb._cli.control.contexts import ContextGiven, context_of
from gbb._cli.control.options import Format, Name, Out, Storage, open_controller
from gbb._cli.errors import warn
from gbb._cli.show import console, number


def recommend(  # noqa: PLR0917
    url: Storage,
    name: Name = None,
    context: ContextGiven = None,
    seconds: Annotated[float, typer.Option(help="Time limit of the search.")] = 2.0,
    format: Format = "text",
    out: Out = None,
) -> None:
    """The best allocation by what is known, with its predicted reward."""
    format = files.format_of(format, out)
    with open_controller(url, name) as controller:
        known = context_of(controller.problem, context)
        best = controller.recommend(known, seconds=seconds)

    data, rows = best.to_dict(), best.allocation.items()
    files.show(format, "recommended", ("agent", "arm"), rows, data=data, out=out)
    if format == "text":
        where = "" if context is None else f"in the context {context}: "
        console.print(
            f"{where}predicted reward {number(best.reward)} a round, in [{number(best.low)}, "
            f"{number(best.high)}]; no allocation pays more than {number(best.upper_bound)}",
            markup=False,
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
        cells = {k: _cell(v) if short else v for k, v in value.items()}
        words = {name: name.replace("_most", " at most").replace("_", " ") for name in cells}
        return [(f"{key}: {words[name]}", cell) for name, cell in cells.items()]
    if value is None and format == "text":
        value = "nothing yet"
    if isinstance(value, list):
        value = _alerts(value) if key == "alerts" else _trials(value)
    return [(key, number(value) if isinstance(value, float) and format == "text" else value)]


def _cell(value: Any) -> Any:
    """A number in short, arms by agent on a line; what there is none of."""
    if isinstance(value, dict):
        return ", ".join(f"{agent}={arm}" for agent, arm in value.items())
    return number(value) if isinstance(value, float) else "none" if value is None else value


def _alerts(alerts: list[dict[str, str]]) -> str:
    """Which alerts are in force, a line each."""
    lines = (f"{each['severity']}: {each['kind']} since {each['since'][:19]}" for each in alerts)
    return "\n".join(lines) or "none"


def _trials(numbers: list[int]) -> str:
    """How many trials there are, and which."""
    return f"{len(numbers)} (trial {', '.join(map(str, numbers))})" if numbers else "0"
