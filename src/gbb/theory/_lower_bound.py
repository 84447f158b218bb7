"""The Graves-Lai constant: the regret that no consistent learner avoids, certified from both sides."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.environment import Environment
from gbb.learning.coordinates import coordinates
from gbb.learning.tuples import list_allocations
from gbb.theory._alphas import check_covered

TIE = 1e-12
"""Allocations within this share of the largest possible reward are tied for the best."""

RESOLUTION = 1e-9
"""A direction that is left with less than this share of its length counts as known."""

GAP = 1e-6
"""Relative difference of the two bounds at which the barrier method stops."""

MAX_CENTRES, MAX_NEWTON_STEPS = 40, 60
"""Limits on the steps of the barrier, and on the Newton steps of each."""

FULL_STEP = 0.05
"""A Newton step that promises less than this is taken without a test of its value."""

GROWTH = 8.0
"""Factor by which the weight of the cost grows from centre to centre."""


class LowerBound(NamedTuple):
    """c(theta*) of an instance: the regret of a consistent learner is at least ``(c - o(1)) log T``.

    Attributes
    ----------
    constant, upper
        Certified bounds: ``constant <= c <= upper``.
    """

    constant: float
    upper: float

    def regret(self, T: int) -> float:
        """Return ``constant * log T``, a lower bound but for terms of lower order."""
        return self.constant * math.log(checks.integer("T", T, low=1))


def lower_bound(env: Environment) -> LowerBound:
    """Return the Graves-Lai constant of an instance with Gaussian noise and rewards per edge or link.

    A learner is consistent if its regret on every matrix grows more slowly than any power of T. On
    this one it then grows at least as ``c log T`` (Graves and Lai 1997; Lattimore and Szepesvari 2017
    for linear bandits; Combes et al. 2015 for rewards per link),

        ``c = min over w >= 0 of sum_a w_a Delta_a``
        ``    such that ||phi(a) - phi(a*)||^2 in H(w)^-1 <= Delta_a^2 / (2 sigma^2)`` for all other a,

    over all allocations a with gap Delta_a and sum of edge-arms phi(a), and with
    ``H(w) = sum_a w_a sum_e z_e z_e'``. The best allocations cost nothing, so all that they reveal is
    known. docs/theory.md explains what that means at a given T, and what it does not.

    Notes
    -----
    With ``u = w Delta`` and ``y = (phi(a) - phi(a*)) / Delta_a`` all coordinates have the scale of
    regret, and c is ``2 sigma^2`` times the minimum of sum u under ``||y||^2 <= 1`` for all y: near-ties
    are no special case.
    """
    check_covered(env)
    if env.noise != "gaussian":
        raise checks.input_error("env", "have Gaussian noise", repr(env.noise))
    problem, K = env.problem, env.problem.K
    family = list_allocations(problem)
    if family is None:
        rule = "have allocations that can be listed, 100,000 at most"
        cure = "Take a smaller graph, or one that is complete."
        raise checks.input_error("env", rule, f"{K}^{problem.n}", cure)
    # Allocations that play each unordered pair of arms equally often are one and the same here.
    pairs = coordinates(problem, symmetric=True)
    one_hot = np.eye(len(pairs.features))[pairs.index]
    counts = np.unique(family.combine(one_hot[None]), axis=0)
    R = env.reward_table
    # By pair, in the order of triu_indices as in the coordinates.
    rewards = counts @ ((R + R.T) / 2.0)[np.triu_indices(K)]
    gaps = rewards.max() - rewards
    best = gaps <= TIE * problem.m * float(np.abs(R).max())
    features = _project_out(pairs.features, counts[best].any(axis=0))
    program = _build_program(counts[~best], gaps[~best], features, problem.ways)
    low, high = (0.0, 0.0) if program is None else minimum_cost(program)
    return LowerBound(2.0 * env.sigma**2 * low, 2.0 * env.sigma**2 * high)


def _project_out(features: FloatArray, observed: FloatArray) -> FloatArray:
    """Return the features in coordinates of the complement of the observed ones; rows may be 0."""
    norms = np.linalg.norm(features, axis=1, keepdims=True)
    unit = features / np.where(norms > 0.0, norms, 1.0)
    _, values, directions = np.linalg.svd(unit[observed], full_matrices=True)
    unknown = unit @ directions[int((values > RESOLUTION).sum()) :].T
    unknown[np.linalg.norm(unknown, axis=1) <= RESOLUTION] = 0.0
    _, values, directions = np.linalg.svd(unknown, full_matrices=False)
    projected: FloatArray = unknown @ directions[values > RESOLUTION].T * norms
    return projected


class Program(NamedTuple):
    """Minimise ``sum u`` over ``u >= 0`` such that ``y' H^-1 y <= 1`` for every row y of Y.

    ``H = sum_p h_p f_p f_p'`` with f_p the rows of F and ``h = B'u``: row k of B is what a unit of u_k
    observes of each f_p.
    """

    F: FloatArray
    B: FloatArray
    Y: FloatArray


def _build_program(
    counts: FloatArray, gaps: FloatArray, features: FloatArray, numbers: int
) -> Program | None:
    """Return the program in the scale of regret; None if everything that matters is known."""
    unknown = features.any(axis=1)
    F, shares = features[unknown], counts[:, unknown] / gaps[:, None]
    Y = shares @ F
    # A sum that cancels to rounding is 0: that allocation cannot become the best.
    largest = np.linalg.norm(np.abs(shares) @ np.abs(F), axis=1)
    constrained = np.linalg.norm(Y, axis=1) > RESOLUTION * largest
    if not constrained.any():
        return None
    return Program(F, numbers * shares[shares.any(axis=1)], Y[constrained])


def minimum_cost(program: Program) -> tuple[float, float]:
    """Return a lower and an upper bound on the minimum of ``sum u``, as close as rounding allows.

    Newton steps on ``t sum u - sum log(1 - y' H^-1 y) - sum log u`` with growing t find u. Whatever they
    did, the bounds are certified from u alone (:func:`_certify`).
    """
    B = program.B
    u = np.full(len(B), 1.0 / len(B))
    phi, _, _ = _evaluate(program, u)
    u *= 2.0 * phi.max()  # strictly feasible, as phi scales with 1 / u
    weight = (len(B) + len(program.Y)) / float(u.sum())
    low, high = 0.0, np.inf
    for _ in range(MAX_CENTRES):
        u = _centre(program, u, weight)
        new_low, new_high = _certify(program, u)
        improved = new_low > low or new_high < (1.0 - GAP) * high
        low, high = max(low, new_low), min(high, new_high)
        if high - low <= GAP * high or not improved:
            break
        weight *= GROWTH
    return min(low, high), high  # rounding may have crossed them


def _evaluate(program: Program, u: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ``y' H^-1 y`` of every y, ``y' H^-1 f_p`` of every pair, and ``f_p' H^-1 f_q``."""
    F, B, Y = program
    # By the singular values of H's root: forming H would square its condition number.
    _, values, directions = np.linalg.svd(np.sqrt(B.T @ u)[:, None] * F, full_matrices=False)
    whiten = directions.T / values
    f, y = F @ whiten, Y @ whiten
    return (y * y).sum(axis=1), y @ f.T, f @ f.T


def _barrier(program: Program, u: FloatArray, weight: float) -> float:
    phi, _, _ = _evaluate(program, u)
    if not (phi < 1.0).all():
        return np.inf
    return float(weight * u.sum() - np.log1p(-phi).sum() - np.log(u).sum())


def _centre(program: Program, u: FloatArray, weight: float) -> FloatArray:
    """Return the minimum of the barrier at one weight, by damped Newton steps.

    The Hessian is a diagonal plus ``B M B'`` with M as small as h is, so that a step costs O(rows of B
    and Y).
    """
    B = program.B
    value = _barrier(program, u, weight)
    for _ in range(MAX_NEWTON_STEPS):
        phi, cross, inner = _evaluate(program, u)
        slack = 1.0 / (1.0 - phi)
        squares = cross * cross
        gradient = weight - B @ (squares.T @ slack) - 1.0 / u
        M = 2.0 * inner * (cross.T @ (slack[:, None] * cross))
        M += squares.T @ (slack[:, None] ** 2 * squares)
        e, V = np.linalg.eigh(M)
        root = B @ (V * np.sqrt(np.maximum(e, 0.0)))
        scaled = u[:, None] * root  # in units of u the diagonal of the Hessian is 1
        right = u * gradient
        small = np.eye(len(e)) + scaled.T @ scaled  # the Woodbury identity
        step = right - scaled @ np.linalg.solve(small, scaled.T @ right)
        decrement = float(right @ step)
        if not decrement > 1e-9:
            break
        # In units of u: a step of less than 1 leaves u > 0.
        size = min(1.0, 0.95 / float(np.maximum(step.max(), 1e-300)))
        while True:
            new = _barrier(program, u - size * u * step, weight)
            # Close to the centre, values differ by rounding alone.
            close = decrement < FULL_STEP and np.isfinite(new)
            if close or new <= value - 0.1 * size * decrement:
                break
            size *= 0.5
            if size < 1e-10:
                return u
        u, value = u - size * u * step, new
    return u


def _certify(program: Program, u: FloatArray) -> tuple[float, float]:
    """Return bounds on the minimum that hold for any u > 0, whatever the solver did.

    Upper: u times ``max_y y' H^-1 y`` meets all constraints. Lower: for weights l >= 0 of sum 1,
    ``f(u) = sum l_y y' H^-1 y`` is convex and of degree -1, so its minimum under ``sum u = 1`` is at
    least ``f^2 / max_k (-df/du_k)``. The barrier's multipliers are the weights.
    """
    phi, cross, _ = _evaluate(program, u)
    weights = 1.0 / (1.0 - phi)
    weights /= weights.sum()
    slopes = program.B @ ((cross * cross).T @ weights)  # -df/du_k
    return float((weights @ phi) ** 2 / slopes.max()), float(u.sum() * phi.max())
