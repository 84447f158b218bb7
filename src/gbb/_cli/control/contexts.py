"""What is known before a round, in the shell: the kind, one context, or a list of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from gbb._cli.control import files
from gbb._cli.control.edge_contexts import read_edges
from gbb._cli.options import INSTANCE, option
from gbb._support import checks
from gbb._support.csv_files import cannot_read
from gbb._support.json_text import parse_json
from gbb.contexts import Contexts, EdgeFeatures, EdgeTypes, Regimes, Vector
from gbb.contexts.base import from_json

if TYPE_CHECKING:
    import pandas as pd

    from gbb.problem import Problem

ContextsFile = Annotated[
    Path | None,
    option(
        "What is known before each round: a CSV with a column regime, one name per row; or number "
        "(with a column most, a bound on all); or type or feature, of every edge.",
        metavar="FILE",
        panel=INSTANCE,
    ),
]
ContextGiven = Annotated[
    str | None,
    option(
        "What is known before the round: a regime; NAME=NUMBER,... or numbers in order; a CSV with the "
        "types or features of all edges; or JSON.",
        metavar="CONTEXT",
    ),
]

KINDS: dict[str, Callable[..., Contexts]] = {
    "regime": Regimes,
    "number": Vector,
    "type": EdgeTypes,
    "feature": EdgeFeatures,
}
"""The column that names them all, and the kind that it makes."""

OPTION = "--contexts"


def contexts_of(path: Path | None) -> Contexts | None:
    """The kind of contexts that a file says; None without a file."""
    if path is None:
        return None
    table = _table(path)
    found = [name for name in KINDS if name in table.columns]
    if len(found) != 1:
        got = f"{', '.join(table.columns)} in {str(path)!r}"
        raise checks.input_error(OPTION, f"have one of the columns {', '.join(KINDS)}", got)
    (head,) = found
    names = table[head].tolist()
    if "" in names:
        raise cannot_read(OPTION, path, f"line {table.index[names.index('')]} has no {head}")
    settings = {"regime": (), "number": ("max_size",)}.get(head, ("max_size", "symmetric"))
    for name in table.columns:
        if name not in (head, *settings):
            known = ", ".join(settings) or "nothing else"
            rule = f"have, beside {head}, {known}"
            raise checks.input_error(OPTION, rule, f"a column {name!r} in {str(path)!r}")
    given: dict[str, Any] = {}
    if "max_size" in table.columns:
        given["max_size"] = _only(table, "max_size", path, checks.number_in, "a number")
    if "symmetric" in table.columns:
        given["symmetric"] = _only(table, "symmetric", path, YES_OR_NO.get, "yes or no")
    try:
        return KINDS[head](names, **given)
    except checks.InputError as error:
        raise checks.InputError(f"`{OPTION}` {str(path)!r}: {error}") from None


YES_OR_NO = {"yes": True, "no": False, "true": True, "false": False, "1": True, "0": False}


def _only(table: pd.DataFrame, column: str, path: Path, read: Any, what: str) -> Any:
    """The one value of a column, which holds for all; cells below the first may be blank."""
    cells = [cell for cell in table[column].tolist() if cell] or [""]
    if len(set(cells)) > 1:
        why = f"its column {column!r} has {cells[0]!r} and others, and holds for all rows"
        raise cannot_read(OPTION, path, why)
    value = read(cells[0].lower())
    if value is None:
        raise cannot_read(OPTION, path, f"its column {column!r} has {cells[0]!r}, not {what}")
    return value


def context_of(problem: Problem, text: str | None) -> Any:
    """The context that ``--context`` gives, as ``problem.contexts`` takes it."""
    contexts = problem.contexts
    if text is None or contexts is None:
        return text
    if isinstance(contexts, Regimes) and text in (contexts.names or ()):
        return text
    if text.lstrip().startswith(("{", "[")):
        return _json(text)
    if isinstance(contexts, Vector):
        return _numbers(contexts, text)
    if isinstance(contexts, EdgeTypes | EdgeFeatures):
        table = files.table_from("--context", text, ("source", "target"))
        return read_edges("--context", text, problem, table)
    return text


def _json(text: str) -> Any:
    try:
        found = parse_json(text)
    except ValueError as error:
        raise checks.input_error("--context", "be JSON where it starts like it", error) from None
    return from_json("--context", found)


def _numbers(contexts: Vector, text: str) -> Any:
    """``NAME=NUMBER,...`` as a mapping, and numbers in order as a list."""
    items = [item.strip() for item in text.split(",")]
    if all("=" in item for item in items):
        pairs = [tuple(part.strip() for part in item.rpartition("=")[::2]) for item in items]
        names = [name for name, _ in pairs]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise checks.input_error("--context", "name every number once", f"{twice!r} twice")
        return {name: checks.real(f"--context {name}", value) for name, value in pairs}
    if any("=" in item for item in items):
        rule = "be NAME=NUMBER,NAME=NUMBER,... or all numbers in order"
        raise checks.input_error("--context", rule, repr(text))
    shown = contexts.names or tuple(map(str, range(contexts.size)))
    if len(items) != contexts.size:
        rule = f"have {contexts.size} numbers ({', '.join(shown)})"
        raise checks.input_error("--context", rule, repr(text))
    return [checks.real(f"--context {n}", v) for n, v in zip(shown, items, strict=True)]


def listed_in(problem: Problem, path: Path | None) -> Any:
    """The contexts of a file, in its order; by name where they are of edges. All regimes without one."""
    contexts = problem.contexts
    if contexts is None:
        rule = "have contexts, for a table of what is best in each"
        raise checks.input_error("URL", rule, "none", "Use `gbb control recommend`.")
    if path is None:
        if isinstance(contexts, Regimes):
            return list(contexts.names or range(contexts.size))
        raise checks.input_error(OPTION, f"be given for contexts of kind {contexts.kind}", "none")
    table = _table(path)
    if isinstance(contexts, Regimes):
        column = next((name for name in ("regime", "context") if name in table.columns), None)
        if column is None:
            got = f"{', '.join(table.columns)} in {str(path)!r}"
            raise checks.input_error(OPTION, "have a column regime", got)
        return table[column].tolist()
    if isinstance(contexts, Vector):
        return _vectors(contexts, table, path)
    if "context" not in table.columns:
        raise cannot_read(OPTION, path, "it has no column 'context' with a name for each")
    groups = table.groupby("context", sort=False)
    return {name: read_edges(OPTION, path, problem, rows) for name, rows in groups}


def _vectors(contexts: Vector, table: pd.DataFrame, path: Path) -> list[list[float]]:
    """A vector for each row, from a column for each number."""
    names, columns = contexts.names or tuple(map(str, range(contexts.size))), []
    for name in names:
        column = next((each for each in (name, f"context {name}") if each in table.columns), None)
        if column is None:
            got = f"{', '.join(table.columns)} in {str(path)!r}"
            raise checks.input_error(OPTION, f"have a column {name}", got)
        columns.append(_column(table, column, path))
    return [list(row) for row in zip(*columns, strict=True)]


def _column(table: pd.DataFrame, column: str, path: Path) -> list[float]:
    numbers = []
    for line, cell in table[column].items():
        number = checks.number_in(cell)
        if number is None or not math.isfinite(number):
            why = f"line {line}, column {column!r} holds {cell!r}, which is not a finite number"
            raise cannot_read(OPTION, path, why)
        numbers.append(number)
    return numbers


def _table(path: Path) -> pd.DataFrame:
    table = files.table_from(OPTION, str(path), ())
    if not len(table):
        raise cannot_read(OPTION, path, "it holds a header only")
    return table
