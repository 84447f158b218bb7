"""Rounds of a couple policy by tables over couples, for many arms in few dimensions.

Kept are ``mean_p = <v_p, theta_hat>`` and ``width2_p = v_p' A^-1 v_p`` for every couple p. A rank-one
step along the pair q with ``u = A^-1 q`` changes them by multiples of ``v_p'u``, and all of these come
from one K x K matrix, ``X U X'`` with U the symmetric matrix of u. Between two factorisations
``A = F'BF``: F stays, and the inverse of B, which starts as the identity, is what the steps change.
"""

from __future__ import annotations

import numpy as np

from gbb._checks import FloatArray, IntArray
from gbb._kernels._jit import compiled
from gbb._kernels.choose import TIE, pick
from gbb._kernels.factor import factor, whiten
from gbb._kernels.rounds import Plan, Tally, by_pair, keep, radius_of, respond

GROWTH = np.log(1e5)
"""Factorise afresh when the log-determinant has grown by this: 16 digits minus 5."""


@compiled(fastmath={"contract", "reassoc"})
def couple_tables(
    plan: Plan,
    tally: Tally,
    white: FloatArray,
    centre: FloatArray,
    mean: FloatArray,
    width2: FloatArray,
) -> None:
    """Means and squared widths of all couples (K x K) from the whitened pairs."""
    K = plan.R.shape[0]
    pair = tally.pair
    w, w1, w2 = 2.0 * plan.w, plan.w1, plan.w2
    for a in range(K):
        for b in range(K):
            f, fa, fb = white[pair[a, b]], white[pair[a, a]], white[pair[b, b]]
            value = 0.0
            norm2 = 0.0
            for i in range(centre.size):
                v = w * f[i] + w1 * fa[i] + w2 * fb[i]
                value += v * centre[i]
                norm2 += v * v
            mean[a, b] = value
            width2[a, b] = norm2


@compiled()
def inverse_factor(R: FloatArray, pivots: IntArray) -> FloatArray:
    """``F^-1`` for ``F = R P'``, so that ``A^-1 = F^-1 F^-T``."""
    size = R.shape[0]
    result = np.zeros((size, size))
    for k in range(size):
        for i in range(k, -1, -1):
            value = 1.0 if i == k else 0.0
            for j in range(i + 1, k + 1):
                value -= R[i, j] * result[pivots[j], k]
            result[pivots[i], k] = value / R[i, i]
    return result


@compiled(fastmath={"contract", "reassoc"})
def multiply(matrix: FloatArray, vector: FloatArray, result: FloatArray) -> None:
    """``matrix @ vector`` for sizes at which a library call costs more than the work."""
    for i in range(matrix.shape[0]):
        value = 0.0
        for j in range(vector.size):
            value += matrix[i, j] * vector[j]
        result[i] = value


@compiled(fastmath={"contract", "reassoc"})
def spread(X: FloatArray, svec: FloatArray, XU: FloatArray, own: FloatArray) -> None:
    """``X U`` and the diagonal of ``X U X'`` for the symmetric U with coordinates ``svec``.

    Off-diagonal coordinates carry sqrt 2.
    """
    K, d = X.shape
    U = np.empty((d, d))
    k = 0
    for i in range(d):
        U[i, i] = svec[k]
        k += 1
        for j in range(i + 1, d):
            U[i, j] = U[j, i] = svec[k] * np.sqrt(0.5)
            k += 1
    for a in range(K):
        total = 0.0
        for i in range(d):
            value = 0.0
            for j in range(d):
                value += X[a, j] * U[j, i]
            XU[a, i] = value
            total += value * X[a, i]
        own[a] = total


@compiled(fastmath={"contract", "reassoc", "nnan", "nsz"})
def sweep_row(
    mean: FloatArray,
    width2: FloatArray,
    columns: tuple[FloatArray, ...],
    own: FloatArray,
    lead: FloatArray,
    w2: float,
    screen: tuple[float, float],
) -> int:
    """Up to three steps for the couples (a, .); returns how many may reach the screen's floor.

    ``lead`` holds for each step k: ``w1 own[k, a]``, then the gain of the mean, then the coefficients
    of the arms' coordinates. ``columns`` is a tuple so that its length, d, is known when compiling.
    """
    radius2, floor = screen
    hits = 0
    for b in range(mean.size):
        g0 = lead[0, 0] + w2 * own[0, b]
        g1 = lead[1, 0] + w2 * own[1, b]
        g2 = lead[2, 0] + w2 * own[2, b]
        for i in range(len(columns)):
            x = columns[i][b]
            g0 += lead[0, i + 2] * x
            g1 += lead[1, i + 2] * x
            g2 += lead[2, i + 2] * x
        m = mean[b] + lead[0, 1] * g0 + lead[1, 1] * g1 + lead[2, 1] * g2
        v = width2[b] - (g0 * g0 + g1 * g1 + g2 * g2)
        mean[b] = m
        width2[b] = v
        gap = floor - m
        hits += radius2 * v >= gap * abs(gap)
    return hits


