"""Rewards and allocations from files and standard input; answers as text, JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from gbb import _checks
from gbb._checks import InputError
from gbb._cli.outputs import check_output
from gbb._cli.show import as_json, console, grid
from gbb._files import write_text

FORMATS = ("text", "json", "csv")


def rewards_from(source: str) -> Any:
    """Rewards from a file or ``-``: CSV or JSON rows of source, target, reward, or m numbers.

    Rows of agent and reward, or ``{"rewards": {agent: reward}}``, for rewards per agent; one number
    for one in all.
    """
    text = _read("REWARDS", source)
    if (alone := _number(text)) is not None:
        return alone
    if not text.lstrip().startswith(("[", "{")):
        return _reward_table(source, text)
    data = _json("REWARDS", source, text)
    rows = data.get("rewards") if isinstance(data, dict) else data
    values = rows.values() if isinstance(rows, dict) else rows if isinstance(rows, list) else [rows]
    if all(isinstance(value, int | float) for value in values):
        return rows
    if isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
        return pd.DataFrame(rows)
    for columns in (["source", "target", "reward"], ["agent", "reward"]):
        size = len(columns)
        if isinstance(rows, list) and all(isinstance(r, list) and len(r) == size for r in rows):
            return pd.DataFrame(rows, columns=columns)
    cure = "Write [[source, target, reward], ...], or one number per directed edge."
    raise _checks.fail("REWARDS", "be JSON rows", f"something else in {source!r}", cure)


def _reward_table(source: str, text: str) -> pd.DataFrame:
    """A table of rewards by link, by agent or in all; the problem says which of them it must be."""
    table = _table("REWARDS", source, text, ())
    by_link = ("source", "target", "reward")
    known = (by_link, ("agent", "reward"), ("reward",))
    named = [columns for columns in known if columns[0] in table.columns]
    return _with_columns("REWARDS", source, table, named[0] if named else by_link)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def table_from(name: str, source: str, columns: Sequence[str]) -> pd.DataFrame:
    """A CSV file that has these columns, all cells as text."""
    return _table(name, source, _read(name, source), columns)


def allocation_from(source: str) -> dict[str, str]:
    """An allocation from a file or ``-``: CSV of agent and arm, or JSON ``{agent: arm}``."""
    text = _read("ALLOCATION", source)
    if not text.lstrip().startswith(("[", "{")):
        table = _table("ALLOCATION", source, text, ("agent", "arm"))
        return dict(zip(table["agent"], table["arm"], strict=True))
    data = _json("ALLOCATION", source, text)
    found = data.get("allocation", data) if isinstance(data, dict) else None
    if not isinstance(found, dict):
        rule = 'be JSON like {"agent": "arm"}'
        raise _checks.fail("ALLOCATION", rule, f"something else in {source!r}")
    return found


def format_of(format: str, out: Path | None = None) -> str:
    """The format asked for; that of the file's name when there is a file."""
    if out is not None:
        named = format == "text"
        check_output("--out", out, (".json", ".csv") if named else (out.suffix.lower(),))
        format = out.suffix.removeprefix(".").lower() if named else format
    return _checks.choice("--format", format, FORMATS)


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


def _read(name: str, source: str) -> str:
    if source == "-":
        return sys.stdin.read()
    try:
        return Path(source).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"Cannot read `{name}` {source!r}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"Cannot read `{name}` {source!r}: it is no text.") from None


def _json(name: str, source: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"Cannot read `{name}` {source!r}: it is no JSON ({error}).") from None


def _table(name: str, source: str, text: str, columns: Sequence[str]) -> pd.DataFrame:
    try:
        table = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    except ValueError as error:
        reason = str(error).strip().split("\n")[0]
        raise InputError(f"Cannot read `{name}` {source!r}: it is no CSV ({reason}).") from None
    table = table.rename(columns=lambda column: str(column).strip())
    return _with_columns(name, source, table, columns).map(str.strip)


def _with_columns(
    name: str, source: str, table: pd.DataFrame, columns: Sequence[str]
) -> pd.DataFrame:
    missing = [column for column in columns if column not in table.columns]
    if missing:
        rule = f"have the columns {', '.join(columns)}"
        raise _checks.fail(name, rule, f"{', '.join(map(str, table.columns))} in {source!r}")
    return table
