"""``gbb control check``: whether all of a log is what was written."""

from __future__ import annotations

from dataclasses import asdict

from gbb._cli.control import files
from gbb._cli.control.options import Format, Name, Storage, open_controller


def check(url: Storage, name: Name = None, format: Format = "text") -> None:
    """Read the whole log, compare it with what was kept of it, and say whether it is in order."""
    files.format_of(format)
    with open_controller(url, name) as controller:
        found = controller.check()
    facts = {"name": controller.name, **asdict(found)}
    rows = [
        ("events", f"{found.events}, each as it was written"),
        ("rounds", found.rounds),
        ("snapshot", "none" if found.snapshot is None else f"of event {found.snapshot}, agrees"),
        ("database", "whole" if found.pages else "left to the server"),
    ]
    files.show(format, controller.name, ("what", "value"), rows, data=facts)
