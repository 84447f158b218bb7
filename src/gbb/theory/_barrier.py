"""The least cost of knowing all of a set of vectors well enough: a convex program, certified."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._support.checks import FloatArray

GAP = 1e-6
"""How close the two ends of the answer are to be, as a share."""

CENTRES = 40
"""Steps of the barrier, at most."""

NEWTONS = 60
"""Newton steps to a centre, at most."""

CLOSE = 0.05
"""A Newton step is taken as it is where it promises less."""

FASTER = 8.0
"""By how much the cost weighs more from centre to centre."""


class Design(NamedTuple):
    """Minimise ``sum u`` over ``u >= 0`` such that ``y' H^-1 y <= 1`` for every row y of Y.

    ``H = sum_p h_p f_p f_p'`` with f_p the rows of F and ``h = B'u``: what a unit of each u shows.
    """

    F: FloatArray
    B: FloatArray
    Y: FloatArray


def least_cost(design: Design) -> tuple[float, float]:
    """A lower and an upper bound on the least ``sum u``, as close as rounding allows.

    By Newton steps on ``t sum u - sum log(1 - y' H^-1 y) - sum log u`` with t growing. The Hessian is a
    diagonal plus ``B M B'`` with M as small as h is, so a step costs O(rows of B and Y).

    Whatever the steps did, the ends hold. Up: u times ``max_y y' H^-1 y`` meets all constraints. Down:
    for weights l >= 0 of sum 1, ``f(u) = sum l_y y' H^-1 y`` is convex and of degree -1, so its minimum
    where ``sum u = 1`` is at least ``f^2 / max_k (-df/du_k)``.
    """
    B = design.B
    u = np.full(len(B), 1.0 / len(B))
    u *= 2.0 * _look(design, u).phi.max()
    weight = (len(B) + len(design.Y)) / float(u.sum())
    low, high = 0.0, np.inf
    for _ in range(CENTRES):
        u = _centre(design, u, weight)
        below, above = _ends(design, u)
        better = below > low or above < (1.0 - GAP) * high
        low, high = max(low, below), min(high, above)
        if high - low <= GAP * high or not better:
            break
        weight *= FASTER
    return min(low, high), high  # which rounding may have crossed


class _Look(NamedTuple):
    """What a point says: ``y' H^-1 y`` of every y, ``f_p' H^-1 y`` of every pair, ``f_p' H^-1 f_q``."""

    phi: FloatArray
    cross: FloatArray
    inner: FloatArray


def _look(design: Design, u: FloatArray) -> _Look:
    F, B, Y = design
    h = B.T @ u
    _, values, ways = np.linalg.svd(np.sqrt(h)[:, None] * F, full_matrices=False)
    white = ways.T / values
    f, y = F @ white, Y @ white
    return _Look((y * y).sum(axis=1), y @ f.T, f @ f.T)


def _value(design: Design, u: FloatArray, weight: float) -> float:
    if not (u > 0.0).all():
        return np.inf
    phi = _look(design, u).phi
    if not (phi < 1.0).all():
        return np.inf
    return float(weight * u.sum() - np.log1p(-phi).sum() - np.log(u).sum())


def _centre(design: Design, u: FloatArray, weight: float) -> FloatArray:
    """The minimum of the barrier at one weight, by damped Newton steps."""
    B = design.B
    value = _value(design, u, weight)
    for _ in range(NEWTONS):
        phi, cross, inner = _look(design, u)
        slack = 1.0 / (1.0 - phi)
        squares = cross * cross
        slope = weight - B @ (squares.T @ slack) - 1.0 / u
        M = 2.0 * inner * (cross.T @ (slack[:, None] * cross))
        M += squares.T @ (slack[:, None] ** 2 * squares)
        e, V = np.linalg.eigh(M)
        root = B @ (V * np.sqrt(np.maximum(e, 0.0)))
        scaled = u[:, None] * root  # in units of u the diagonal of the Hessian is 1
        down = u * slope
        small = np.eye(len(e)) + scaled.T @ scaled
        step = down - scaled @ np.linalg.solve(small, scaled.T @ down)
        falls = float(down @ step)
        if not falls > 1e-9:
            break
        size = min(1.0, 0.95 / float(np.maximum(step.max(), 1e-300)))
        while True:
            new = _value(design, u - size * u * step, weight)
            # Close to the centre, values differ by rounding alone.
            if new <= value - 0.1 * size * falls or (falls < CLOSE and np.isfinite(new)):
                break
            size *= 0.5
            if size < 1e-10:
                return u
        u, value = u - size * u * step, new
    return u


def _ends(design: Design, u: FloatArray) -> tuple[float, float]:
    """What is certain of the least cost, from u and the weights that the barrier gives."""
    phi, cross, _ = _look(design, u)
    weights = 1.0 / (1.0 - phi)
    weights /= weights.sum()
    falls = design.B @ ((cross * cross).T @ weights)
    return float((weights @ phi) ** 2 / falls.max()), float(u.sum() * phi.max())
