"""``gbb control import``: many rounds that were played elsewhere, from a file."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gbb._cli.control import files
from gbb._cli.control.options import Format, Name, Storage, open_controller
from gbb._cli.show import counted

if TYPE_CHECKING:
    from gbb.controller import Imported

SHOWN = 4
"""How many links of the first round are shown."""


def import_(  # noqa: PLR0917
    url: Storage,
    log: Annotated[
        Path,
        typer.Argument(
            metavar="LOG",
            help="A CSV: a row for each reward (key, source, target, source_arm, target_arm, reward), "
            "as export writes it, or a row for each round (key, agents' names, links as a->b); with "
            "contexts, a column context, or one for each number, as 'context wind'.",
        ),
    ],
    name: Name = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column that tells rounds apart; key, round or trial when left out.",
        ),
    ] = None,
    prefix: Annotated[
        str, typer.Option(help="What to put before every key, for files that number rounds alike.")
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what was understood; keep nothing.")
    ] = False,
    format: Format = "text",
) -> None:
    """Learn from many rounds that were played elsewhere, all of them or none."""
    files.format_of(format)
    with open_controller(url, name) as controller:
        found = controller.import_rounds(log, key=key, prefix=prefix, dry_run=dry_run)
        told = controller.status()["rounds"]
    facts = {**vars(found), "told": told}
    files.show(format, "understood", ("what", "value"), _rows(found), data=facts)
    if format == "text" and dry_run:
        typer.echo(f"would import {counted(found.new, 'round')}; nothing is written")
    elif format == "text":
        typer.echo(f"imported {counted(found.new, 'round')}; {counted(told, 'round')} told")


def _rows(found: Imported) -> list[tuple[str, Any]]:
    """What was understood, in words."""
    rows: list[tuple[str, Any]] = [
        ("rounds", f"{found.rounds}, of which {found.rounds - found.new} are there already"),
        ("rewards", f"{found.rewards}, {found.missing} cells are blank"),
        ("agents", found.agents),
        ("arms", f"{found.arms} different; {found.unknown} of all rounds' arms are not known"),
    ]
    if found.empty:
        rows.append(("left out", f"{found.empty} rounds without any reward"))
    if found.first:
        arms, rewards = found.first["allocation"], found.first["rewards"]
        rows += [
            ("first round", found.first["key"]),
            *([("its context", found.first["context"])] if "context" in found.first else []),
            ("its arms", _some(f"{agent} {arm}" for agent, arm in arms.items())),
            ("its rewards", _some(" ".join(map(str, row)) for row in rewards)),
        ]
    return rows


def _some(parts: Any) -> str:
    """The first of them, and whether there are more."""
    shown = list(itertools.islice(parts, SHOWN + 1))
    return ", ".join(shown[:SHOWN]) + (", ..." if len(shown) > SHOWN else "")
