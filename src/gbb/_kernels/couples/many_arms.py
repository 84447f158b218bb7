"""Many arms in few dimensions, in a single run: couples are evaluated when they matter.

Between two factorisations ``A = F'BF``: F stays, and a round changes the small inverse of B only. With
the whitened objectives ``f_p = F^-T v_p`` a couple's mean is ``<f_p, centre>`` and its squared width
``f_p' B^-1 f_p``. Widths never grow and means drift a little, so every arm a carries an upper bound on
the optimistic values of its couples (a, .), and only arms whose bound reaches the best are evaluated:
a handful a round once learning is under way. A round costs O(d^4 + K d^2), and O(K d^4) for each of
these.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.couples.state import (
    SHRINK,
    TIE,
    Chunk,
    Couples,
    Index,
    Runs,
    grow,
    have_uniforms,
    next_uniform,
    record,
    set_radii,
)
from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray

SLACK = 1e-10
"""Rounding that the upper bounds allow for, relative to the value and the width they bound."""


class ManyArms(NamedTuple):
    """The estimate of a single run in every regime.

    Attributes
    ----------
    V, white, inverse
        Whitened objectives (regimes x K x size x K) and pairs (regimes x pairs x size), and ``F^-1``.
    B, centre
        The inverse of B, and what means are products with.
    bound, widest, before
        The upper bound and the largest width of every arm's couples, and the radius of that bound.
    weight, total, log_det, growth, worn
        As of :class:`~gbb._kernels.couples.covariance.Covariance`.
    arms
        The arms (K x d).
    values, scratch, moved, D
        Scratch: values of couples (K x K), of arms (4 x K), changes (2 x size), a matrix (d x d).
    """

    V: FloatArray
    white: FloatArray
    inverse: FloatArray
    B: FloatArray
    centre: FloatArray
    bound: FloatArray
    widest: FloatArray
    before: FloatArray
    weight: FloatArray
    total: FloatArray
    log_det: FloatArray
    growth: FloatArray
    worn: NDArray[np.bool_]
    arms: FloatArray
    values: FloatArray
    scratch: FloatArray
    moved: FloatArray
    D: FloatArray


@kernel(fastmath={"contract"})
def evaluate(
    V: FloatArray,
    B: FloatArray,
    centre: FloatArray,
    mean: FloatArray,
    width2: FloatArray,
    part: FloatArray,
) -> None:
    """Compute means and squared widths of the couples (a, .) with whitened objectives V.

    ``v'Bv = sum_i v_i (B_ii v_i + 2 sum_{j<i} B_ij v_j)``, for all couples at once; ``part`` is scratch.
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
        width2[b] = width2[b] if width2[b] > 0.0 else 0.0


