"""``gbb control history``: what happened, a line for each event."""

from __future__ import annotations

from typing import Annotated

import typer

from gbb._cli.control import files
from gbb._cli.control.events import line_of
from gbb._cli.control.options import Format, Name, Out, Storage, open_controller
from gbb._cli.show import as_json
from gbb._support import checks

COLUMNS = ("seq", "time", "kind", "trial", "content")


def history(  # noqa: PLR0917
    url: Storage,
    name: Name = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="Only events of this kind, such as tell; may be given often."),
    ] = None,
    last: Annotated[
        int | None, typer.Option(help="Only the last so many; all when left out.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, as --format json.")] = False,
    format: Format = "text",
    out: Out = None,
) -> None:
    """What happened, a line for each event, the oldest first."""
    if json and format not in ("text", "json"):
        raise checks.conflict(f"`--json` and `--format {format}` cannot be combined.")
    format = files.format_of("json" if json else format, out)
    with open_controller(url, name) as controller:
        entries = controller.history(kind or None, last=last)
    if format == "text":
        typer.echo("".join(f"{line_of(entry)}\n" for entry in entries), nl=False)
        return

    data = [entry.to_dict() for entry in entries]
    rows = [[*list(row.values())[:-1], _flat(row["content"])] for row in data]
    files.show(format, "", COLUMNS, rows, data=data, out=out)


def _flat(content: object) -> str:
    return " ".join(as_json(content).split()) if content else ""
