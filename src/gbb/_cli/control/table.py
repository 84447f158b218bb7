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
from gbb._support.files import write_text


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
    from gbb.controller.messages import Table
    from gbb.controller.queries.table import name_contexts, recommendation_frame

    with open_controller(url, name) as controller:
        problem = controller.problem
        names, listed = name_contexts(problem, listed_in(problem, contexts))
        best = controller.execute(Table.build({"contexts": listed, "seconds": seconds})).response
        found = recommendation_frame(problem, names, best)
    if csv is not None:
        write_text(csv, found.to_csv(index=False, lineterminator="\n"))
        typer.echo(f"wrote {csv}")
    else:
        data = [each.to_dict() for each in best]
        each_row = found.itertuples(index=False, name=None)
        rows = [list(map(_short, row)) if format == "text" else list(row) for row in each_row]
        title = f"recommended in {len(rows)} contexts"
        files.show(format, title, list(found.columns), rows, data=data)
    if (caveat := best[0].caveat) is not None:
        warn(caveat)


def _short(cell: object) -> object:
    return number(cell) if isinstance(cell, float) else cell
