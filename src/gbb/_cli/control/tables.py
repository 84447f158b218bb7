"""``gbb control tell-tables``: what the links of a shard paid, summed by its gateway."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any
from zipfile import BadZipFile

import typer

from gbb._cli.control import files
from gbb._cli.control.options import Name, Storage, TrialNumber, open_controller
from gbb._support import checks
from gbb._support.csv_files import cannot_read

ALL = "all"


def tell_tables(
    url: Storage,
    trial: TrialNumber,
    shard: Annotated[
        str, typer.Argument(metavar="SHARD", help="The shard's number; all for a file of several.")
    ],
    tables: Annotated[
        str,
        typer.Argument(
            metavar="TABLES",
            help='JSON {"N": [[...]], "Y": [[...]]}, with all {"0": {"N": ..., "Y": ...}, ...}; or an '
            ".npz file with N and Y, with all a row for each shard; - reads JSON from standard input.",
        ),
    ],
    name: Name = None,
) -> None:
    """What the links of a shard paid when a trial was played, summed by arms."""
    given = _read(tables)
    several = _by_shard(given) if shard == ALL else {_number(shard): _pair(given)}
    with open_controller(url, name) as controller:
        controller.tell_all_tables(trial, several)
        is_open = trial in controller.status()["open"]
        missing = controller.missing_shards(trial) if is_open else []
    left = f"{len(missing)} shards to come" if is_open else "closed"
    typer.echo(f"trial {trial}: {len(several)} told, {left}")


def _read(source: str) -> Any:
    """The content of a JSON or an .npz file."""
    if not source.lower().endswith(".npz"):
        return files.json_from("TABLES", source)
    import numpy as np

    try:
        with np.load(Path(source), allow_pickle=False) as content:
            return {key: content[key] for key in content.files}
    except (OSError, ValueError, EOFError, TypeError, AttributeError, BadZipFile) as error:
        raise cannot_read("TABLES", source, f"it is no .npz file ({error})") from None


def _by_shard(given: Any) -> dict[int, tuple[Any, Any]]:
    """The tables of each shard: of a mapping, or the rows of arrays."""
    if isinstance(given, dict) and {"N", "Y"} <= given.keys():
        for key in ("N", "Y"):
            if not hasattr(given[key], "__len__"):
                raise checks.input_error(
                    "TABLES", f"have a row of {key} for each shard", given[key]
                )
        if len(given["N"]) != len(given["Y"]):
            rule = "have as many N as Y"
            raise checks.input_error("TABLES", rule, f"{len(given['N'])} and {len(given['Y'])}")
        return dict(enumerate(zip(given["N"], given["Y"], strict=True)))
    if not isinstance(given, dict):
        raise checks.input_error("TABLES", "hold tables by shard", type(given).__name__)
    return {_number(shard): _pair(pair) for shard, pair in given.items()}


def _pair(given: Any) -> tuple[Any, Any]:
    if not isinstance(given, dict) or not {"N", "Y"} <= given.keys():
        got = f"{', '.join(given) or 'none'}" if isinstance(given, dict) else type(given).__name__
        raise checks.input_error("TABLES", "hold N and Y", got)
    return given["N"], given["Y"]


def _number(shard: str) -> int:
    if not (shard.isascii() and shard.isdecimal() and len(shard) < 19):
        raise checks.input_error("SHARD", f"be a number or {ALL!r}", repr(shard))
    return int(shard)
