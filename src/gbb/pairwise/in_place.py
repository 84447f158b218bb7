"""Local search by compiled loops that change a state in place, a chunk at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from gbb._support.budget import Budget
from gbb._support.checks import FloatArray

CHUNK = 2_000_000
"""Numbers visited between two looks at the clock: some hundredths of a second."""


class Cooling(NamedTuple):
    """Temperatures that fall linearly from ``scale * hot`` to ``scale * cold``."""

    hot: float
    cold: float
    scale: float

    def temperatures(self, progress: FloatArray) -> FloatArray:
        """The temperature at each fraction of the way."""
        falling: FloatArray = self.scale * (self.hot + (self.cold - self.hot) * progress)
        return falling


class InPlaceSearch(ABC):
    """A state under way to a local optimum.

    Every compiled call is short, so that a time limit is kept and Ctrl-C arrives between two of them,
    with the state whole.

    Parameters
    ----------
    visits
        How many numbers one sweep over all agents visits.
    """

    def __init__(self, visits: int) -> None:
        self._chunk = max(1, CHUNK // visits)

    @abstractmethod
    def _ascend(self, sweeps: int) -> int:
        """Make at most so many sweeps of single changes that gain; the changes of the last one."""

    @abstractmethod
    def _anneal(self, temperatures: FloatArray, rng: np.random.Generator) -> None:
        """Make one Metropolis sweep at each temperature."""

    def ascend(self, budget: Budget | None = None) -> None:
        """Make single changes that gain until there are none, or until the budget is over."""
        budget = Budget() if budget is None else budget
        while self._ascend(self._chunk) > 0 and not budget.over:
            pass

    def anneal(
        self, sweeps: int, cooling: Cooling, rng: np.random.Generator, budget: Budget
    ) -> bool:
        """Simulated annealing; follow it by :meth:`ascend`.

        When the budget is too small for all sweeps, cooling keeps step with the clock instead.
        Returns whether all sweeps were made; a Ctrl-C ends them, and the budget, too.
        """
        done = 0
        try:
            while done < sweeps and not budget.over:
                chunk = min(self._chunk, sweeps - done)
                progress = np.maximum((done + np.arange(chunk)) / sweeps, budget.progress)
                self._anneal(cooling.temperatures(progress), rng)
                done += chunk
        except KeyboardInterrupt:
            budget.interrupt()
            return False
        return done == sweeps
