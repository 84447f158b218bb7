"""Figure 2: the fraction of the optimal reward that the three algorithms earn, round by round."""

from gbb.experiments.figure2._constants import (
    NAME,
    PAPER,
    QUICK,
    QUICK_RELEASED,
    RELEASED,
    Settings,
    choose,
    steps,
)
from gbb.experiments.figure2._plot import plot
from gbb.experiments.figure2._report import report
from gbb.experiments.figure2._run import released_matrices, run

__all__ = [
    "NAME",
    "PAPER",
    "QUICK",
    "QUICK_RELEASED",
    "RELEASED",
    "Settings",
    "choose",
    "plot",
    "released_matrices",
    "report",
    "run",
    "steps",
]
