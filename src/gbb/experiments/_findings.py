"""What a report says of a dataset: rows to compare, questions with answers, notes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gbb._support.checks import FloatArray

CURVE_ONLY = "curve only"
"""Published as a drawn curve, without numbers."""

NONE = "-"
AGREES, DIFFERS = "agrees", "differs"
OTHER_SETTING, NO_NUMBER = "other setting", "no number"


class Finding(NamedTuple):
    """One quantity: as published, by the released code, by us, and how they compare.

    ``verdict`` is one of the words above; ``detail`` says by how much and within what limit.
    ``as_released`` is ours with the settings and slips of the released code, where that was run too.
    """

    quantity: str
    published: str
    released: str
    ours: str
    verdict: str
    detail: str = ""
    as_released: str = ""


class Answer(NamedTuple):
    """A question the data answer: ``yes``, ``no`` or ``not shown``, and the numbers behind it.

    ``note`` is the part of the evidence to show beside the answer where there is room for no more.
    """

    question: str
    answer: str
    evidence: str
    note: str = ""


@dataclass(frozen=True)
class Table:
    """A table in the paper's form."""

    header: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Findings:
    """All that a report says of one experiment.

    Attributes
    ----------
    title
        What the paper calls it.
    label
        Whose setting it is, or in what it differs from the paper's.
    caption
        Every parameter of the run.
    rows
        The comparison: published, released code, ours, verdict.
    answers
        What the data say to the paper's claims.
    notes
        Why numbers differ from those published.
    table
        The paper's own table, where there is one.
    """

    title: str
    label: str
    caption: str
    rows: tuple[Finding, ...]
    answers: tuple[Answer, ...] = ()
    notes: tuple[str, ...] = ()
    table: Table | None = None


def beside(found: Findings, released: Findings) -> Findings:
    """The findings in the paper's setting, with ours as released beside each quantity.

    Numbers of the released code are judged by what was run as it runs, so no row is left as of another
    setting.
    """
    theirs = {row.quantity: row for row in released.rows}
    rows = []
    for row in found.rows:
        twin = theirs.get(row.quantity)
        judged = twin if twin is not None and row.verdict == OTHER_SETTING else row
        shown = NONE if twin is None else twin.ours
        rows.append(row._replace(verdict=judged.verdict, detail=judged.detail, as_released=shown))
    return replace(found, rows=tuple(rows))


def yes_no(holds: bool) -> str:
    """The answer to a question that the data settle without sampling error."""
    return "yes" if holds else "no"


def clearly(difference: float, error: float, *, errors: float = 2.0) -> str:
    """``yes`` when ``difference`` exceeds 0 by so many standard errors, ``no`` when it is not > 0."""
    if difference <= 0:
        return "no"
    return "yes" if math.isfinite(error) and difference > errors * error else "not shown"


def number(value: float, error: float = math.nan, digits: int = 4) -> str:
    """``0.1234 ± 0.0056``, or without the standard error where there is none."""
    text = f"{value:.{digits}f}"
    return f"{text} ± {error:.{digits}f}" if math.isfinite(error) else text


def within(ours: float, theirs: float, limit: float, why: str = "") -> tuple[str, str]:
    """Verdict and detail on two numbers that should agree up to ``limit``."""
    gap = abs(ours - theirs)
    about = f", {why}" if why else ""
    return (
        AGREES if gap <= limit else DIFFERS,
        f"{gap:.4f} apart (limit {round(limit, 4):g}{about})",
    )


def standard_error(values: FloatArray) -> float:
    """Standard error of the mean of independent values; NaN for fewer than two."""
    flat = np.ravel(values)
    return float(flat.std(ddof=1) / math.sqrt(flat.size)) if flat.size > 1 else math.nan


def standard_error_over_runs(values: FloatArray) -> float:
    """Standard error of the mean of (matrix, run) values for these very matrices."""
    matrices, runs = values.shape
    if runs < 2:
        return math.nan
    return float(np.sqrt(values.var(axis=1, ddof=1).sum() / runs) / matrices)
