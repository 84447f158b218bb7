"""Matrices and arms from CSV files; every message names the file, the row and the column."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from gbb._support import csv_files, files
from gbb._support.checks import FloatArray, InputError
from gbb._support.csv_files import cannot_read

NAME_HEADINGS = ("", "arm", "name")
"""First cells of a header that say that the first column holds names, even if they are numbers."""


def read_matrix(path: Path) -> FloatArray:
    """The d x d matrix in a CSV file without header."""
    rows = _rows("--matrix", path)
    if all(_number(cell) is None for cell in rows[0]):
        raise cannot_read("--matrix", path, "it has a header; leave it out")
    values = _numbers(path, rows, first_row=1, first_column=1)
    if values.shape[0] != values.shape[1]:
        shape = f"{values.shape[0]} x {values.shape[1]}"
        raise InputError(f"Expected `--matrix` {str(path)!r} to be square, but it is {shape}.")
    return values


def write_matrix(matrix: FloatArray, path: Path) -> None:
    """Write a matrix so that :func:`read_matrix` reads the very same numbers."""
    rows = [",".join(map(repr, row)) for row in matrix.tolist()]
    files.write_text(path, "\n".join(rows) + "\n")


def read_arms(path: Path) -> tuple[FloatArray, tuple[str, ...] | None]:
    """The K x d arms in a CSV file, and their names if its first column holds some."""
    rows = _rows("--arms", path)
    beyond = rows[0][1:] or rows[0]
    header = all(_number(cell) is None for cell in beyond)
    body = rows[1:] if header else rows
    if not body:
        raise cannot_read("--arms", path, "it holds a header only")
    named = header and rows[0][0].lower() in NAME_HEADINGS
    named = len(body[0]) > 1 and (named or all(_number(row[0]) is None for row in body))
    values = [row[1:] for row in body] if named else body
    names = tuple(row[0] for row in body) if named else None
    return _numbers(path, values, first_row=1 + header, first_column=1 + named), names


def _rows(option: str, path: Path) -> list[list[str]]:
    """The cells of all rows that are not blank."""
    text = csv_files.read_text(option, path)
    rows = csv_files.read_rows(option, path, text, skip_blank=True)
    if not rows:
        raise cannot_read(option, path, "it holds no numbers")
    return rows


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _numbers(path: Path, rows: list[list[str]], *, first_row: int, first_column: int) -> FloatArray:
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            value = _number(cell)
            if value is None or not math.isfinite(value):
                where = f"row {first_row + i}, column {first_column + j}"
                rule = "hold finite numbers"
                raise InputError(f"Expected {str(path)!r} to {rule}, but got {cell!r} at {where}.")
    return np.array(rows, dtype=np.float64)
