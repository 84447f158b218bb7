"""When the best couple is one arm with itself, everybody plays it."""

from __future__ import annotations

import numpy as np

from gbb._checks import FloatArray
from gbb.optimum._optimum import Optimum, pair_table, proven_optimum
from gbb.problem import Problem


def diagonal(problem: Problem, M: FloatArray) -> Optimum | None:
    """Optimal for any graph when the largest entry of W stands on its diagonal.

    No edge can pay more than ``max W``, and playing that arm everywhere makes every edge pay it.
    """
    W = pair_table(problem, M)
    arm = int(np.argmax(np.diag(W)))
    if W[arm, arm] < W.max():
        return None
    return proven_optimum(problem, W, np.full(problem.n, arm, dtype=np.int64), "diagonal")
