"""Tables of cells from CSV text: rows of one length; nothing is shifted or made up."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from gbb._support.checks import InputError

if TYPE_CHECKING:
    import pandas as pd

HEADERS = (
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("u", "v"),
    ("i", "j"),
    ("node1", "node2"),
    ("agent1", "agent2"),
)
"""What a header may call the columns of sources and targets, in small or capital letters."""

COLUMNS = ("agent", "arm", "trial", "reward", "type", "weight")
"""What it calls others that gbb knows; small and capital letters are alike here too."""


DECIMAL = re.compile(r"[+-]?[0-9]+\.[0-9]+")


class Row(list[str]):
    """The cells of a row, and the line of the file that it starts on, as an editor counts them."""

    def __init__(self, cells: Iterable[str], line: int) -> None:
        super().__init__(cells)
        self.line = line


def read_text(name: str, source: Path | BinaryIO) -> str:
    """The text of a file, or of standard input; ``name`` is the argument that a message speaks of."""
    shown = source if isinstance(source, Path) else "-"
    try:
        data = source.read_bytes() if isinstance(source, Path) else source.read()
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise cannot_read(name, shown, error.strerror) from None
    except UnicodeDecodeError as error:
        raise cannot_read(name, shown, no_utf8(error)) from None


def no_utf8(error: UnicodeDecodeError) -> str:
    """What is wrong with bytes that are no text, or text of another alphabet, and the cure."""
    line = error.object.count(b"\n", 0, error.start) + 1
    byte = f"{error.object[error.start]:#x} on line {line}"
    return f"it is not text in UTF-8 ({byte}); save it as UTF-8"


def read_rows(name: str, source: str | Path, text: str, *, skip_blank: bool = False) -> list[Row]:
    """The cells of all rows without blanks around them; empty lines do not count.

    With ``skip_blank``, rows of empty cells do not count either.
    """
    try:
        rows = list(number_lines(text, strict=True))
    except csv.Error as error:
        raise cannot_read(name, source, f"it is no CSV ({error})") from None
    rows = [row for row in rows if (any(row) if skip_blank else row)]
    if rows and all(";" in "".join(row) for row in rows):
        raise cannot_read(name, source, "columns must be separated by commas")
    for row in rows:
        if len(row) != len(rows[0]):
            cure = "; write numbers with a point: 0.5" if _has_decimal_comma(row, rows[0]) else ""
            raise cannot_read(name, source, other_length(row, rows[0]) + cure)
    return rows


def number_lines(text: str, first: int = 1, *, strict: bool = False) -> Iterator[Row]:
    """All rows, without blanks around cells; ``first`` is the number of the first line."""
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=strict)
    line = first
    for cells in reader:
        yield Row((cell.strip() for cell in cells), line)
        line = first + reader.line_num


def other_length(row: Row, first: Row) -> str:
    """What is wrong with a row that has not as many cells as the first."""
    return f"line {row.line} has {len(row)} cells and line {first.line} has {len(first)}"


def _has_decimal_comma(row: Row, first: Row) -> bool:
    """Whether a row is too long by the two halves of a number such as 0,5."""
    halves = (f"{one}.{other}" for one, other in itertools.pairwise(row) if other.isdecimal())
    return len(row) > len(first) and any(map(DECIMAL.fullmatch, halves))


def table(name: str, source: str, text: str) -> pd.DataFrame:
    """The table in ``text``, a header and all cells as text; its index are the lines of the file.

    Its ``attrs`` have the ``file``.

    Columns that gbb knows have its names for them, whichever of :data:`HEADERS` the header has.
    """
    import pandas as pd

    rows = read_rows(name, source, text)
    if not rows:
        raise cannot_read(name, source, "it is no CSV (it has no header)")
    header, body = name_columns(rows[0]), rows[1:]
    again = next((name for name, count in Counter(header).items() if name and count > 1), None)
    if again is not None:
        raise cannot_read(name, source, f"it has the column {again!r} twice")
    found = pd.DataFrame(body, columns=header, index=[row.line for row in body], dtype=str)
    found.attrs["file"] = source
    return found


def place_in(table: pd.DataFrame) -> Callable[[int], str]:
    """What a message adds of where a row of :func:`table` stands; nothing for a table of no file."""
    file, lines = table.attrs.get("file"), table.index
    return lambda row: "" if file is None else f" on line {lines[row]} of {file!r}"


def name_columns(header: Sequence[str]) -> list[str]:
    """What gbb calls the columns: any pair of :data:`HEADERS` is source and target."""
    words = [cell.lower() for cell in header]
    pair = next((pair for pair in HEADERS if set(pair) <= set(words)), ())
    known = {**{word: word for word in COLUMNS}, **dict(zip(pair, HEADERS[0], strict=False))}
    return [known.get(word, cell) for word, cell in zip(words, header, strict=True)]


def cannot_read(name: str, source: str | Path, why: str | None) -> InputError:
    """The error ``Cannot read `name` source: why``, to be raised by the caller."""
    return InputError(f"Cannot read `{name}` {str(source)!r}: {why}.")
