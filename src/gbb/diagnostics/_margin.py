"""How far a model is from good enough, with the error of that distance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._support.checks import FloatArray
from gbb.diagnostics._noise import Noise

GOOD = 0.64
"""Share of what arms change that the model must predict. Choosing by a prediction that has correlation
r with the truth keeps about r of the gain that choosing by the truth would give (the response to
selection), and 0.64 = 0.8^2: four fifths of the gain."""


class Margin(NamedTuple):
    """``R^2 - GOOD * ceiling`` of held-out predictions: good enough from 0 upwards.

    Attributes
    ----------
    value
        The margin of the model as it was fitted.
    excused
        The same without what the estimate's own noise costs, which more rounds would mend: what is
        still below 0 is the model's fault.
    error, excused_error
        One standard error of each.
    """

    value: float
    excused: float
    error: float
    excused_error: float

    @property
    def above(self) -> bool:
        """Whether it is at least 0, two standard errors to the safe side."""
        return self.value - 2.0 * self.error >= 0.0

    @property
    def below(self) -> bool:
        """Whether it is less than 0 even with two standard errors in its favour."""
        return self.excused + 2.0 * self.excused_error < 0.0


def find_margin(
    y: FloatArray,
    r: FloatArray,
    noise: Noise,
    leverage: float,
    parameters: int,
    *,
    means: int | None = None,
) -> Margin:
    """The margin of rewards ``y`` and residuals ``r``, both with their columns' means removed.

    So many ``means`` where it was not one for each column.

    With A and L the sums of squares of y and of r, J their degrees of freedom and n the variance of the
    noise, R^2 = 1 - L/A and the ceiling is 1 - J n/A, so the margin times A is linear in what is
    measured: ``(1 - GOOD) A - L + GOOD J n``. No quotient of two uncertain numbers is taken, hence a
    ceiling near 0 does no harm. Its error is that of a sum over rounds, so rewards of a round may depend
    on each other. ``leverage`` is the sum of q' A^-1 q over the predictions: the fit's own noise adds n
    times that to L, give or take sqrt(2 / parameters) of it, as a chi-squared sum of so many terms does.
    Unknown noise counts as none.
    """
    seen = np.isfinite(y)
    means = int(seen.any(axis=0).sum()) if means is None else means
    free = max(int(seen.sum()) - means, 1)
    spread = float(np.nansum(y**2))
    if not spread > 0.0:
        return Margin(np.nan, np.nan, np.nan, np.nan)
    each = np.nansum((1.0 - GOOD) * y**2 - r**2, axis=1)
    total, influence = float(each.sum()), each - each.mean()
    excuse = 0.0
    if noise.freedom:
        total += GOOD * free * noise.variance
        influence = influence + GOOD * free * noise.influence
        excuse = leverage * noise.variance
    error = float(np.sqrt((influence**2).sum()))
    doubt = float(np.hypot(error, np.sqrt(2.0 / parameters) * excuse))
    return Margin(total / spread, (total + excuse) / spread, error / spread, doubt / spread)
