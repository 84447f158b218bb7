"""The numbers of an index policy, and the radius they give."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray, IntArray

HUGE = 1e100


class Rule(NamedTuple):
    """The numbers of an index policy.

    Attributes
    ----------
    tuples
        How many tuples of arms over the parts there are.
    tuple_regressor, tuple_amount
        What the edges of each tuple add to which regressors (terms x tuples, padded to whole lanes).
    types, blocks
        The matrices in play, and the blocks of the estimate that they are in; all where there are no
        contexts.
    lam
        The ridge regulariser.
    adaptive, sigma, spread, offset, shrinking
        Whether the radius is ``sigma sqrt(log det(A / lam) + spread) + offset``, the offset times
        ``sqrt(lam / smallest eigenvalue)`` if it is shrinking; otherwise it is given round by round.
    v, explore
        Scale of the posterior draw; the probability of a random round.
    starts
        From how many tuples to search.
    slack, fading
        What a proposal may miss of the best optimistic value, as a share of its size; whether that is
        divided by the square root of the round's number.
    """

    tuples: int
    tuple_regressor: IntArray
    tuple_amount: FloatArray
    types: IntArray
    blocks: IntArray
    lam: float
    adaptive: bool
    sigma: float
    spread: float
    offset: float
    shrinking: bool
    v: float
    explore: float
    starts: int
    slack: float
    fading: bool


@kernel()
def log_of_product(factors: FloatArray, count: int) -> float:
    """The logarithm of the product of the first ``count`` numbers: few logarithms, of products."""
    result, product = 0.0, 1.0
    for j in range(count):
        if factors[j] > HUGE:
            result += np.log(factors[j])
            continue
        product *= factors[j]
        if product > HUGE:
            result += np.log(product)
            product = 1.0
    return float(result + np.log(product))


@kernel()
def add_offset(rule: Rule, log_det: float, smallest: float) -> float:
    """``sigma sqrt(log_det + spread) + offset``; ``smallest`` is that eigenvalue of ``A / lam``."""
    share = 1.0 / np.sqrt(smallest) if rule.shrinking else 1.0
    return float(rule.sigma * np.sqrt(max(log_det, 0.0) + rule.spread) + share * rule.offset)
