"""``gbb sweep``: many instances, any number of machines, one dataset."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from gbb._cli.errors import reword, warn
from gbb._cli.left import Left, span
from gbb._cli.options import expand
from gbb._cli.show import around, as_json, console, grid
from gbb._support import checks
from gbb.simulation.cuda import require_device
from gbb.sweep import Row, Status, Sweep, executors, exponents, forecast, summarise
from gbb.sweep import collect as collect_parts
from gbb.sweep import run as run_tasks
from gbb.sweep import status as status_of
from gbb.sweep.finish import MakeExecutor
from gbb.sweep.run import sweep_in

sweep = typer.Typer(no_args_is_help=True, add_completion=False)

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", show_default=False, help="The sweep's folder.")
]
Baseline = Annotated[str | None, typer.Option(help="A policy; the first one.")]
Markdown = Annotated[bool, typer.Option(help="Print a Markdown table.")]
Json = Annotated[bool, typer.Option(help="Print JSON.")]

WORDS = {"`path`": "`SPEC`", "`policies`": "policies"}
"""What a declaration's errors call things where the user has no such option."""


@sweep.command("run")
@expand
def run_command(
    spec: Annotated[
        Path, typer.Argument(metavar="SPEC", show_default=False, help="A TOML file: what to play.")
    ],
    *,
    out: Annotated[Path | None, typer.Option(help="The folder; SPEC's name without .toml.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes, or threads.")] = None,
    threads: Annotated[bool, typer.Option(help="Threads in place of processes.")] = False,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS|local", help="A Dask scheduler.")
    ] = None,
    slurm: Annotated[
        str | None, typer.Option(metavar="PARTITION|local", help="A Slurm partition, by submitit.")
    ] = None,
    cuda: Annotated[bool, typer.Option(help="Play on this machine's GPU.")] = False,
    only: Annotated[str | None, typer.Option(metavar="TASK", help="Do this task alone.")] = None,
    dry_run: Annotated[bool, typer.Option(help="Say what it would do, and do nothing.")] = False,
) -> None:
    """Do what is missing of a sweep; what is done stays, whatever ends it."""
    with reword(WORDS):
        declared = Sweep.read(spec)
    if cuda:
        declared = replace(declared, method="cuda")
    if dry_run:
        _forecast(declared)
        return
    folder = spec.with_suffix("") if out is None else out
    if folder == spec:
        raise checks.input_error("out", "be given where SPEC has no ending", f"none for {spec}")
    if declared.method == "cuda" and dask is None and slurm is None:  # workers may have one each
        require_device()
    if declared.method == "cuda" and (workers, threads, dask, slurm) == (None, False, None, None):
        workers, threads = 1, True  # one launch after the other fills the device
    make = _executor(folder, workers, threads=threads, dask=dask, slurm=slurm)
    shown = Left()
    found = run_tasks(
        declared,
        folder,
        make_executor=make,
        only=only,
        begin=shown.begin,
        advance=shown.advance,
    )
    _say(found, folder)
    if found.failures:
        raise typer.Exit(1)


@sweep.command("status")
@expand
def status_command(folder: Folder, json: Json = False) -> None:
    """How far a sweep is, and which tasks failed."""
    found = status_of(folder)
    if json:
        typer.echo(as_json({**vars(found), "complete": found.complete}))
        return
    _say(found, folder)


@sweep.command("collect")
@expand
def collect_command(folder: Folder) -> None:
    """Write all results as one netCDF dataset with named dimensions."""
    console.print(f"Wrote {collect_parts(folder)}.")


@sweep.command("table")
@expand
def table_command(
    folder: Folder,
    by: Annotated[list[str] | None, typer.Option(help="Axes to tell apart; all.")] = None,
    baseline: Baseline = None,
    markdown: Markdown = False,
    json: Json = False,
) -> None:
    """What every policy lost, with 95 % intervals over matrices, and against a baseline."""
    rows = summarise(folder, by=[] if by == ["none"] else by, baseline=baseline)
    if json:
        typer.echo(as_json([row._asdict() for row in rows]))
        return
    columns = ("policy", "lost, %", "ratio", "wins, %")
    if markdown:
        table = [(*map(str, row.cell.values()), row.policy, *_cells(row)) for row in rows]
        _show((*rows[0].cell, *columns), table, markdown=True)
        return
    for cell, own in itertools.groupby(rows, key=lambda row: row.cell):
        where = ", ".join(f"{name} {value}" for name, value in cell.items())
        _show(columns, [(row.policy, *_cells(row)) for row in own], markdown=False, where=where)


