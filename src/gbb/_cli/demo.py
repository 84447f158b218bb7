"""``gbb demo``: traffic lights, a wind farm and radio cells under control."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from gbb._cli.outputs import check_directory
from gbb._cli.show import console, pairs
from gbb._support import checks
from gbb.applications import Outcome, save
from gbb.plotting import save_figure
from gbb.simulation._progress import progress_bar

app = typer.Typer(
    help="Control a real simulator: each demo needs an extra of its own.",
    no_args_is_help=True,
    add_completion=False,
)

Rounds = Annotated[
    int | None, typer.Option("--rounds", show_default=False, help="How many rounds to play.")
]
SeedNumber = Annotated[int, typer.Option("--seed", help="Where all randomness comes from.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        show_default="results/demo-NAME",
        help="Where data, pictures and the report go.",
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="A smaller version, under a minute.")]

Case = Annotated[
    str,
    typer.Option(
        "--case",
        metavar="3x3-270|4x4-270|4x4-275",
        help="Turbines of the farm, and the wind direction in degrees.",
    ),
]
Cells = Annotated[int, typer.Option("--cells", metavar="19|37", help="How many radio cells.")]

Offsets = Annotated[
    str,
    typer.Option(
        "--arms",
        metavar="one-hot|fourier|both",
        help="How the learner sees an offset: on its own, or smoothly.",
    ),
]

Demo = Callable[..., Outcome]


@app.command("traffic")
def traffic_command(
    rounds: Rounds = None,
    seed: SeedNumber = 0,
    out: Out = None,
    quick: Quick = False,
    arms: Offsets = "both",
) -> None:
    """Offsets of a 4 x 4 grid of traffic lights, on the simulator SUMO (extra: traffic)."""
    from gbb.applications import traffic  # noqa: PLC0415

    total = traffic.steps(arms=arms, rounds=rounds, quick=quick)
    place = folder("traffic", out, quick=quick) / "loss.png"
    run = partial(
        traffic.run, arms=arms, rounds=rounds, watch=lambda figure: save_figure(figure, place)
    )
    before = place.exists()
    try:
        present("traffic", run, out=out, total=total, seed=seed, quick=quick)
    except BaseException:
        if not before:  # the picture so far, of a run that did not end
            place.unlink(missing_ok=True)
        raise


@app.command("wind")
def wind_command(
    rounds: Rounds = None,
    seed: SeedNumber = 0,
    out: Out = None,
    quick: Quick = False,
    case: Case = "4x4-270",
) -> None:
    """Yaw angles of the turbines of a wind farm, on the simulator FLORIS (extra: wind)."""
    from gbb.applications import wind  # noqa: PLC0415

    total = wind.steps(case=case, rounds=rounds, quick=quick)
    run = partial(wind.run, case=case, rounds=rounds)
    present("wind", run, out=out, total=total, seed=seed, quick=quick)


@app.command("radio")
def radio_command(
    rounds: Rounds = None,
    seed: SeedNumber = 0,
    out: Out = None,
    quick: Quick = False,
    cells: Cells = 19,
) -> None:
    """Channels of hexagonal radio cells, on the simulator CRRM (extra: radio)."""
    from gbb.applications import radio  # noqa: PLC0415

    total = radio.steps(cells=cells, rounds=rounds, quick=quick)
    run = partial(radio.run, cells=cells, rounds=rounds)
    present("radio", run, out=out, total=total, seed=seed, quick=quick)


def folder(name: str, out: Path | None, *, quick: bool) -> Path:
    """Where a demo leaves its files."""
    return out or Path("results") / f"demo-{name}{'-quick' * quick}"


def present(
    name: str,
    demo: Demo,
    *,
    out: Path | None,
    total: int,
    seed: int,
    quick: bool,
    **settings: Any,
) -> None:
    """Run ``demo`` with a progress bar of ``total`` steps, save what it leaves and print it."""
    checks.integer("--seed", seed, low=0)
    checks.integer("--rounds", total, low=1)
    place = folder(name, out, quick=quick)
    check_directory("--out", place)
    with progress_bar(total, "steps") as advance:
        outcome = demo(seed=seed, quick=quick, advance=advance, **settings)
    save(outcome, place)
    console.print(pairs(outcome.title, outcome.rows, wide=True))
    for sentence in outcome.sentences:
        console.print(f"\n{sentence}", markup=False)
    console.print(f"\nData, pictures and the report: {place}", soft_wrap=True, markup=False)
