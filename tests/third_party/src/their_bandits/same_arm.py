"""The best allocation that gives everybody the same arm."""

import numpy as np

from gbb.optimum import Optimum, PairProblem


def same_arm(pairs: PairProblem, _budget: object, _rng: np.random.Generator) -> Optimum | None:
    """One arm for all; None where no arm is allowed to everybody."""
    common = np.flatnonzero(pairs.allowed.all(axis=0))
    if not common.size:
        return None
    choices = [np.full(pairs.graph.n, arm) for arm in common]
    best = max(choices, key=pairs.value)
    # No link pays more than the largest entry of its table, and each link is two directed edges.
    bound = pairs.tables.max(axis=(1, 2))[pairs.types].sum() / 2
    return Optimum.of(pairs, best, "same_arm", bound=float(bound))
