"""Matrices and arms from CSV files; every message names the file, the line and the column."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gbb._support import csv_files, files
from gbb._support.checks import FloatArray, InputError, number_in
from gbb._support.csv_files import Row, cannot_read

NAME_HEADINGS = ("", "arm", "name", "id", "arm_id", "label", "index", "no", "nr", "number", "#")
"""First cells of a header that say that the first column holds names, even if they are numbers."""


def read_matrix(path: Path) -> FloatArray:
    """The d x d matrix in a CSV file without header."""
    rows = _rows("--matrix", path)
    if all(number_in(cell) is None for cell in rows[0]):
        raise cannot_read("--matrix", path, "it has a header; leave it out")
    values = _numbers("--matrix", path, rows)
    if values.shape[0] != values.shape[1]:
        shape = f"{values.shape[0]} x {values.shape[1]}"
        raise InputError(f"Expected `--matrix` {str(path)!r} to be square, but it is {shape}.")
    return values


def write_matrix(matrix: FloatArray, path: Path) -> None:
    """Write a matrix so that :func:`read_matrix` reads the very same numbers."""
    rows = [",".join(map(repr, row)) for row in matrix.tolist()]
    files.write_text(path, "\n".join(rows) + "\n")


class Arms(NamedTuple):
    """Arms as they stand in a file."""

    features: FloatArray
    """K x d numbers."""

    names: tuple[str, ...] | None = None
    """What the first column calls them, if it holds names."""

    columns: tuple[str, ...] | None = None
    """What the header calls the features, if there is one; the names of arms that have names only."""

    @property
    def names_only(self) -> bool:
        """Whether they are one-hot, as the file has no features."""
        return self.names is not None and self.columns == self.names


def read_arms(path: Path) -> Arms:
    """The arms in a CSV file, with their names if its first column holds some.

    A first column of numbers that just counts the rows is a feature, and a warning says so, unless the
    header calls it one of :data:`NAME_HEADINGS`. Arms that have names only are one-hot: nothing is
    known of how they are alike.
    """
    rows = _rows("--arms", path)
    if len(rows[0]) == 1 and all(number_in(row[0]) is None for row in rows):
        return _one_hot(path, rows)
    beyond = rows[0][1:] or rows[0]
    header = all(number_in(cell) is None for cell in beyond)
    body = rows[1:] if header else rows
    if not body:
        raise cannot_read("--arms", path, "it holds a header only")
    named = header and rows[0][0].lower() in NAME_HEADINGS
    named = len(body[0]) > 1 and (named or all(number_in(row[0]) is None for row in body))
    names = _names(path, body) if named else None
    columns = tuple(rows[0][named:]) if header else None
    features = _numbers("--arms", path, body, skip=int(named))
    if not named:
        _doubt_first_column(path, features)
    return Arms(features, names, columns)


def _one_hot(path: Path, rows: Sequence[Row]) -> Arms:
    """The arms of a file that has a column of names only."""
    if rows[0][0].lower() not in NAME_HEADINGS or len(rows) == 1:
        why = "it holds names and no numbers; add columns of features, or head the names with the "
        raise cannot_read("--arms", path, f"{why}word arm to have one-hot arms")
    names = _names(path, rows[1:])
    return Arms(np.eye(len(names)), names, names)


def _names(path: Path, rows: Sequence[Row]) -> tuple[str, ...]:
    """The names in the first column, each once."""
    lines: dict[str, int] = {}
    for row in rows:
        if row[0] in lines:
            why = f"line {row.line} names the arm {row[0]!r}, as line {lines[row[0]]} does"
            raise cannot_read("--arms", path, f"{why}; give each arm a name of its own")
        lines[row[0]] = row.line
    return tuple(lines)


def _doubt_first_column(path: Path, features: FloatArray) -> None:
    """Warn of a first feature that counts the arms: it may be meant as their names."""
    K, d = features.shape
    first = features[:, 0]
    if K > 2 and d > 1 and np.array_equal(first - first[0], np.arange(K)) and first[0] in (0, 1):
        warnings.warn(
            f"Took the first column of `--arms` {str(path)!r}, which counts the rows, as a feature. "
            "If it holds the arms' names, head it with the word arm.",
            stacklevel=2,
        )


def _rows(option: str, path: Path) -> list[Row]:
    """The cells of all rows that are not blank."""
    text = csv_files.read_text(option, path)
    rows = csv_files.read_rows(option, path, text, skip_blank=True)
    if not rows:
        raise cannot_read(option, path, "it holds no numbers")
    return rows


def _numbers(option: str, path: Path, rows: Sequence[Row], *, skip: int = 0) -> FloatArray:
    """The numbers of all columns but the first ``skip``."""
    for row in rows:
        for column, cell in enumerate(row[skip:], start=skip + 1):
            value = number_in(cell)
            if value is None or not math.isfinite(value):
                where = f"line {row.line}, column {column}"
                what, got = f"`{option}` {str(path)!r}", f"{cell!r} at {where}"
                raise InputError(f"Expected {what} to hold finite numbers, but got {got}.")
    return np.array([row[skip:] for row in rows], dtype=np.float64)
