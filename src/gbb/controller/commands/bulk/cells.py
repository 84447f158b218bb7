"""The cells of a table of rounds, column by column, and where in its file each row stands."""

from __future__ import annotations

import csv
import io
import itertools
import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gbb._support import checks, csv_files
from gbb._support.checks import FloatArray, InputError, IntArray
from gbb.problem import LARGEST

if TYPE_CHECKING:
    import pandas as pd

NAME = "log"
"""What messages call the table."""


class Coded(NamedTuple):
    """A column by its different values: these, and which of them each row has (-1 for a blank)."""

    values: list[Any]
    codes: IntArray


class Cells:
    """A table of rounds.

    Parameters
    ----------
    frame
        All cells, with gbb's names for the columns.
    source
        The file, or None for a table that the caller has.
    text
        What the file holds.
    """

    def __init__(self, frame: pd.DataFrame, source: Path | None, text: str) -> None:
        self._frame, self._source, self._text = frame, source, text
        self.columns: list[str] = [str(name) for name in frame.columns]
        self.rows = len(frame)

    def coded(self, column: str) -> Coded:
        """A column of names; blanks around them do not count."""
        import pandas as pd  # noqa: PLC0415  (slow to load)

        try:
            codes, values = pd.factorize(self._frame[column].to_numpy(), use_na_sentinel=True)
        except TypeError:
            raise self.unfit(
                f"its column {column!r} holds what is neither text nor a number"
            ) from None
        plain = [_plain(value) for value in values.tolist()]
        # What differs by blanks alone is the same, and blanks alone are nothing.
        places: dict[Any, int] = {"": -1}
        same = [places.setdefault(value, len(places) - 1) for value in plain]
        merged = np.array([*same, -1], dtype=np.int64)[codes]
        return Coded([value for value in places if places[value] >= 0], merged)

    def numbers(self, column: str) -> FloatArray:
        """A column of rewards, NaN where a cell is blank."""
        cells = self._frame[column].to_numpy()
        if cells.dtype.kind in "fiu":
            numbers: FloatArray = cells.astype(np.float64)
            missing = np.isnan(numbers)
        else:
            numbers, missing = self._parse(cells)
        for wrong, rule in (
            (~np.isfinite(numbers) & ~missing, "a finite number"),
            (np.abs(numbers) > LARGEST, f"a number of at most {LARGEST:g}"),
        ):
            if wrong.any():
                row = int(np.argmax(wrong))
                cure = "; leave the cell blank where a reward is missing"
                raise self.wrong(row, f"holds {cells[row]!r} as {column!r}, not {rule}{cure}")
        return numbers + 0.0  # no -0.0

    @staticmethod
    def _parse(cells: Any) -> tuple[FloatArray, Any]:
        """Numbers of text, as Python reads them; and which cells are blank."""
        listed = cells.tolist()
        try:
            if "_" in "".join(listed):  # 1_000 is no number
                raise ValueError
            numbers = np.array([float(cell) if cell else math.nan for cell in listed])
            missing = np.array([not cell for cell in listed], dtype=bool)
        except (TypeError, ValueError):
            plain = [_plain(cell) for cell in listed]
            missing = np.array([checks.is_missing(cell) or cell == "" for cell in plain])
            found = [checks.number_in(cell) for cell in plain]
            numbers = np.array([math.nan if one is None else one for one in found])
        return numbers, missing

    def wrong(self, row: int, why: str) -> InputError:
        """The error for a row, to be raised by the caller."""
        if self._source is None:
            return InputError(f"Cannot read `{NAME}`: row {row + 1} {why}.")
        return csv_files.cannot_read(NAME, self._source, f"line {self.line(row)} {why}")

    def line(self, row: int) -> int:
        """The line of the file that a row starts on; the number of a row of a table."""
        if self._source is None:
            return row + 1
        rows = (each for each in csv_files.number_lines(self._text) if each)
        return next(itertools.islice(rows, row + 1, None)).line

    def unfit(self, why: str) -> InputError:
        """The error for the whole table, to be raised by the caller."""
        if self._source is None:
            return InputError(f"Cannot read `{NAME}`: {why}.")
        return csv_files.cannot_read(NAME, self._source, why)


def open_cells(log: Any) -> Cells:
    """The cells of a pandas table or a CSV file; rows of another length than the header are refused."""
    if hasattr(log, "columns"):
        frame = log.copy(deep=False)
        frame.columns = _name(list(map(str, frame.columns)), None)
        return Cells(frame, None, "")
    if not isinstance(log, str | Path):
        raise checks.input_error(NAME, "be a CSV file or a pandas table", type(log).__name__)
    path = Path(log)
    text = csv_files.read_text(NAME, path)
    try:
        header = next((row for row in csv_files.number_lines(text) if row), None)
    except csv.Error as error:
        raise csv_files.cannot_read(NAME, path, f"it is no CSV ({error})") from None
    if header is None:
        raise csv_files.cannot_read(NAME, path, "it is no CSV (it has no header)")
    frame = _read(path, text, len(header))
    frame.columns = _name(header, path)
    return Cells(frame, path, text)


def _name(header: list[str], path: Path | None) -> list[str]:
    """Gbb's names for the columns, each once."""
    names = csv_files.name_columns(header)
    twice = next((name for name, count in Counter(names).items() if name and count > 1), None)
    if twice is not None:
        rule = f"it has the column {twice!r} twice"
        if path is None:
            raise InputError(f"Cannot read `{NAME}`: {rule}.")
        raise csv_files.cannot_read(NAME, path, rule)
    return names


def _read(path: Path, text: str, width: int) -> Any:
    """All rows below the header, as text, read at once."""
    import pandas as pd  # noqa: PLC0415  (slow to load)

    try:
        lengths = set(map(len, csv.reader(io.StringIO(text, newline=""), strict=True)))
    except csv.Error:
        lengths = set()
    if lengths - {0} != {width}:  # row by row, to say which; pandas would fill or shift them
        csv_files.read_rows(NAME, path, text)
    return pd.read_csv(
        io.StringIO(text),
        dtype=object,
        keep_default_na=False,
        na_values=[],
        skipinitialspace=True,
        index_col=False,
    )


def _plain(value: Any) -> Any:
    """A cell as a file has it, where a number is a name like any other."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else value
