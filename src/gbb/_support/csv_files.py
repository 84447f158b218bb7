"""Tables of cells from CSV text: rows of one length; nothing is shifted or made up."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from gbb._support.checks import InputError

if TYPE_CHECKING:
    import pandas as pd


def read_text(name: str, path: str | Path) -> str:
    """The text of a file; ``name`` is the argument that a message speaks of."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise cannot_read(name, path, error.strerror) from None
    except UnicodeDecodeError as error:
        raise cannot_read(name, path, f"it is not text ({error})") from None


def read_rows(
    name: str, source: str | Path, text: str, *, skip_blank: bool = False
) -> list[list[str]]:
    """The cells of all rows without blanks around them; empty lines do not count.

    With ``skip_blank``, rows of empty cells do not count either.
    """
    try:
        read = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise cannot_read(name, source, f"it is no CSV ({error})") from None
    rows = [[cell.strip() for cell in row] for row in read if row]
    rows = [row for row in rows if any(row)] if skip_blank else rows
    if rows and all(";" in "".join(row) for row in rows):
        raise cannot_read(name, source, "columns must be separated by commas")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            found = f"row {number} has {len(row)} cells and row 1 has {len(rows[0])}"
            raise cannot_read(name, source, found)
    return rows


def table(name: str, source: str, text: str) -> pd.DataFrame:
    """The table in ``text``, a header and all cells as text."""
    import pandas as pd

    rows = read_rows(name, source, text)
    if not rows:
        raise cannot_read(name, source, "it is no CSV (it has no header)")
    header, *body = rows
    again = next((name for name, count in Counter(header).items() if name and count > 1), None)
    if again is not None:
        raise cannot_read(name, source, f"it has the column {again!r} twice")
    return pd.DataFrame(body, columns=header, dtype=str)


def cannot_read(name: str, source: str | Path, why: str | None) -> InputError:
    """The error ``Cannot read `name` source: why``, to be raised by the caller."""
    return InputError(f"Cannot read `{name}` {str(source)!r}: {why}.")
