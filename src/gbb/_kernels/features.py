"""Rounds of a couple policy by tables over couples, for many arms in few dimensions.

Kept are ``mean_p = <v_p, theta_hat>`` and ``width2_p = v_p' A^-1 v_p`` for every couple p. A rank-one
step along the pair q with ``u = A^-1 q`` changes them by multiples of ``v_p'u``, and all of these come
from one K x K matrix, ``X U X'`` with U the symmetric matrix of u. Between two factorisations
``A = F'BF``: F stays, and the inverse of B, which starts as the identity, is what the steps change.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gbb._checks import FloatArray, IntArray
from gbb._kernels.choose import pick
from gbb._kernels.factor import factor, whiten
from gbb._kernels.rounds import Plan, Tally, by_pair, keep, radius_of, respond

GROWTH = np.log(1e5)
"""Factorise afresh when the log-determinant has grown by this: 16 digits minus 5."""


@njit(cache=True, nogil=True)
def couple_tables(
    plan: Plan,
    tally: Tally,
    white: FloatArray,
    qy: FloatArray,
    mean: FloatArray,
    width2: FloatArray,
) -> None:
    """Means and squared widths of all couples from the whitened pairs."""
    K = plan.R.shape[0]
    pair = tally.pair
    w, w1, w2 = 2.0 * plan.w, plan.w1, plan.w2
    size = qy.size
    for a in range(K):
        for b in range(K):
            s, sa, sb = pair[a, b], pair[a, a], pair[b, b]
            value = 0.0
            norm2 = 0.0
            for i in range(size):
                v = w * white[s, i] + w1 * white[sa, i] + w2 * white[sb, i]
                value += v * qy[i]
                norm2 += v * v
            mean[a * K + b] = value
            width2[a * K + b] = norm2


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def unfold(inverse: FloatArray, direction: FloatArray, d: int) -> FloatArray:
    """``F^-1 direction`` as a symmetric d x d matrix (off-diagonal coordinates carry sqrt 2)."""
    matrix = np.empty((d, d))
    k = 0
    for i in range(d):
        for j in range(i, d):
            value = 0.0
            for c in range(direction.size):
                value += inverse[k, c] * direction[c]
            if i != j:
                value *= np.sqrt(0.5)
            matrix[i, j] = value
            matrix[j, i] = value
            k += 1
    return matrix


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def sweep(
    plan: Plan,
    XU: FloatArray,
    XT: FloatArray,
    own: FloatArray,
    c: FloatArray,
    e: FloatArray,
    mean: FloatArray,
    width2: FloatArray,
    count: int,
) -> None:
    """One pass over all couples: ``mean += e g`` and ``width2 -= c g^2`` for each step's g = v'u."""
    K = XT.shape[1]
    d = XT.shape[0]
    w, w1, w2 = 2.0 * plan.w, plan.w1, plan.w2
    g = np.empty(K)
    for a in range(K):
        row = mean[a * K : (a + 1) * K]
        row2 = width2[a * K : (a + 1) * K]
        for k in range(count):
            shift = w1 * own[k, a]
            for b in range(K):
                g[b] = shift + w2 * own[k, b]
            for i in range(d):
                factor_i = w * XU[k, a, i]
                for b in range(K):
                    g[b] += factor_i * XT[i, b]
            ek = e[k]
            ck = c[k]
            for b in range(K):
                row[b] += ek * g[b]
                row2[b] -= ck * g[b] * g[b]


@njit(cache=True, nogil=True)
def play_features(
    plan: Plan,
    tally: Tally,
    features: FloatArray,
    X: FloatArray,
    first: int,
    noise: FloatArray,
    radii: FloatArray,
    recorded: IntArray,
    rng: np.random.Generator,
) -> None:
    """Play ``len(noise)`` rounds, the first of them number ``first``, in O(K^2 d + d^4) each.

    ``features`` holds the pairs q_s in orthonormal coordinates of the symmetric block, X the arms.
    """
    K, d = X.shape
    XT = np.ascontiguousarray(X.T)
    size = features.shape[1]
    mean = np.empty(K * K)
    width2 = np.empty(K * K)
    values = np.empty(K * K)
    steps = np.empty(3, dtype=np.int64)
    seen = np.empty((2, 3))
    XU = np.empty((3, K, d))
    own = np.empty((3, K))
    c = np.empty(3)
    e = np.empty(3)
    B = np.eye(size)
    worn = True
    start = 0.0
    white = np.empty((0, 0))
    inverse = np.empty((0, 0))
    centre = np.empty(0)
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
            worn = False
        radius = radius_of(plan, tally, radii[i])
        for p in range(K * K):
            values[p] = mean[p] + radius * np.sqrt(max(width2[p], 0.0))
        p = pick(values, rng)
        count = respond(plan, tally, p, noise[i], steps, seen)
        for k in range(count):
            f = white[steps[k]]
            u = B @ f
            grown = 1.0 + seen[0, k] * np.dot(f, u)
            c[k] = seen[0, k] / grown
            e[k] = c[k] * (seen[1, k] / seen[0, k] - np.dot(f, centre))
            centre = centre + e[k] * u
            for x in range(size):
                for y in range(size):
                    B[x, y] -= c[k] * u[x] * u[y]
            tally.scalars[1] += np.log(grown)
            XU[k] = X @ unfold(inverse, u, d)
            for a in range(K):
                own[k, a] = np.dot(XU[k, a], X[a])
        sweep(plan, XU, XT, own, c, e, mean, width2, count)
        worn = tally.scalars[1] - start > GROWTH
        keep(plan, tally, recorded, first + i, p)
