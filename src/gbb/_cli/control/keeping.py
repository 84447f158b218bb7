"""``gbb control backup | restore | copy | rename | delete``: keeping a controller."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gbb._cli.control.options import Name, Storage, open_controller
from gbb._cli.errors import reword
from gbb._cli.given.outputs import check_output
from gbb._support import checks

Which = Annotated[str, typer.Argument(metavar="NAME", help="The controller's name.")]
NewName = Annotated[str, typer.Argument(metavar="NEW_NAME", help="Its new name.")]
Backup = Annotated[
    Path, typer.Argument(metavar="FILE", help="A file of JSON lines, such as farm.jsonl.")
]

NEW = {"`name`": "`NEW_NAME`"}
"""What the library calls the name that a controller is given."""


def backup(url: Storage, path: Backup, name: Name = None) -> None:
    """Write controllers to a file that `restore` makes them of again."""
    from gbb.controller.log.backup import write_backup
    from gbb.controller.log.store import Store

    check_output("FILE", path, (path.suffix.lower(),))
    store = Store(url)
    try:
        written = write_backup(store, path, name)
    finally:
        store.close()
    typer.echo(f"wrote {path}: {_count(written)}")


def restore(
    path: Backup,
    url: Storage,
    name: Name = None,
    new_name: Annotated[
        str | None, typer.Option(metavar="NAME", help="What the one that is restored is called.")
    ] = None,
) -> None:
    """Make the controllers of a backup again, bit for bit."""
    from gbb.controller import restore as restore_all

    done = restore_all(path, url, name, new_name)
    typer.echo(f"restored {_count(done)}")


def _count(events: dict[str, int]) -> str:
    return ", ".join(f"{name!r} ({count} events)" for name, count in events.items()) or "nothing"


def copy(
    url: Storage,
    name: Which,
    new_name: NewName,
    to: Annotated[
        str | None, typer.Option(metavar="URL", help="Another storage; the same when left out.")
    ] = None,
) -> None:
    """Copy a controller under another name, or to another storage."""
    with open_controller(url, name) as controller, reword(NEW):
        controller.copy(new_name, to).close()
    where = "" if to is None else " in the other storage"
    typer.echo(f"copied {name!r} to {new_name!r}{where}")


def rename(url: Storage, name: Which, new_name: NewName) -> None:
    """Give a controller another name; its history says so."""
    with open_controller(url, name) as controller, reword(NEW):
        controller.rename(new_name)
    typer.echo(f"{name!r} is called {new_name!r} now")


def delete(
    url: Storage,
    name: Which,
    yes: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The name once more, in place of typing it when asked."),
    ] = None,
) -> None:
    """Remove a controller and its whole log for good."""
    with open_controller(url, name) as controller:
        if yes is None and not sys.stdin.isatty():
            cure = f"Write --yes {name}."
            raise checks.input_error(
                "--yes", "repeat the name, to delete it for good", "None", cure
            )
        again = typer.prompt(f"Type {name} to delete it for good") if yes is None else yes
        if again != name:
            rule = f"repeat the name, {name!r}, to delete it for good"
            raise checks.input_error("--yes", rule, repr(again))
        controller.delete(again)
    typer.echo(f"deleted {name!r}")
