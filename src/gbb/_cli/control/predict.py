"""``gbb control predict``: what an allocation pays by what is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gbb._cli.control import files
from gbb._cli.control.contexts import ContextGiven, context_of
from gbb._cli.control.options import Format, Name, Storage, open_controller
from gbb._cli.errors import warn
from gbb._cli.show import number
from gbb._support import checks


def predict(
    url: Storage,
    allocation: Annotated[
        str,
        typer.Argument(
            metavar="ALLOCATION",
            help="AGENT=ARM,AGENT=ARM,...; or a file: CSV of agent and arm, or JSON {agent: arm}; "
            "- reads it.",
        ),
    ],
    context: ContextGiven = None,
    name: Name = None,
    format: Format = "text",
) -> None:
    """What an allocation pays by what is known, with its interval."""
    files.format_of(format)
    inline = "=" in allocation and not Path(allocation).exists()
    arms = _inline(allocation) if inline else files.allocation_from(allocation)
    with open_controller(url, name) as controller:
        found = controller.predict(arms, context_of(controller.problem, context))

    data = found.to_dict()
    shown = {
        key: number(value) if format == "text" else value
        for key, value in data.items()
        if key != "caveat"
    }
    files.show(format, "predicted reward a round", ("what", "value"), shown.items(), data=data)
    if found.caveat is not None:
        warn(found.caveat)


def _inline(text: str) -> dict[str, str]:
    """The arms that ``AGENT=ARM,...`` gives."""
    arms: dict[str, str] = {}
    for item in text.split(","):
        agent, sign, arm = (part.strip() for part in item.rpartition("="))
        if not (sign and agent and arm):
            rule = "be AGENT=ARM,AGENT=ARM,... or name a file"
            raise checks.input_error("ALLOCATION", rule, f"{item!r} in {text!r}")
        if agent in arms:
            raise checks.input_error("ALLOCATION", "name every agent once", f"{agent!r} twice")
        arms[agent] = arm
    return arms
