"""Tables of cells from CSV text: a header, and rows as long as it; nothing is shifted or made up."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from gbb._support.checks import InputError

if TYPE_CHECKING:
    import pandas as pd


def table(name: str, source: str, text: str) -> pd.DataFrame:
    """The table in ``text``, all cells as text without blanks around; blank lines do not count."""
    import pandas as pd

    where = f"`{name}` {source!r}"
    try:
        read = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise InputError(f"Cannot read {where}: it is no CSV ({error}).") from None
    rows = [[cell.strip() for cell in row] for row in read if row]
    if not rows:
        raise InputError(f"Cannot read {where}: it is no CSV (it has no header).")
    header, *body = rows
    for number, row in enumerate(body, start=2):
        if len(row) != len(header):
            found = f"row {number} has {len(row)} cells and row 1 has {len(header)}"
            raise InputError(f"Cannot read {where}: {found}.")
    again = next((column for column in header if column and header.count(column) > 1), None)
    if again is not None:
        raise InputError(f"Cannot read {where}: it has the column {again!r} twice.")
    return pd.DataFrame(body, columns=header, dtype=str)
