"""What index policies maximise, and how ties are broken."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gbb._support.checks import FloatArray
from gbb.learning.ridge import Ridge

TIE = 1e-12
"""Values this near to the largest, measured by the largest magnitude among them, tie."""


@dataclass(frozen=True, eq=False)
class Objective:
    """What is maximised over sums of edge-arms C: ``<C, theta> + radius ||C||_{A^-1}``.

    Attributes
    ----------
    ridge
        The estimate, with A.
    centre
        theta as :attr:`gbb.Ridge.centre` has it: the estimate's, or drawn around it.
    radius
        How optimistic it is.
    """

    ridge: Ridge
    centre: FloatArray
    radius: float

    @cached_property
    def means(self) -> FloatArray:
        """``<z_ab, theta>`` by type and edge-arm (types x K x K)."""
        return self.ridge.means_at(self.centre)


def pick_near(values: FloatArray, rng: np.random.Generator) -> int:
    """Position of the largest value, ties broken at random, as the compiled choices break them."""
    ties = np.flatnonzero(values >= values.max() - TIE * np.abs(values).max())
    return int(ties[0 if len(ties) <= 1 else int(rng.random() * len(ties))])
