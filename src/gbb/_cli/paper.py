"""``gbb paper``: the paper's table and figures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from gbb._cli.outputs import check_directory
from gbb._cli.show import console, grid
from gbb._support import checks
from gbb.experiments import paper as experiments
from gbb.experiments._findings import Findings
from gbb.experiments._progress import Advance
from gbb.experiments.figure2 import PAPER

app = typer.Typer(
    help="Reproduce the paper's Table 1, Figure 1 and Figure 2.",
    no_args_is_help=True,
    add_completion=False,
)

Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        show_default="results/paper, with -as-released, -quick, -d10, -seed1",
        help="Where data, pictures and the report go; finished parts found there are not redone.",
    ),
]
SeedNumber = Annotated[int, typer.Option("--seed", help="Where all randomness comes from.")]
Quick = Annotated[bool, typer.Option("--quick", help="A smaller version, labelled QUICK.")]
AsReleased = Annotated[
    bool,
    typer.Option(
        "--as-released", help="Parameters and slips of the released code, to compare with."
    ),
]
Dimension = Annotated[
    int | None,
    typer.Option("--d", show_default="5", help="Dimension and number of arms of Figure 2."),
]


@app.command()
def table1(
    out: Out = None, seed: SeedNumber = 0, quick: Quick = False, as_released: AsReleased = False
) -> None:
    """Share of uncut edges and the alphas, by type of graph."""
    _make(("table1",), out, seed, quick=quick, as_released=as_released)


@app.command()
def figure1(
    out: Out = None, seed: SeedNumber = 0, quick: Quick = False, as_released: AsReleased = False
) -> None:
    """Gamma, epsilon and the alphas against zeta."""
    _make(("figure1",), out, seed, quick=quick, as_released=as_released)


@app.command()
def figure2(
    out: Out = None,
    seed: SeedNumber = 0,
    quick: Quick = False,
    as_released: AsReleased = False,
    d: Dimension = None,
) -> None:
    """Fraction of the optimal reward, round by round."""
    _make(("figure2",), out, seed, quick=quick, as_released=as_released, d=d)


@app.command("all")
def everything(
    out: Out = None,
    seed: SeedNumber = 0,
    quick: Quick = False,
    as_released: AsReleased = False,
    d: Dimension = None,
) -> None:
    """The table and both figures."""
    names = tuple(experiments.EXPERIMENTS)
    _make(names, out, seed, quick=quick, as_released=as_released, d=d)


def default_directory(
    *, quick: bool, as_released: bool, d: int | None = None, seed: int = 0
) -> Path:
    """``results/paper``, or another for other settings, so that they do not overwrite each other."""
    name = "paper" + "-as-released" * as_released + "-quick" * quick
    name += "" if d in (None, PAPER.d) else f"-d{d}"
    name += f"-seed{seed}" if seed else ""
    return Path("results") / name


def _make(
    which: tuple[str, ...],
    out: Path | None,
    seed: int,
    *,
    quick: bool,
    as_released: bool,
    d: int | None = None,
) -> None:
    settings = experiments.choose(which, quick=quick, as_released=as_released, d=d)
    checks.integer("--seed", seed, low=0)
    place = out
    if place is None:
        place = default_directory(quick=quick, as_released=as_released, d=d, seed=seed)
    check_directory("--out", place)
    with _bars(settings) as progress:
        made = experiments.reproduce(place, settings, seed=seed, progress=progress)
    for found in made.findings.values():
        _print(found)
    console.print(f"\nThe numbers behind each answer: {place / 'report.html'}", soft_wrap=True)


@contextmanager
def _bars(settings: dict[str, Any]) -> Iterator[experiments.Progress]:
    """A bar for each experiment on standard error, with the time left."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bars:
        tasks = {
            name: bars.add_task(
                name, total=experiments.EXPERIMENTS[name].steps(constants), start=False
            )
            for name, constants in settings.items()
        }

        def progress(name: str) -> Advance:
            bars.start_task(tasks[name])
            return lambda steps: bars.advance(tasks[name], steps)

        yield progress


def _print(found: Findings) -> None:
    columns = ("quantity", "published", "released", "ours", "verdict")
    rows = [row[: len(columns)] for row in found.rows]
    console.print(f"\n[bold]{found.title}[/bold]\n{found.label}", soft_wrap=True)
    console.print(grid("", columns, rows))
    for asked in found.answers:
        note = f" ({asked.note})" if asked.note else ""
        console.print(f"  {asked.question} [bold]{asked.answer}[/bold]{note}", soft_wrap=True)
