"""``gbb control table``: what is best in each of some contexts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gbb._cli.control import files
from gbb._cli.control.contexts import listed_in
from gbb._cli.control.options import Format, Name, Storage, open_controller
from gbb._cli.errors import warn
from gbb._cli.given.outputs import check_output
from gbb._cli.show import number


def table(  # noqa: PLR0917
    url: Storage,
    contexts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A CSV with a row for each context: a column regime, or one for each number; for "
            "types or features of edges, a column context with its name and the columns of --context. "
            "All regimes when left out.",
        ),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Write it here, whole or not at all."),
    ] = None,
    seconds: Annotated[float, typer.Option(help="Time limit of the search in each context.")] = 2.0,
    name: Name = None,
    format: Format = "text",
) -> None:
    """The best allocation in each context, with its predicted reward: a table for a plant."""
    files.format_of(format)
    if csv is not None:
        check_output("--csv", csv, (".csv",))
    with open_controller(url, name) as controller:
        found = controller.recommend_table(listed_in(controller.problem, contexts), seconds=seconds)
    if csv is not None:
        found.write(csv)
        typer.echo(f"wrote {csv}")
    else:
        from gbb.controller.queries.plain import plain_recommendation

        data = [plain_recommendation(best) for best in found.recommendations]
        rows = [list(map(_short, row)) if format == "text" else row for row in found.rows]
        title = f"recommended in {len(rows)} contexts"
        files.show(format, title, found.columns, rows, data=data)
    if (caveat := found.recommendations[0].caveat) is not None:
        warn(caveat)


def _short(cell: object) -> object:
    return number(cell) if isinstance(cell, float) else cell
