"""What no consistent learner can do without: the Graves-Lai constant of an instance."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.environment import Environment
from gbb.learning.coordinates import coordinates
from gbb.learning.families import list_allocations
from gbb.theory._barrier import Design, least_cost

TIE = 1e-12
"""Allocations within this share of the largest sums pay the same."""

KNOWN = 1e-9
"""What is left of a regressor by less than this share is known."""


class LowerBound(NamedTuple):
    """c(theta*) of an instance: a consistent learner's regret is at least about ``c log T`` for large T.

    Attributes
    ----------
    constant
        c, rounded down: it is certain that c is no less.
    upper
        It is certain that c is no more.
    """

    constant: float
    upper: float

    def regret(self, T: int) -> float:
        """``c log T``, which the regret is at least as T grows, but for terms of lower order."""
        return self.constant * math.log(checks.integer("T", T, low=1))


def lower_bound(env: Environment) -> LowerBound:
    """The Graves-Lai constant of an instance with Gaussian noise and a number per edge or link.

    A learner is consistent if its regret on every matrix grows more slowly than any power of T. On
    this one it then grows at least as ``c log T`` (Graves and Lai 1997; Lattimore and Szepesvari 2017
    for linear bandits; Combes et al. 2015 for what is seen link by link),

        ``c = min over w >= 0 of sum_a w_a Delta_a``
        ``    such that ||phi(a) - phi(a*)||^2 in H(w)^-1 <= Delta_a^2 / (2 sigma^2)`` for all other a,

    a over all allocations, Delta_a what a pays less than the best, phi(a) the sum of its edge-arms and
    ``H(w) = sum_a w_a sum_e z_e z_e'``, where the best are played for ever and all that they show is
    known. docs/theory.md says what that means at a given T, and what it does not.

    Notes
    -----
    With ``u = w Delta`` and ``y = (phi(a) - phi(a*)) / Delta_a`` every coordinate has
    the scale of regret, and c is ``2 sigma^2`` times the least sum of u with ``||y||^2 <= 1`` for
    all y: near-ties are no special case. Both ends of the answer are certified
    (:func:`gbb.theory._barrier.least_cost`).
    """
    if not isinstance(env, Environment):
        raise checks.input_error("env", "be a gbb.Environment", type(env).__name__)
    problem = env.problem
    if not problem.pays_as_paper:
        rule = "be of the paper's problem: one matrix, rewards per edge or link, every arm allowed"
        raise checks.input_error("env", rule, repr(problem))
    if env.noise != "gaussian":
        raise checks.input_error("env", "have Gaussian noise", repr(env.noise))
    family = list_allocations(problem)
    if family is None:
        rule = "have allocations that can be listed, 100,000 at most"
        cure = "Take a smaller graph, or one that is complete."
        raise checks.input_error("env", rule, f"{problem.K}^{problem.n}", cure)
    K, regressors = problem.K, coordinates(problem, symmetric=True)
    by_arms = np.zeros((K * K, len(regressors.features)))
    by_arms[np.arange(K * K), regressors.index.ravel()] = 1.0
    counts = np.unique(family.combine(by_arms.reshape(1, K, K, -1)), axis=0)
    R = env.reward_table
    pay = counts @ _pays(R, regressors.index)
    short = pay.max() - pay
    best = short <= TIE * problem.m * float(np.abs(R).max())
    features = _unknown(regressors.features, counts[best].any(axis=0))
    design = _design(counts[~best], short[~best], features, problem.ways)
    low, high = (0.0, 0.0) if design is None else least_cost(design)
    noise = 2.0 * env.sigma**2
    return LowerBound(noise * low, noise * high)


def _pays(R: FloatArray, index: IntArray) -> FloatArray:
    """What a directed edge pays on average over its directions, by unordered pair of arms."""
    each = np.zeros(int(index.max()) + 1)
    each[index] = (R + R.T) / 2.0
    return each


def _unknown(features: FloatArray, shown: FloatArray) -> FloatArray:
    """The regressors in coordinates of what the shown ones leave open, a row each; 0 where nothing."""
    sizes = np.linalg.norm(features, axis=1, keepdims=True)
    unit = features / np.where(sizes > 0.0, sizes, 1.0)
    _, values, ways = np.linalg.svd(unit[shown], full_matrices=True)
    left = unit @ ways[int((values > KNOWN).sum()) :].T
    left[np.linalg.norm(left, axis=1) <= KNOWN] = 0.0
    _, values, ways = np.linalg.svd(left, full_matrices=False)
    open_ways: FloatArray = left @ ways[values > KNOWN].T * sizes
    return open_ways


def _design(
    counts: FloatArray, short: FloatArray, features: FloatArray, ways: int
) -> Design | None:
    """The program in the scale of regret; None where all that matters is known."""
    used = features.any(axis=1)
    shares = counts[:, used] / short[:, None]
    y = shares @ features[used]
    asked = np.linalg.norm(y, axis=1) > KNOWN * np.linalg.norm(
        np.abs(shares) @ np.abs(features[used]), axis=1
    )
    tells = shares.any(axis=1)
    if not asked.any():
        return None
    return Design(features[used], ways * shares[tells], y[asked])
