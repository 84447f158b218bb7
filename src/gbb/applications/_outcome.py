"""What a demo leaves behind: data, numbers, sentences and pictures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gbb._support import checks, files

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Effort:
    """How much a demo simulates: the rounds that each policy plays, and what else it adds."""

    rounds: int


AnyEffort = TypeVar("AnyEffort", bound=Effort)


def choose_effort(full: AnyEffort, less: AnyEffort, rounds: int | None, quick: bool) -> AnyEffort:
    """``full``, or ``less`` if ``quick``, with another number of rounds if given."""
    usual = less if quick else full
    if rounds is None:
        return usual
    return replace(usual, rounds=checks.integer("rounds", rounds, low=1))


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of one demo.

    Attributes
    ----------
    title
        What was controlled, in a line.
    data
        Everything round by round, as labelled arrays.
    numbers
        The figures that matter, by name; they go to ``numbers.json``.
    rows
        The same as a table for people: what, value.
    sentences
        What it shows, and what it does not, in plain words.
    figures
        Pictures by file name without suffix.
    """

    title: str
    data: xr.Dataset
    numbers: Mapping[str, float]
    rows: Sequence[tuple[str, str]]
    sentences: Sequence[str] = ()
    figures: Mapping[str, Figure] = field(default_factory=dict)


def save(outcome: Outcome, folder: str | Path) -> list[Path]:
    """Write ``data.nc``, ``numbers.json``, ``report.md`` and the pictures; the paths written."""
    from gbb.plotting import save_figure  # noqa: PLC0415

    place = Path(folder)
    paths = [place / "data.nc", place / "numbers.json", place / "report.md"]
    with files.atomic(paths[0]) as temporary:
        outcome.data.to_netcdf(temporary, engine="netcdf4")
    files.write_text(paths[1], json.dumps(dict(outcome.numbers), indent=2) + "\n")
    for name, figure in outcome.figures.items():
        paths.append(place / f"{name}.png")
        save_figure(figure, paths[-1])
    files.write_text(paths[2], _report(outcome))
    return paths


def _report(outcome: Outcome) -> str:
    lines = [f"# {outcome.title}", ""]
    lines += [
        *(f"{sentence}\n" for sentence in outcome.sentences),
        "| what | value |",
        "| --- | --- |",
    ]
    lines += [f"| {what} | {value} |" for what, value in outcome.rows]
    lines += [""] + [f"![{name}]({name}.png)\n" for name in outcome.figures]
    return "\n".join(lines)
