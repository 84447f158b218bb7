"""Rounds of a couple policy for many arms in few dimensions: couples are evaluated when they matter.

Between two factorisations ``A = F'BF``: F stays, and a round changes the small inverse of B only. With
the whitened objectives ``f_p = F^-T v_p`` a couple's mean is ``<f_p, centre>`` and its squared width
``f_p' B^-1 f_p``. Widths never grow and means drift a little, so every arm a carries an upper bound on
the optimistic values of its couples (a, .), and only arms whose bound reaches the best are looked at:
a handful a round once learning is under way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.abreast.factor import factor
from gbb._kernels.index.search import TIE
from gbb._kernels.jit import kernel
from gbb._kernels.rounds.rounds import Block, Plan, Tally, by_pair, keep, radius_of, respond
from gbb._support.checks import FloatArray, IntArray

SHRINK = 1e-5
"""Factorise afresh when a played direction has shrunk by this since the last time."""

SLACK = 1e-10
"""Rounding that the upper bounds allow for, relative to the value and the width they bound."""


@kernel()
def whitened_objectives(plan: Plan, pair: IntArray, white: FloatArray, V: FloatArray) -> None:
    """``V[a, i, b]`` is coordinate i of ``w (f_ab + f_ba) + w1 f_aa + w2 f_bb``."""
    K, size = V.shape[0], V.shape[1]
    w, w1, w2 = 2.0 * plan.w, plan.w1, plan.w2
    for a in range(K):
        for b in range(K):
            s, sa, sb = pair[a, b], pair[a, a], pair[b, b]
            for i in range(size):
                V[a, i, b] = w * white[s, i] + w1 * white[sa, i] + w2 * white[sb, i]


@kernel(fastmath={"contract"})
def evaluate(
    V: FloatArray,
    B: FloatArray,
    centre: FloatArray,
    mean: FloatArray,
    width2: FloatArray,
    part: FloatArray,
) -> None:
    """Means and squared widths of the couples (a, .) with whitened objectives V; ``part`` is scratch.

    ``v'Bv = sum_i v_i (B_ii v_i + 2 sum_{j<i} B_ij v_j)``, for all couples at once.
    """
    size, K = V.shape
    for b in range(K):
        mean[b] = 0.0
        width2[b] = 0.0
    for i in range(size):
        c, diagonal = centre[i], B[i, i]
        for b in range(K):
            part[b] = diagonal * V[i, b]
        for j in range(i):
            twice = 2.0 * B[i, j]
            for b in range(K):
                part[b] += twice * V[j, b]
        for b in range(K):
            mean[b] += c * V[i, b]
            width2[b] += part[b] * V[i, b]
    for b in range(K):
        width2[b] = max(width2[b], 0.0)


@kernel()
def observe(
    B: FloatArray, centre: FloatArray, f: FloatArray, weight: float, reward: float, u: FloatArray
) -> tuple[float, float]:
    """A rank-one step: ``weight`` more observations of the whitened pair f, paying ``reward`` together.

    Returns the factor by which the determinant grows, and what is left of ``f'Bf / f'f``.
    """
    size = u.size
    along, known, norm2 = 0.0, 0.0, 0.0
    for i in range(size):
        value = 0.0
        for j in range(size):
            value += B[i, j] * f[j]
        u[i] = value
        along += f[i] * value
        known += f[i] * centre[i]
        norm2 += f[i] * f[i]
    grown = 1.0 + weight * along
    c = weight / grown
    e = c * (reward / weight - known)
    for i in range(size):
        centre[i] += e * u[i]
        step = c * u[i]
        for j in range(size):
            B[i, j] -= step * u[j]
    return grown, along / grown / norm2 if norm2 > 0.0 else 1.0


@kernel(allocates=True)
def drift(
    plan: Plan, X: FloatArray, inverse: FloatArray, moved: FloatArray, size: FloatArray
) -> None:
    """Add to ``size[a]`` a bound on how far the means of the couples (a, .) can have moved.

    With D the symmetric matrix by which theta_hat moved, ``<v_ab, D> = 2 w x_a'D x_b + w1 x_a'D x_a +
    w2 x_b'D x_b``; the first term is at most ``2 w ||D x_a|| max ||x_b||``.
    """
    K, d = X.shape
    D = np.empty((d, d))
    k = 0
    for i in range(d):
        for j in range(i, d):
            value = 0.0
            for c in range(moved.size):
                value += inverse[k, c] * moved[c]
            D[i, j] = D[j, i] = value if i == j else value * np.sqrt(0.5)
            k += 1
    own = np.empty(K)
    longest, largest = 0.0, 0.0
    for a in range(K):
        total, norm2, length2 = 0.0, 0.0, 0.0
        for i in range(d):
            value = 0.0
            for j in range(d):
                value += D[i, j] * X[a, j]
            total += value * X[a, i]
            norm2 += value * value
            length2 += X[a, i] * X[a, i]
        own[a] = np.sqrt(norm2)
        size[a] += abs(plan.w1 * total)
        longest = max(longest, length2)
        largest = max(largest, abs(total))
    for a in range(K):
        size[a] += 2.0 * abs(plan.w) * own[a] * np.sqrt(longest) + abs(plan.w2) * largest


@kernel(allocates=True)
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


@kernel(allocates=True)
def choose(
    V: FloatArray,
    B: FloatArray,
    centre: FloatArray,
    radius: float,
    bound: FloatArray,
    widest: FloatArray,
    values: FloatArray,
    scratch: FloatArray,
    rng: np.random.Generator,
) -> int:
    """The best couple, ties broken at random; arms are evaluated from the highest bound down.

    Leaves in ``bound`` and ``widest`` the best value and the largest width of each evaluated arm.
    """
    K = bound.size
    mean, width2, part = scratch[0], scratch[1], scratch[2]
    done = np.zeros(K, dtype=np.bool_)
    best = -np.inf
    while True:
        a, high = -1, -np.inf
        for c in range(K):
            if not done[c] and bound[c] > high:
                a, high = c, bound[c]
        if a < 0 or high < best - TIE * abs(best):
            break
        done[a] = True
        evaluate(V[a], B, centre, mean, width2, part)
        top, wide = -np.inf, 0.0
        for b in range(K):
            width = np.sqrt(width2[b])
            value = mean[b] + radius * width
            values[a, b] = value
            top, wide = max(top, value), max(wide, width)
        best = max(best, top)
        bound[a] = top + SLACK * (abs(top) + radius * wide)
        widest[a] = wide
    floor = best - TIE * abs(best)
    ties = 0
    for a in range(K):
        if done[a] and bound[a] >= floor:
            for b in range(K):
                ties += values[a, b] >= floor
    chosen = int(rng.random() * ties) if ties > 1 else 0
    for a in range(K):
        if done[a] and bound[a] >= floor:
            for b in range(K):
                if values[a, b] >= floor:
                    if chosen == 0:
                        return a * K + b
                    chosen -= 1
    return 0


class Kept(NamedTuple):
    """What is kept of every regime.

    Attributes
    ----------
    V, white, inverse
        The objectives and the pairs whitened, and ``F^-1``, as last factorised.
    B, centre
        The inverse of B, and what means are products with.
    bound, widest, before
        The upper bound and the largest width of every arm's couples, and the radius they were found
        with.
    worn
        Whether to factorise again.
    """

    V: FloatArray
    B: FloatArray
    white: FloatArray
    inverse: FloatArray
    centre: FloatArray
    bound: FloatArray
    widest: FloatArray
    before: FloatArray
    worn: NDArray[np.bool_]


@kernel(allocates=True)
def refactor(plan: Plan, tally: Tally, g: int, features: FloatArray, kept: Kept) -> None:
    """Factorise regime g, and its log-determinant, from the tally."""
    weight, total = by_pair(tally, g, features.shape[0])
    R, kept.centre[g], pivots, white = factor(features, weight, total, plan.lam)
    kept.inverse[g], kept.white[g] = inverse_factor(R, pivots), white
    whitened_objectives(plan, tally.pair, white, kept.V[g])
    size = R.shape[1]
    kept.B[g] = np.eye(size)
    tally.log_det[g] = 2.0 * np.sum(np.log(np.abs(np.diag(R)))) - size * np.log(plan.lam)


@kernel(allocates=True)
def play_features(
    plan: Plan,
    tally: Tally,
    features: FloatArray,
    X: FloatArray,
    block: Block,
    rng: np.random.Generator,
) -> None:
    """Play the rounds of ``block``.

    ``features`` holds the pairs q_s in orthonormal coordinates of the symmetric block, X the arms. A
    round costs O(d^4 + K d^2) and O(K d^4) for every arm it has to evaluate.
    """
    G, K, (count, size) = plan.R.shape[0], X.shape[0], features.shape
    B = np.empty((G, size, size))
    kept = Kept(
        np.empty((G, K, size, K)),
        B,
        np.empty((G, count, size)),
        np.empty(B.shape),
        np.empty((G, size)),
        np.full((G, K), np.inf),
        np.zeros((G, K)),
        np.zeros(G),
        np.ones(G, dtype=np.bool_),
    )
    scratch = np.empty((K, K)), np.empty((3, K)), np.empty((2, size))
    steps, seen = np.empty((3, 2), dtype=np.int64), np.empty((2, 3))
    play_kept(plan, tally, kept, features, X, block, *scratch, steps, seen, rng)


@kernel(inner=True)
def play_kept(
    plan: Plan,
    tally: Tally,
    kept: Kept,
    features: FloatArray,
    X: FloatArray,
    block: Block,
    values: FloatArray,
    scratch: FloatArray,
    vectors: FloatArray,
    steps: IntArray,
    seen: FloatArray,
    rng: np.random.Generator,
) -> None:
    """The rounds of :func:`play_features`; the last arrays are scratch space."""
    first, noise, radii, recorded = block
    K, u, moved, worn = X.shape[0], vectors[0], vectors[1], kept.worn
    earned, done = tally.total[0], tally.kept[0]
    for i in range(noise.shape[0]):
        g = plan.regime[first + i - 1]
        B, centre, bound, widest = kept.B[g], kept.centre[g], kept.bound[g], kept.widest[g]
        if worn[g]:
            refactor(plan, tally, g, features, kept)
        radius = radius_of(plan, tally, radii[i])
        grown = max(radius - kept.before[g], 0.0)
        for a in range(K):
            bound[a] += grown * widest[a]
        kept.before[g] = radius
        p = choose(kept.V[g], B, centre, radius, bound, widest, values, scratch, rng)
        for c in range(moved.size):
            moved[c] = centre[c]
        worn[g] = False
        count = respond(plan, tally, g, p, noise, i, steps, seen)
        for k in range(count):
            f = kept.white[g, tally.pair[steps[k, 0], steps[k, 1]]]
            grown, left = observe(B, centre, f, seen[0, k], seen[1, k], u)
            worn[g] = worn[g] or left < SHRINK
            if plan.adaptive:
                tally.log_det[g] += np.log(grown)
        for c in range(moved.size):
            moved[c] -= centre[c]
        drift(plan, X, kept.inverse[g], moved, bound)
        earned += plan.payoff[g, p]
        if done < recorded.size and recorded[done] == first + i:
            done = keep(tally, done, p, earned)
    tally.total[0], tally.kept[0] = earned, done
    for g in range(worn.size):
        if worn[g]:
            refactor(plan, tally, g, features, kept)
        for a in range(K):
            mean, width2 = tally.mean[g], tally.width2[g]
            ours = slice(a * K, (a + 1) * K)
            evaluate(kept.V[g, a], kept.B[g], kept.centre[g], mean[ours], width2[ours], scratch[2])