@kernel()
def rank_one_step(
    B: FloatArray, centre: FloatArray, f: FloatArray, weight: float, reward: float, u: FloatArray
) -> tuple[float, float]:
    """Observe the whitened pair f ``weight`` more times, with this sum of rewards; u is scratch.

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
    d, e = weight / grown, (reward - weight * known) / grown
    for i in range(size):
        centre[i] += e * u[i]
        step = d * u[i]
        for j in range(size):
            B[i, j] -= step * u[j]
    return grown, along / grown / norm2 if norm2 > 0.0 else 1.0


@kernel()
def drift(
    couples: Couples,
    X: FloatArray,
    inverse: FloatArray,
    moved: FloatArray,
    bound: FloatArray,
    own: FloatArray,
    D: FloatArray,
) -> None:
    """Add to ``bound[a]`` how far the means of the couples (a, .) can have moved.

    With D the symmetric matrix by which theta_hat moved, ``<v_ab, D> = w x_a'D x_b + w1 x_a'D x_a +
    w2 x_b'D x_b``; the first term is at most ``w ||D x_a|| max ||x_b||``. ``own`` and D are scratch.
    """
    K, d = X.shape
    k = 0
    for i in range(d):
        for j in range(i, d):
            value = 0.0
            for c in range(moved.size):
                value += inverse[k, c] * moved[c]
            # Orthonormal coordinates of a symmetric matrix hold sqrt(2) times what is off its diagonal.
            D[i, j] = D[j, i] = value if i == j else value * math.sqrt(0.5)
            k += 1
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
        own[a] = math.sqrt(norm2)
        bound[a] += abs(couples.w1 * total)
        longest = length2 if length2 > longest else longest
        largest = abs(total) if abs(total) > largest else largest
    for a in range(K):
        bound[a] += abs(couples.w) * own[a] * math.sqrt(longest) + abs(couples.w2) * largest


@kernel(forceinline=True)
def choose(runs: Runs, pairs: ManyArms, g: Index) -> bool:
    """Find the best couple, into ``runs.best``; arms are evaluated from the highest bound down.

    Leaves in ``bound`` and ``widest`` the best value and the largest width of each evaluated arm.
    Returns False, with nothing decided, if there is a tie and no number left to break it with.
    """
    bound, values, radius, K = pairs.bound[g], pairs.values, runs.radius[0], pairs.values.shape[0]
    mean, width2, part, done = (
        pairs.scratch[0],
        pairs.scratch[1],
        pairs.scratch[2],
        pairs.scratch[3],
    )
    for a in range(K):
        done[a] = 0.0
    best = -np.inf
    while True:
        a, high = -1, -np.inf
        for c in range(K):
            if done[c] == 0.0 and bound[c] > high:
                a, high = c, bound[c]
        if a < 0 or high < best - TIE * abs(best):
            break
        done[a] = 1.0
        evaluate(pairs.V[g, a], pairs.B[g], pairs.centre[g], mean, width2, part)
        top, wide = -np.inf, 0.0
        for b in range(K):
            width = math.sqrt(width2[b])
            value = mean[b] + radius * width
            values[a, b] = value
            top = value if value > top else top
            wide = width if width > wide else wide
        best = top if top > best else best
        bound[a] = top + SLACK * (abs(top) + radius * wide)
        pairs.widest[g, a] = wide
    # Arms that were not evaluated have no values, and cannot tie either.
    floor, ties = best - TIE * abs(best), 0
    for a in range(K):
        if done[a] == 0.0 or bound[a] < floor:
            done[a] = 0.0
            continue
        for b in range(K):
            ties += values[a, b] >= floor
    if ties > 1 and not have_uniforms(runs.used, runs.uniforms.shape[1]):
        return False
    left = np.int64(next_uniform(runs.uniforms, runs.used, 0) * ties) if ties > 1 else 0
    for a in range(K):
        for b in range(K if done[a] != 0.0 else 0):
            if values[a, b] >= floor:
                if left == 0:
                    runs.best[0] = a * K + b
                left -= 1
    return True


@kernel()
def play_many_arms(
    couples: Couples, runs: Runs, pairs: ManyArms, chunk: Chunk, begin: int, end: int
) -> int:
    """Play a single run as :func:`~gbb._kernels.couples.covariance.play_covariance_batch` does."""
    K, u, moved = pairs.values.shape[0], pairs.moved[0], pairs.moved[1]
    for t in range(begin, end):
        g = chunk.regime[t]
        centre, bound = pairs.centre[g], pairs.bound[g]
        set_radii(couples, runs, chunk.radii[t])
        grown = runs.radius[0] - pairs.before[g]
        for a in range(K if grown > 0.0 else 0):
            bound[a] += grown * pairs.widest[g, a]
        pairs.before[g] = runs.radius[0]
        if not choose(runs, pairs, g):
            return t
        for c in range(moved.size):
            moved[c] = centre[c]
        p, worn = np.uint64(runs.best[0]), False
        for j in range(3):
            k, s = couples.edges[j], couples.steps[p, j]
            if k == 0.0:
                continue
            reward = couples.rewards[g, p, j] + chunk.scales[j] * chunk.noise[3 * t + j]
            pairs.weight[g, s] += k
            pairs.total[g, s] += reward
            factor, left = rank_one_step(pairs.B[g], centre, pairs.white[g, s], k, reward, u)
            worn = worn or left < SHRINK
            if couples.adaptive:
                grow(runs.log_det, runs.growth, 0, factor)
                grow(pairs.log_det[g], pairs.growth[g], 0, factor)
        for c in range(moved.size):
            moved[c] -= centre[c]
        drift(couples, pairs.arms, pairs.inverse[g], moved, bound, pairs.scratch[0], pairs.D)
        record(couples, runs, chunk, t)
        if worn:
            pairs.worn[g, 0] = True
            return t + 1
    return end
