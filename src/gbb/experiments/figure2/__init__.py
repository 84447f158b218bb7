"""Figure 2: the fraction of the optimal reward that the three algorithms earn, round by round.

``run`` gives the ``fraction`` of the optimum over (matrix, policy, run, round); ``gamma``, ``epsilon``,
``alpha_1``, ``alpha_2`` and ``optimum`` over (matrix); the matrices ``M_star``. The algorithms share the
matrices and, run by run, the noise; a step is a round.
"""

from gbb.experiments.figure2._constants import (
    NAME,
    PAPER,
    QUICK,
    QUICK_RELEASED,
    RELEASED,
    Figure2Settings,
)
from gbb.experiments.figure2._plot import plot
from gbb.experiments.figure2._report import report
from gbb.experiments.figure2._run import choose, released_matrices, run, steps

__all__ = [
    "NAME",
    "PAPER",
    "QUICK",
    "QUICK_RELEASED",
    "RELEASED",
    "Figure2Settings",
    "choose",
    "plot",
    "released_matrices",
    "report",
    "run",
    "steps",
]
