"""A time budget that loops consult between compiled chunks."""

from __future__ import annotations

import math
import time

from gbb._support import checks, compiling


class Budget:
    """A number of seconds from now on (None: no limit).

    Importing numba and compiling kernels do not count.
    """

    def __init__(self, seconds: float | None = None) -> None:
        if seconds is not None:
            seconds = checks.real("seconds", seconds, low=0.0, low_open=True)
            compiling.stopwatch()
        self.seconds = math.inf if seconds is None else seconds
        self._interrupted = [False]  # shared by all parts of one budget
        self._compiled = compiling.seconds()
        self._start = time.perf_counter()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        compiled = compiling.seconds() - self._compiled
        return max(0.0, time.perf_counter() - self._start - compiled)

    @property
    def left(self) -> float:
        """Seconds that remain, never below 0."""
        return 0.0 if self._interrupted[0] else max(0.0, self.seconds - self.elapsed)

    @property
    def over(self) -> bool:
        """Whether nothing remains."""
        return self.left == 0.0

    def stop_when_over(self, _point: object) -> None:
        """Raise StopIteration if nothing remains: a callback of scipy's optimisers."""
        if self.over:
            raise StopIteration

    def interrupt(self) -> None:
        """End this budget and all that it is a part of, after Ctrl-C."""
        self._interrupted[0] = True

    @property
    def interrupted(self) -> bool:
        """Whether a Ctrl-C ended it."""
        return self._interrupted[0]

    @property
    def progress(self) -> float:
        """Fraction of the budget spent, from 0 to 1."""
        return min(1.0, self.elapsed / self.seconds)

    def part(self, fraction: float) -> Budget:
        """Return a budget of this fraction of what remains."""
        return self._of(self.left * fraction)

    def less(self, seconds: float) -> Budget:
        """Return a budget of what remains, less this many seconds."""
        return self._of(self.left - seconds)

    def _of(self, seconds: float) -> Budget:
        budget = Budget(None if math.isinf(seconds) else max(seconds, 1e-9))
        budget._interrupted = self._interrupted
        return budget
