"""Progress: the callback that long work reports to, and a bar with the time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int], None]
"""Called with the number of steps done since the last call."""


def ignore(steps: int) -> None:
    """Show nothing."""


@contextmanager
def progress_bar(total: int, label: str = "rounds") -> Iterator[Advance]:
    """Show a bar of ``total`` steps on standard error; yield the function that advances it."""
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda steps: bar.advance(task, steps)
