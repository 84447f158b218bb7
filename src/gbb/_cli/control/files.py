"""Rewards and allocations from files and standard input; answers as text, JSON or CSV."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gbb._cli.given.outputs import check_output
from gbb._cli.show import as_json, console, grid
from gbb._support import checks, csv_files
from gbb._support.csv_files import cannot_read
from gbb._support.files import write_text
from gbb._support.json_text import parse_json

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("text", "json", "csv")


WANTED = {
    "edge": ("source", "target", "reward"),
    "link": ("source", "target", "reward"),
    "agent": ("agent", "reward"),
    "global": ("reward",),
}
"""The columns of a table of rewards, by what a round reports."""


def rewards_from(source: str, feedback: str) -> Any:
    """Rewards from a file or ``-``: CSV or JSON rows of source, target, reward, or m numbers.

    Of links, each is named once. Rows of agent and reward, or ``{"rewards": {agent: reward}}``, for
    rewards per agent; one number for one in all.
    """
    text, columns = _read("REWARDS", source), WANTED[feedback]
    if (alone := checks.number_in(text)) is not None:
        return alone
    if not text.lstrip().startswith(("[", "{")):
        return _table("REWARDS", source, text, columns)
    data = _json("REWARDS", source, text)
    rows = data.get("rewards", data) if isinstance(data, dict) else data
    from gbb.controller.commands.rewards import read_json_rewards

    return read_json_rewards("REWARDS", rows, feedback, lambda: f"something else in {source!r}")


def table_from(name: str, source: str, columns: Sequence[str]) -> pd.DataFrame:
    """A CSV file that has these columns, all cells as text."""
    return _table(name, source, _read(name, source), columns)


def allocation_from(source: str, name: str = "ALLOCATION") -> dict[str, str]:
    """An allocation from a file or ``-``: CSV of agent and arm, or JSON ``{agent: arm}``."""
    text = _read(name, source)
    if not text.lstrip().startswith(("[", "{")):
        return _one_round(name, source, _table(name, source, text, ("agent", "arm")))
    data = _json(name, source, text)
    found = data.get("allocation", data) if isinstance(data, dict) else None
    if not isinstance(found, dict):
        rule = 'be JSON like {"agent": "arm"}'
        raise checks.input_error(name, rule, f"something else in {source!r}")
    for agent, arm in found.items():
        if isinstance(arm, bool) or not isinstance(arm, int | str):
            rule = "have a name or number for every arm"
            raise checks.input_error(name, rule, f"{arm!r} for {agent!r} in {source!r}")
    return found


def _one_round(name: str, source: str, table: pd.DataFrame) -> dict[str, str]:
    """The arms of one round's agents, each named once."""
    trials = list(dict.fromkeys(table["trial"])) if "trial" in table.columns else []
    if len(trials) > 1:
        got = f"trials {trials[0]} and {trials[1]} in {source!r}"
        raise checks.input_error(name, "hold one round", got, "Attach each by itself.")
    arms: dict[str, str] = {}
    for agent, arm in zip(table["agent"], table["arm"], strict=True):
        if agent in arms:
            got = f"{agent!r} twice in {source!r}"
            raise checks.input_error(name, "name every agent once", got)
        arms[agent] = arm
    return arms


def format_of(format: str, out: Path | None = None) -> str:
    """The format asked for; that of the file's name when there is a file."""
    if out is not None:
        named = format == "text"
        check_output("--out", out, (".json", ".csv") if named else (out.suffix.lower(),))
        format = out.suffix.removeprefix(".").lower() if named else format
    return checks.choice("--format", format, FORMATS)


def show(
    format: str,
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    data: Any,
    out: Path | None = None,
) -> None:
    """An answer as text (a table), CSV (the same) or JSON (``data``), printed or in a file."""
    if format == "text":
        shown = [["-" if cell is None else str(cell) for cell in row] for row in rows]
        console.print(grid(title, columns, shown))
        return
    if format == "json":
        text = as_json(data) + "\n"
    else:
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
        text = buffer.getvalue()
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_text(out, text)
        typer.echo(f"wrote {out}")


def json_from(name: str, source: str) -> Any:
    """What a JSON file or ``-`` holds."""
    return _json(name, source, _read(name, source))


def _read(name: str, source: str) -> str:
    return csv_files.read_text(name, sys.stdin.buffer if source == "-" else Path(source))


def _json(name: str, source: str, text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        raise cannot_read(name, source, str(error)) from None


def _table(name: str, source: str, text: str, columns: Sequence[str]) -> pd.DataFrame:
    table = csv_files.table(name, source, text)
    if all(column in table.columns for column in columns):
        return table
    what = "column" if len(columns) == 1 else "columns"
    got = f"{', '.join(map(str, table.columns))} in {source!r}"
    raise checks.input_error(name, f"have the {what} {', '.join(columns)}", got)