@sweep.command("exponents")
@expand
def exponents_command(folder: Folder, markdown: Markdown = False, json: Json = False) -> None:
    """How regret grows with rounds, agents, edges, arms: exponents with 95 % intervals.

    Where a regret is not positive there is no slope: then the share of those that there are is said.
    """
    found = exponents(folder)
    if json:
        typer.echo(as_json([each._asdict() for each in found]))
        return
    kinds = list(dict.fromkeys(each.along for each in found))
    rows: dict[str, list[str]] = {}
    for each in found:
        text = around(each.exponent, each.high - each.exponent, 2)
        if 0.0 < each.fitted < 1.0:
            text += f" (of {100 * each.fitted:.0f} %)"
        rows.setdefault(each.policy, []).append(text)
    table = [(name, *values) for name, values in rows.items()]
    _show(("policy", *(f"in {kind}" for kind in kinds)), table, markdown=markdown)


def _show(
    columns: Sequence[str], table: list[tuple[str, ...]], *, markdown: bool, where: str = ""
) -> None:
    if not markdown:
        title = f"{where}{'; ' * bool(where)}95 % intervals over matrices"
        console.print(grid(title, columns, table))
        return
    for row in (columns, ["---"] * len(columns), *table):
        typer.echo(f"| {' | '.join(row)} |")


@sweep.command("plot")
@expand
def plot_command(
    folder: Folder,
    rows: Annotated[str | None, typer.Option(help="The axis down.")] = None,
    columns: Annotated[str | None, typer.Option(help="The axis across.")] = None,
    baseline: Baseline = None,
) -> None:
    """Draw regret curves and wins against the baseline over two axes, and exponents."""
    from gbb.sweep.results.pictures import draw_curves, draw_exponents, draw_wins, save_small

    made = {
        "curves.png": draw_curves(folder, rows, columns),
        "exponents.png": draw_exponents(folder),
    }
    if len(sweep_in(folder).names) > 1:
        made["wins.png"] = draw_wins(folder, baseline, rows, columns)
    for name, figure in made.items():
        save_small(figure, folder / name)
    console.print(f"Wrote {', '.join(made)} in {folder}.")


def _cells(row: Row) -> tuple[str, str, str]:
    return (
        around(100 * row.lost, 100 * (row.lost_high - row.lost), 2),
        around(row.ratio, row.ratio_high - row.ratio, 3),
        _share(row.wins, row.wins_low, row.wins_high),
    )


def _share(share: float, low: float, high: float) -> str:
    """A share in %, with the ends of its interval where it has any width."""
    ends = f" ({100 * low:.0f} to {100 * high:.0f})" if low < high else ""
    return f"{100 * share:.0f}{ends}"


def _executor(
    folder: Path, workers: int | None, *, threads: bool, dask: str | None, slurm: str | None
) -> MakeExecutor:
    """Where the tasks go."""
    given = {"--threads": threads, "--dask": dask is not None, "--slurm": slurm is not None}
    chosen = [name for name, is_given in given.items() if is_given]
    if slurm is not None or dask not in (None, "local"):  # these have workers of their own
        chosen += ["--workers"] * (workers is not None)
    if len(chosen) > 1:
        raise checks.conflict(f"`{chosen[0]}` and `{chosen[1]}` cannot be combined.")
    if dask is not None:
        with reword({"`address`": "`--dask`"}):
            return executors.dask(None if dask == "local" else dask, workers=workers)
    if slurm == "local":
        return executors.slurm(folder / "jobs", cluster="local", timeout_min=60)
    if slurm is not None:
        settings = {"slurm_partition": slurm, "timeout_min": 60, "cpus_per_task": 1}
        return executors.slurm(folder / "jobs", cluster="slurm", **settings)
    return executors.local(workers, threads=threads)


def _forecast(declared: Sweep) -> None:
    found = forecast(declared)
    console.print(
        f"{found.instances:,} instances ({found.cells:,} combinations x {declared.matrices} matrices), "
        f"{found.runs:,} runs, {found.rounds:,} rounds;\n"
        f"{found.tasks:,} tasks, {found.bytes / 1e6:,.3g} MB in parts; about {span(found.seconds)} on "
        f"{'a GPU, reckoned from' if declared.method == 'cuda' else 'one core, by'} a short measurement."
    )


def _say(found: Status, folder: Path) -> None:
    left = "" if found.complete else f", about {span(found.seconds_left)} left on one core"
    console.print(f"{found.done:,} of {found.tasks:,} tasks done in {folder}{left}.")
    for name, error in found.failures.items():
        warn(f"{name} failed: {error.rstrip('.')}. Try it alone with --only {name}.")
