"""``gbb control export``: what was told, for other programs and for `import` and `restore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gbb._cli.control import files
from gbb._cli.control.history import history
from gbb._cli.control.options import Name, Storage, open_controller
from gbb._cli.given.outputs import check_output


def export(
    url: Storage,
    out: Annotated[Path, typer.Option(metavar="FILE", help="A .csv, .json or .jsonl file.")],
    name: Name = None,
) -> None:
    """Every reward that counts, as CSV; the whole history, as JSON; or all of it, as JSONL."""
    check_output("--out", out, (".json", ".csv", ".jsonl"))
    if out.suffix.lower() == ".json":
        history(url, name, format="json", out=out)
        return
    with open_controller(url, name) as controller:
        if out.suffix.lower() == ".jsonl":
            controller.backup(out)
            typer.echo(f"wrote {out}")
            return
        found = controller.export_rounds()
    rows = found.itertuples(index=False, name=None)
    files.show("csv", "", list(found.columns), rows, data=None, out=out)
