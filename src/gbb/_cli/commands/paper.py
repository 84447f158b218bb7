"""``gbb paper``: the paper's table and figures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gbb._cli.given.outputs import StudyOptions, check_directory, folder_option
from gbb._cli.options import expand
from gbb._cli.show import console, grid
from gbb._support import checks

if TYPE_CHECKING:
    from gbb._support.progress import Advance
    from gbb.experiments._findings import Findings
    from gbb.experiments.paper import Progress

paper = typer.Typer(no_args_is_help=True, add_completion=False)


@dataclass(frozen=True, kw_only=True)
class PaperOptions(StudyOptions):
    """Of the table and of both figures."""

    out: Annotated[
        Path | None,
        folder_option(
            "results/paper, with -as-released, -quick, -d10, -seed1",
            "; finished parts found there are not redone",
        ),
    ] = None
    as_released: Annotated[
        bool,
        typer.Option(
            help="Only the released code's parameters and slips; else they are run beside the paper's."
        ),
    ] = False
    workers: Annotated[int, typer.Option(help="Processes to spread the parts over.")] = 1


Dimension = Annotated[
    int | None, typer.Option(show_default="5", help="Dimension and number of arms of Figure 2.")
]


@paper.command()
@expand
def table1(*, options: PaperOptions) -> None:
    """Share of uncut edges and the alphas, by type of graph."""
    _make(("table1",), options)


@paper.command()
@expand
def figure1(*, options: PaperOptions) -> None:
    """Gamma, epsilon and the alphas against zeta."""
    _make(("figure1",), options)


@paper.command()
@expand
def figure2(*, options: PaperOptions, d: Dimension = None) -> None:
    """Fraction of the optimal reward, round by round."""
    _make(("figure2",), options, d)


@paper.command("all")
@expand
def everything(*, options: PaperOptions, d: Dimension = None) -> None:
    """The table and both figures."""
    _make(("table1", "figure1", "figure2"), options, d)


def default_directory(
    *, quick: bool, as_released: bool, d: int | None = None, seed: int = 0
) -> Path:
    """``results/paper``, or another for other settings, so that they do not overwrite each other."""
    from gbb.experiments.figure2 import PAPER

    name = "paper" + "-as-released" * as_released + "-quick" * quick
    name += "" if d in (None, PAPER.d) else f"-d{d}"
    name += f"-seed{seed}" if seed else ""
    return Path("results") / name


def _make(which: tuple[str, ...], options: PaperOptions, d: int | None = None) -> None:
    from gbb.experiments import paper as experiments
    from gbb.sweep import executors

    workers = checks.integer("--workers", options.workers, low=1)
    make_executor = executors.here if workers == 1 else executors.local(workers)
    seed, switches = options.seed, {"quick": options.quick, "as_released": options.as_released}
    settings = experiments.choose(which, **switches, d=d)
    checks.integer("--seed", seed, low=0)
    place = options.out or default_directory(**switches, d=d, seed=seed)
    check_directory("--out", place)
    alone = options.as_released or default_directory(**switches, d=d) != default_directory(
        **switches
    )
    released = {} if alone else experiments.choose(which, quick=options.quick, as_released=True)
    runs = {f"{name}, as released": (name, each) for name, each in released.items()}
    runs |= {name: (name, each) for name, each in settings.items()}
    totals = {bar: experiments.EXPERIMENTS[name].steps(each) for bar, (name, each) in runs.items()}
    with _bars(totals) as bars:
        made = experiments.reproduce(
            place,
            settings,
            released=released,
            seed=seed,
            progress=bars,
            make_executor=make_executor,
        )
    for found in made.findings.values():
        _print(found)
    console.print(f"\nThe numbers behind each answer: {place / 'report.html'}", soft_wrap=True)


@contextmanager
def _bars(totals: dict[str, int]) -> Iterator[Progress]:
    """A bar for each experiment on standard error, with the time left."""
    from rich import progress as rich
    from rich.console import Console

    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        rich.TimeElapsedColumn(),
        rich.TextColumn("left"),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=Console(stderr=True)) as bars:
        tasks = {
            name: bars.add_task(name, total=total, start=False) for name, total in totals.items()
        }

        def progress(name: str) -> Advance:
            bars.start_task(tasks[name])
            return lambda steps: bars.advance(tasks[name], steps)

        yield progress


def _print(found: Findings) -> None:
    from gbb.experiments._report import compared

    console.print(f"\n[bold]{found.title}[/bold]\n{found.label}", soft_wrap=True)
    console.print(grid("", *compared(found.rows, details=False)))
    for asked in found.answers:
        note = f" ({asked.note})" if asked.note else ""
        console.print(f"  {asked.question} [bold]{asked.answer}[/bold]{note}", soft_wrap=True)
