"""``gbb control diagnose``: whether the pairwise model fits what was told."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from gbb._cli.control import files
from gbb._cli.control.options import Format, Name, Storage, open_controller
from gbb._cli.show import console, number


def diagnose(
    url: Storage,
    name: Name = None,
    worst: Annotated[int, typer.Option(help="How many of the worst links to list.")] = 5,
    format: Format = "text",
) -> None:
    """Whether the pairwise model predicts what was told: is it good enough to act on?"""
    files.format_of(format)
    with open_controller(url, name) as controller:
        found = controller.diagnose(worst=worst)
    facts = asdict(found)
    rows = [
        (key.replace("_", " "), number(value) if isinstance(value, float) else value)
        for key, value in facts.items()
        if key not in ("by_type", "worst", "sentence")
    ]
    rows += [
        (part.where, f"off by {number(part.mean)} on average, spread {number(part.sd)}")
        for part in (*found.by_type, *found.worst)
    ]
    files.show(format, "diagnosis", ("what", "value"), rows, data=facts)
    if format == "text":
        console.print(f"\n{found.sentence}", markup=False)