@compiled()
def sweep(
    plan: Plan,
    XU: FloatArray,
    columns: tuple[FloatArray, ...],
    own: FloatArray,
    gains: FloatArray,
    mean: FloatArray,
    width2: FloatArray,
    screen: tuple[float, float],
    hope: IntArray,
) -> None:
    """One pass over all couples for up to three steps, and a screen for the next choice.

    Step k with ``g = v'u`` changes ``mean += gains[k] g`` and ``width2 -= g^2``. ``hope[a]`` counts the
    couples (a, .) whose optimistic value may reach the floor: ``mean + radius sqrt(width2) >= floor``
    means ``radius^2 width2 >= gap |gap|`` with ``gap = floor - mean``.
    """
    K = mean.shape[0]
    w = 2.0 * plan.w
    lead = np.empty((3, len(columns) + 2))
    for a in range(K):
        for k in range(3):
            lead[k, 0] = plan.w1 * own[k, a]
            lead[k, 1] = gains[k]
            for i in range(len(columns)):
                lead[k, i + 2] = w * XU[k, a, i]
        hope[a] = sweep_row(mean[a], width2[a], columns, own, lead, plan.w2, screen)


@compiled()
def choose(
    mean: FloatArray,
    width2: FloatArray,
    radius: float,
    hope: IntArray,
    values: FloatArray,
    rng: np.random.Generator,
) -> int:
    """The best couple, looking only at arms a with ``hope[a] > 0``."""
    K = hope.size
    rows = 0
    for a in range(K):
        if hope[a] > 0:
            for b in range(K):
                value = mean[a, b] + radius * np.sqrt(max(width2[a, b], 0.0))
                values[rows * K + b] = value
            rows += 1
    p = pick(values[: rows * K], rng)
    row = p // K
    for a in range(K):
        if hope[a] > 0:
            if row == 0:
                return a * K + p % K
            row -= 1
    return 0


@compiled()
def observe(
    B: FloatArray, centre: FloatArray, f: FloatArray, weight: float, reward: float, u: FloatArray
) -> tuple[float, float]:
    """A rank-one step: ``weight`` more observations of the whitened pair f, paying ``reward`` together.

    Leaves ``u = B f sqrt(c)`` with ``c = weight / (1 + weight f'Bf)``, so that ``B - u u'`` is the new
    inverse; returns the gain that moves every mean by ``gain v'u``, and the log-determinant's growth.
    """
    multiply(B, f, u)
    along, known = 0.0, 0.0
    for j in range(u.size):
        along += f[j] * u[j]
        known += f[j] * centre[j]
    grown = 1.0 + weight * along
    root = np.sqrt(weight / grown)
    gain = root * (reward / weight - known)
    for j in range(u.size):
        u[j] *= root
    for j in range(u.size):
        centre[j] += gain * u[j]
        for k in range(u.size):
            B[j, k] -= u[j] * u[k]
    return gain, float(np.log(grown))


@compiled()
def play_features(
    plan: Plan,
    tally: Tally,
    features: FloatArray,
    X: FloatArray,
    columns: tuple[FloatArray, ...],
    first: int,
    noise: FloatArray,
    radii: FloatArray,
    recorded: IntArray,
    rng: np.random.Generator,
) -> None:
    """Play ``len(noise)`` rounds, the first of them number ``first``, in O(K^2 d + d^4) each.

    ``features`` holds the pairs q_s in orthonormal coordinates of the symmetric block, X the arms and
    ``columns`` the columns of X.
    """
    K, d = X.shape
    size = features.shape[1]
    mean, width2 = np.empty((K, K)), np.empty((K, K))
    hope, values = np.ones(K, dtype=np.int64), np.empty(K * K)
    steps, seen = np.empty((3, 2), dtype=np.int64), np.empty((2, 3))
    XU, own, gains = np.zeros((3, K, d)), np.zeros((3, K)), np.zeros(3)
    B, u, svec = np.eye(size), np.empty(size), np.empty(size)
    white, inverse, centre = np.empty((0, 0)), np.empty((0, 0)), np.empty(0)
    worn, start = True, 0.0
    for i in range(noise.shape[0]):
        if worn:
            weight, total = by_pair(tally, features.shape[0])
            R, centre, pivots = factor(features, weight, total, plan.lam)
            white = whiten(features, R, pivots)
            inverse = inverse_factor(R, pivots)
            couple_tables(plan, tally, white, centre, mean, width2)
            B[:, :] = np.eye(size)
            start = 0.0
            for j in range(size):
                start += np.log(R[j, j] * R[j, j] / plan.lam)
            tally.scalars[1] = start
            hope[:] = 1
        p = choose(mean, width2, radius_of(plan, tally, radii[i]), hope, values, rng)
        count = respond(plan, tally, p, noise, i, steps, seen)
        for k in range(count):
            f = white[tally.pair[steps[k, 0], steps[k, 1]]]
            gains[k], growth = observe(B, centre, f, seen[0, k], seen[1, k], u)
            tally.scalars[1] += growth
            multiply(inverse, u, svec)
            spread(X, svec, XU[k], own[k])
        for k in range(count, 3):
            gains[k], XU[k], own[k] = 0.0, 0.0, 0.0
        worn = tally.scalars[1] - start > GROWTH
        radius = radius_of(plan, tally, radii[min(i + 1, radii.size - 1)])
        a, b = plan.couples[p, 0], plan.couples[p, 1]
        m, v = mean[a, b], width2[a, b]
        for k in range(count):
            g = 2.0 * plan.w * np.sum(XU[k, a] * X[b]) + plan.w1 * own[k, a] + plan.w2 * own[k, b]
            m, v = m + gains[k] * g, v - g * g
        # The couple just played sets the floor that the next choice has to reach.
        floor = m + radius * np.sqrt(max(v, 0.0))
        floor -= 1e3 * TIE * max(abs(floor), abs(m))
        sweep(plan, XU, columns, own, gains, mean, width2, (radius * radius, floor), hope)
        keep(plan, tally, recorded, first + i, p)
    tally.mean[:], tally.width2[:] = mean.reshape(K * K), width2.reshape(K * K)
