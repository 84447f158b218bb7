"""``gbb demo``: traffic lights, a wind farm and radio cells under control."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from gbb._cli.given.outputs import StudyOptions, check_directory, folder_option
from gbb._cli.options import expand
from gbb._support import checks

demo = typer.Typer(no_args_is_help=True, add_completion=False)


@dataclass(frozen=True, kw_only=True)
class DemoOptions(StudyOptions):
    """Of every demo."""

    out: Annotated[Path | None, folder_option("results/demo-NAME")] = None
    rounds: Annotated[
        int | None, typer.Option(show_default=False, help="How many rounds to play.")
    ] = None
    serve: Annotated[
        bool, typer.Option("--serve", help="Run it as a service, with a page to watch it on.")
    ] = False
    port: Annotated[int, typer.Option(help="With --serve: the port; 0 takes a free one.")] = 8000

    def folder(self, name: str) -> Path:
        """Where the demo leaves its files."""
        return self.out or Path("results") / f"demo-{name}{'-quick' * self.quick}"


@demo.command("traffic")
@expand
def traffic_command(
    *,
    options: DemoOptions,
    arms: Annotated[
        str | None,
        typer.Option(
            metavar="one-hot|fourier|both",
            show_default="both; fourier with --day",
            help="How the learner sees an offset: on its own, or smoothly.",
        ),
    ] = None,
    day: Annotated[
        bool, typer.Option("--day", help="A plan for each time of day, told to the learner.")
    ] = False,
) -> None:
    """Offsets of a 4 x 4 grid of traffic lights, on the simulator SUMO (extra: traffic)."""
    from gbb.applications import traffic
    from gbb.plotting import save_figure

    if options.serve:
        if day:
            raise checks.conflict("`--day` cannot be watched: leave it out with `--serve`.")
        watch_live(traffic, options, arms=arms or "both")
        return
    if day:
        from gbb.applications.traffic import day as through_the_day

        present(through_the_day, options, arms=arms or "fourier")
        return
    place = options.folder("traffic") / "loss.png"
    before = place.exists()
    try:
        watch = {"watch": lambda figure: save_figure(figure, place)}
        present(traffic, options, watch, arms=arms or "both")
    except BaseException:
        if not before:  # the picture so far, of a run that did not end
            place.unlink(missing_ok=True)
        raise


@demo.command("wind")
@expand
def wind_command(
    *,
    options: DemoOptions,
    case: Annotated[
        str,
        typer.Option(
            metavar="3x3-270|4x4-270|4x4-275",
            help="Turbines of the farm, and the wind direction in degrees.",
        ),
    ] = "4x4-270",
    rose: Annotated[
        bool,
        typer.Option("--rose", help="Winds from all directions, which are known: 4x4 turbines."),
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(show_default="5", help="With --rose: how many series of winds to play."),
    ] = None,
    safe: Annotated[
        bool,
        typer.Option("--safe", help="With --rose: also a learner that loses 2 % at most."),
    ] = False,
) -> None:
    """Yaw angles of the turbines of a wind farm, on the simulator FLORIS (extra: wind)."""
    from gbb.applications import wind

    if rose and case != "4x4-270":
        raise checks.conflict("`--case` is for one wind direction: leave it out with `--rose`.")
    if not rose and (safe or seeds is not None):
        raise checks.conflict("`--seeds` and `--safe` need `--rose`.")
    if options.serve:
        if rose:
            raise checks.conflict("`--rose` cannot be watched: leave it out with `--serve`.")
        watch_live(wind, options, case=case)
        return
    if rose:
        from gbb.applications.wind import rose as every_wind

        present(every_wind, options, seeds=5 if seeds is None else seeds, safe=safe)
        return
    present(wind, options, case=case)


@demo.command("radio")
@expand
def radio_command(
    *,
    options: DemoOptions,
    cells: Annotated[int, typer.Option(metavar="19|37", help="How many radio cells.")] = 19,
) -> None:
    """Channels of hexagonal radio cells, on the simulator CRRM (extra: radio)."""
    from gbb.applications import radio

    if options.serve:
        watch_live(radio, options, cells=cells)
        return
    present(radio, options, cells=cells)


def watch_live(simulated: ModuleType, options: DemoOptions, **settings: Any) -> None:
    """Run a demo as a service, until it is stopped."""
    from gbb._cli.commands.demo_live import run_live

    name = simulated.__name__.rpartition(".")[2]
    checks.integer("--seed", options.seed, low=0)
    place = options.folder(name)
    check_directory("--out", place)
    settings |= {"rounds": options.rounds, "quick": options.quick, "seed": options.seed}
    with simulated.live(**settings) as live:
        run_live(live, name, place / "live.db", options.port, options.seed)


def present(
    simulated: ModuleType,
    options: DemoOptions,
    hooks: dict[str, Any] | None = None,
    **settings: Any,
) -> None:
    """Run a demo with a progress bar, save what it leaves and print it.

    ``settings`` go to its ``steps`` and to its ``run``, ``hooks`` to its ``run`` alone.
    """
    from gbb._cli.show import console, pairs
    from gbb._support.progress import progress_bar
    from gbb.applications import save

    settings |= {"rounds": options.rounds, "quick": options.quick}
    total = simulated.steps(**settings)
    checks.integer("--seed", options.seed, low=0)
    checks.integer("--rounds", total, low=1)
    place = options.folder(simulated.__name__.removeprefix("gbb.applications.").replace(".", "-"))
    check_directory("--out", place)
    with progress_bar(total, "steps") as advance:
        outcome = simulated.run(seed=options.seed, advance=advance, **settings, **(hooks or {}))
    save(outcome, place)
    console.print(pairs(outcome.title, outcome.rows, wide=True))
    for sentence in outcome.sentences:
        console.print(f"\n{sentence}", markup=False)
    console.print(f"\nData, pictures and the report: {place}", soft_wrap=True, markup=False)
