"""What the commands of ``gbb control`` share: where the controller is, and how it is opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gbb._cli.loading import loading

if TYPE_CHECKING:
    with loading():
        from gbb.controller import Controller

Storage = Annotated[
    str,
    typer.Argument(
        metavar="URL",
        show_default=False,
        help="A file such as wind.db, sqlite:///wind.db, or postgresql://user@host/database.",
    ),
]
Name = Annotated[
    str | None, typer.Option(help="Which controller, where the database holds several.")
]
TrialNumber = Annotated[int, typer.Argument(metavar="TRIAL", help="The trial's number.")]
Format = Annotated[str, typer.Option(help="text, json or csv.")]
Out = Annotated[Path | None, typer.Option(metavar="FILE", help="Write it here (.json or .csv).")]


@contextmanager
def open_controller(url: str, name: str | None) -> Iterator[Controller]:
    """The controller, until the block ends."""
    from gbb.controller import Controller

    with Controller.open(url, name) as controller:
        yield controller
