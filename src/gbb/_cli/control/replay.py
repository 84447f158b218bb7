"""``gbb control replay``: what another policy would have earned on logged rounds."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from gbb._cli.control import files
from gbb._cli.control.options import Format, Name, Storage, open_controller
from gbb._cli.given.policies import SPEC, parse
from gbb._cli.show import console, number


def replay(  # noqa: PLR0917
    url: Storage,
    log: Annotated[
        Path | None,
        typer.Argument(
            metavar="[LOG]",
            help="A CSV as import reads it; what the controller was told when left out.",
        ),
    ] = None,
    policy: Annotated[
        str, typer.Option(metavar="SPEC", help=f"The policy, {SPEC}.")
    ] = "ImprovedOFUL",
    key: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column that tells rounds apart.")
    ] = None,
    runs: Annotated[int, typer.Option(help="How often it is played.")] = 5,
    seed: Annotated[int, typer.Option(help="Where all randomness comes from.")] = 0,
    name: Name = None,
    format: Format = "text",
) -> None:
    """What another policy would have earned on logged rounds, as the model fitted to them says."""
    files.format_of(format)
    spec = parse(policy)
    with open_controller(url, name) as controller:
        found = controller.replay(spec.name, log, key=key, runs=runs, seed=seed, **spec.settings)
    facts = asdict(found)
    rows = [
        ("policy", spec.label),
        ("rounds", f"{found.rounds}, played {found.runs} times"),
        ("estimate", f"{number(found.reward)} a round, between {number(found.low)} and "
         f"{number(found.high)}"),
        ("the log itself", "-" if found.logged is None else f"{number(found.logged)} a round"),
        ("played as logged", f"{100 * found.matched:.3g} % of the rounds"),
    ]  # fmt: skip
    files.show(format, "replay", ("what", "value"), rows, data=facts)
    if format == "text":
        console.print(f"\nIf {'; if '.join(found.assumptions)}.", markup=False)
