"""How much is left of a sweep, while it runs."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from gbb._cli.errors import warn

if TYPE_CHECKING:
    from gbb.sweep import Task

LIVE, LOG = 0.2, 30.0
"""Seconds between two changes of the line that says how far a run is, in a terminal and in a log."""


class Left:
    """How far a run is and how long it will take: a line that changes, or one now and then in a log."""

    def __init__(self) -> None:
        self.left: dict[str, float] = {}
        self.done = self.shown = 0.0
        self.started: float | None = None
        self.live = sys.stderr.isatty()

    def begin(self, tasks: list[Task]) -> None:
        """Take up the tasks that are to be done."""
        self.left = {task.name: task.seconds for task in tasks}

    def advance(self, task: Task, error: str | None) -> None:
        """Count a task that ended.

        Time counts from the end of the first: until then workers start, and load or compile.
        """
        seconds = self.left.pop(task.name)
        if error is not None:
            warn(f"{task.name} failed: {error.rstrip('.')}.")
        now = time.monotonic()
        if self.started is None:
            self.started = now
        else:
            self.done += seconds
        if self.left and now - self.shown < (LIVE if self.live else LOG):
            return
        self.shown = now
        text = f"{len(self.left):,} task{'' if len(self.left) == 1 else 's'} left"
        if self.left and self.done:
            seconds = (now - self.started) * sum(self.left.values()) / self.done
            text += f", about {span(seconds)}"
        end = "" if self.live and self.left else "\n"
        sys.stderr.write(f"\r{text:<60}{end}" if self.live else f"{text}{end}")
        sys.stderr.flush()


def span(seconds: float) -> str:
    """A time in words."""
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} seconds"
