"""Eight runs on orthogonal arms, where every pair has a mean and a variance of its own.

The choice is made in lanes, the best value and the second best carried along; only where they are
close are a run's values looked at one by one. What was played is taken in run by run.
"""

from __future__ import annotations

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.abreast.runs import (
    NEAR,
    Couples,
    Lane,
    Runs,
    Stretch,
    count,
    find_radii,
    grow,
    have_uniforms,
    keep,
    settle,
)
from gbb._kernels.lanes import (
    ALL,
    WIDTH,
    above,
    load,
    minus,
    root,
    splat,
    store,
    times,
    times_plus,
    where_above,
)
from gbb._support.checks import FloatArray

SIZE = 4 * WIDTH
"""Numbers of a pair: precision, sum of rewards, mean and variance, each in every run."""
MEAN = 2 * WIDTH
"""Where the means of a pair begin."""


@compiled(forceinline=True)
def value(couples: Couples, pairs: FloatArray, a: int, b: int, radius: FloatArray) -> FloatArray:
    """Optimistic values of the couple (a, b); different pairs are uncorrelated, so variances add."""
    w, w1, w2 = couples.w, couples.w1, couples.w2
    own = couples.pair[a, a] * SIZE + MEAN
    if a == b:
        w = w + w1 + w2
        mean = times(splat(w), load(pairs, own))
        variance = times(splat(w * w), load(pairs, own + WIDTH))
    else:
        other, both = couples.pair[b, b] * SIZE + MEAN, couples.pair[a, b] * SIZE + MEAN
        mean = times(splat(w1), load(pairs, own))
        mean = times_plus(splat(w2), load(pairs, other), mean)
        mean = times_plus(splat(w), load(pairs, both), mean)
        variance = times(splat(w1 * w1), load(pairs, own + WIDTH))
        variance = times_plus(splat(w2 * w2), load(pairs, other + WIDTH), variance)
        variance = times_plus(splat(w * w), load(pairs, both + WIDTH), variance)
    return times_plus(radius, root(variance), mean)


@compiled(forceinline=True)
def choose(couples: Couples, runs: Runs, pairs: FloatArray) -> int:
    """The best couples, into ``runs.best``; returns a bit for each run in which another is near."""
    K, radius = couples.pair.shape[0], load(runs.radius, 0)
    best = second = splat(-np.inf)
    arg = splat(0.0)
    for a in range(K):
        for b in range(a if couples.mirrored else 0, K):
            x = value(couples, pairs, a, b, radius)
            second = where_above(x, best, best, where_above(second, x, second, x))
            arg = where_above(x, best, splat(float(a * K + b)), arg)
            best = where_above(x, best, x, best)
    store(runs.best, 0, arg)
    size = where_above(best, splat(0.0), best, minus(splat(0.0), best))
    return ALL ^ above(minus(best, times(splat(NEAR), size)), second)  # also where both are 0


@compiled()
def fill_values(couples: Couples, runs: Runs, pairs: FloatArray, g: Lane) -> None:
    """The values of all couples in all runs, in regime g."""
    K, radius, here = couples.pair.shape[0], load(runs.radius, 0), pairs[g]
    for a in range(K):
        for b in range(K):
            first, last = (min(a, b), max(a, b)) if couples.mirrored else (a, b)
            x = value(couples, here, first, last, radius)
            store(runs.values, (a * K + b) * WIDTH, x)


@compiled(forceinline=True)
def learn(pairs: FloatArray, lanes: int, s: Lane, lane: Lane, edges: float, reward: float) -> float:
    """``edges`` more rewards of pair s in a run; returns by what its precision grew."""
    i, w = s * np.uint64(4 * lanes) + lane, np.uint64(lanes)
    precision, paid = pairs[i] + edges, pairs[i + w] + reward
    variance = 1.0 / precision
    grown = 1.0 + edges * pairs[i + np.uint64(3) * w]
    pairs[i], pairs[i + w] = precision, paid
    pairs[i + np.uint64(2) * w], pairs[i + np.uint64(3) * w] = paid * variance, variance
    return float(grown)


@compiled(forceinline=True)
def learn_couple(
    couples: Couples,
    runs: Runs,
    pairs: FloatArray,
    lanes: int,
    lane: Lane,
    stretch: Stretch,
    t: int,
) -> None:
    """A run plays its best couple, and learns from what that pays in the round's regime."""
    p, row = np.uint64(runs.best[lane]), np.uint64(3 * lanes * t) + lane
    g = stretch.regime[t]
    grown = 1.0
    for j in range(np.uint64(3)):
        unit = stretch.noise[row + j * np.uint64(lanes)]
        reward = couples.pays[g, p, j] + stretch.scales[j] * unit
        grown *= learn(pairs, lanes, couples.steps[p, j], lane, couples.edges[j], reward)
    if couples.adaptive:
        grow(runs.log_det, runs.growth, lane, grown)
    count(couples, runs, lane, g, p, t)


@compiled()
def play_orthogonal_abreast(
    couples: Couples, runs: Runs, pairs: FloatArray, stretch: Stretch, begin: int
) -> int:
    """Play the rounds of ``stretch`` from number ``begin`` on; returns how many have been played.

    They are not all where a run has no numbers left to break ties with. ``pairs`` holds precision, sum
    of rewards, mean and variance of every pair (regimes x (pairs x 4 x lanes)).
    """
    for t in range(begin, stretch.radii.size):
        find_radii(couples, runs, stretch.radii[t])
        g = stretch.regime[t]
        here = pairs[g]
        near = choose(couples, runs, here)
        if near != 0:
            if not have_uniforms(runs):
                return t
            fill_values(couples, runs, pairs, g)
        if near != 0 or couples.mirrored:
            settle(couples, runs, near)
        for lane in range(np.uint64(WIDTH)):
            learn_couple(couples, runs, here, WIDTH, lane, stretch, t)
        keep(runs, stretch.recorded, stretch.first + t)
    return int(stretch.radii.size)
