"""How results look in a terminal of 80 columns."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gbb._support import json_text

VALUE = 40
"""The widest that values are before long names are broken, in characters."""

console = Console(highlight=False, soft_wrap=False)


def number(value: float | None, digits: int = 4) -> str:
    """A number with a few digits, whole and large ones in full, ``-`` for none."""
    if value is None or math.isnan(value):
        return "-"
    if abs(value) < 1e12 and (value == int(value) or abs(value) >= 1000):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def counted(count: int, what: str) -> str:
    """So many of them: ``1 round``, ``2 rounds``."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def around(value: float, half: float, digits: int) -> str:
    """A number with the half-width of its interval, if there is one."""
    sign = "±" if console.encoding.startswith("utf") else "+-"
    return f"{value:.{digits}f}" + ("" if math.isnan(half) else f" {sign}{half:.{digits}f}")


def between(value: float, low: float, high: float) -> str:
    """A number that is never negative, with the ends of its interval where that has any width."""
    if not low < high:
        return number(value, 3)
    return f"{number(value, 3)} ({number(max(low, min(value, 0.0)), 3)} to {number(high, 3)})"


def pairs(title: str, rows: Iterable[tuple[str, str]], *, wide: bool = False) -> Table:
    """A titled list of names and values, shown as they are: brackets are no markup.

    Long names are broken rather than values when ``wide``.
    """
    rows = list(rows)
    table = Table(
        title=Text(title), title_justify="left", title_style="bold", box=None, show_header=False
    )
    table.add_column(style="dim", no_wrap=not wide, min_width=22)
    longest = max((len(value) for _, value in rows), default=0)
    table.add_column(overflow="fold", min_width=min(longest, VALUE) if wide else None)
    for name, value in rows:
        shown = Padding(Text(name), (0, 0, 0, 2)) if wide else Text(f"  {name}")
        table.add_row(shown, Text(value))
    return table


def grid(title: str, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    """A titled table, numbers to the right; brackets are no markup."""
    table = Table(
        title=Text(title),
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    for index, column in enumerate(columns):
        table.add_column(
            column, justify="right" if index else "left", overflow="fold", no_wrap=not index
        )
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def as_json(data: Any) -> str:
    """JSON text; numbers that are not finite become null."""
    return json_text.as_json(data, indent=2)
