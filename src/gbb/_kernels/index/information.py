"""Which of the allocations that posterior samples favour is played: regret against information.

Samples with the same best allocation are a group k, of the share p_k of all. An allocation's expected
regret is what the samples' own allocations pay more on average. Its information gain is
``sum over numbers o of log(Var[o] / E[Var[o | k]])``, noise included: twice what a normal number that it
reports tells of k. Edges that report the same regressor are one number, with less noise. The two
allocations are mixed whose ``regret^power / gain`` is least (Russo and Van Roy 2014, "Learning to
optimize via information-directed sampling", with power 2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels.index.layout import Layout
from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray, IntArray

SAME = 1e-9
"""Rewards and ratios this near to each other, relatively, are the same."""


class Information(NamedTuple):
    """What a round reports, and room for what samples say.

    Attributes
    ----------
    own
        How many regressors a type has.
    in_sums
        Whether rounds report sums over edges.
    power
        That of the regret in the ratio, > 1.
    floor
        How often the first sample's allocation is played, whatever the ratios say.
    draws
        What every sample says that the regressors pay (samples x regressors); less the mean in the end.
    group
        The allocation of every sample, as a number.
    arms, counts, tuples, size
        Of every allocation: its arms, what its edges add to the regressors, the number of its tuple of
        arms, and how many samples have it.
    centre, means, total, within
        Of every regressor: the samples' mean, by how much that of each group is more, their variance,
        and that within groups.
    seen
        Scratch space: how often an allocation reports every regressor.
    regret, gain
        Of every allocation.
    told
        Scratch space: three numbers for each that a round reports.
    """

    own: int
    in_sums: bool
    power: float
    floor: float
    draws: FloatArray
    group: IntArray
    arms: IntArray
    counts: FloatArray
    tuples: IntArray
    size: IntArray
    centre: FloatArray
    means: FloatArray
    total: FloatArray
    within: FloatArray
    seen: FloatArray
    regret: FloatArray
    gain: FloatArray
    told: FloatArray


@kernel(forceinline=True)
def keep_sample(
    layout: Layout,
    info: Information,
    s: int,
    known: int,
    mu: FloatArray,
    arms: IntArray,
    number: int,
) -> tuple[int, float]:
    """Keep sample s, for which ``arms`` were found; returns how many are known then, and what it pays.

    Where an allocation that is known pays as much or more, the sample is of its group: what pays the
    same in a draw does so in all, and is the same.
    """
    counts = info.counts
    for r in range(mu.size):
        info.draws[s, r] = mu[r]
        counts[known, r] = 0.0
    for i in range(arms.size):
        for e in range(layout.indptr[i], layout.indptr[i + 1]):
            pair = layout.regressor[arms[i], arms[layout.indices[e]]]
            counts[known, layout.types[e] * info.own + pair] += layout.weights[e]
    found, scale = 0.0, 0.0
    for r in range(mu.size):
        found += counts[known, r] * mu[r]
        scale += abs(counts[known, r] * mu[r])
    best, value = known, found - SAME * scale
    for k in range(known):
        paid = 0.0
        for r in range(mu.size):
            paid += counts[k, r] * mu[r]
        if paid > value + SAME * scale * (best < known):
            best, value = k, paid
    info.group[s] = best
    if best < known:
        info.size[best] += 1
        return known, value
    info.size[known], info.tuples[known] = 1, number
    for i in range(arms.size):
        info.arms[known, i] = arms[i]
    return known + 1, found


@kernel(forceinline=True)
def spread_within(between: float, total: float, known: int, samples: int) -> float:
    """The variance within groups, from that of their means and that of all samples.

    A mean of few draws varies by itself, so that what is left within ``known`` groups is
    ``(samples - known) / (samples - 1)`` of what it should be, which is made good (as adjusted R^2 has
    it). Left as it is where every draw is a group.
    """
    left = max(total - between, 0.0)
    if known == samples:
        return left
    return min(left * (samples - 1) / (samples - known), total)


@kernel(forceinline=True)
def average(info: Information, known: int) -> None:
    """Means of the regressors over all samples and each group; variances of all and within groups."""
    samples, regressors = info.draws.shape
    info.centre[:] = 0.0
    info.total[:] = 0.0
    for k in range(known):
        info.means[k, :] = 0.0
    for s in range(samples):
        k = info.group[s]
        for r in range(regressors):
            info.centre[r] += info.draws[s, r]
            info.means[k, r] += info.draws[s, r]
    for r in range(regressors):
        info.centre[r] /= samples
    for k in range(known):
        for r in range(regressors):
            info.means[k, r] = info.means[k, r] / info.size[k] - info.centre[r]
    for s in range(samples):
        for r in range(regressors):
            info.draws[s, r] -= info.centre[r]
            info.total[r] += info.draws[s, r] * info.draws[s, r]
    for r in range(regressors):
        between = 0.0
        for k in range(known):
            between += info.size[k] * info.means[k, r] * info.means[k, r]
        info.total[r] /= samples
        info.within[r] = spread_within(between / samples, info.total[r], known, samples)


@kernel(forceinline=True)
def gain_of_edges(layout: Layout, info: Information, k: int, noise: float) -> float:
    """The information gain of allocation k where rounds report every edge, or every link.

    ``noise`` is the variance of a number's own.
    """
    gain, seen = 0.0, info.seen
    for r in range(seen.size):
        seen[r] = 0.0
    for i in range(info.arms.shape[1]):
        for e in range(layout.indptr[i], layout.indptr[i + 1]):
            pair = layout.regressor[info.arms[k, i], info.arms[k, layout.indices[e]]]
            weight = layout.ways * layout.weights[e] * layout.weights[e]
            seen[layout.types[e] * info.own + pair] += weight
    for r in range(seen.size):
        if seen[r] > 0.0 and info.total[r] > 0.0:
            before, after = noise + seen[r] * info.total[r], noise + seen[r] * info.within[r]
            gain += np.log(before / after)
    return gain


@kernel(forceinline=True)
def add_squares(
    layout: Layout, info: Information, k: int, more: FloatArray, row: int, weight: float, to: int
) -> None:
    """Add to ``told[to]`` the squares of what allocation k reports if regressors pay ``more[row]``."""
    told = info.told
    for o in range(told.shape[1]):
        told[0, o] = 0.0
    for i in range(info.arms.shape[1]):
        for e in range(layout.indptr[i], layout.indptr[i + 1]):
            pair = layout.regressor[info.arms[k, i], info.arms[k, layout.indices[e]]]
            paid = layout.weights[e] * more[row, layout.types[e] * info.own + pair]
            told[0, layout.adds_to[e]] += paid
    for o in range(told.shape[1]):
        told[to, o] += weight * told[0, o] * told[0, o]


@kernel(forceinline=True)
def gain_of_sums(layout: Layout, info: Information, k: int, known: int, noise: float) -> float:
    """The information gain of allocation k where rounds report sums over edges."""
    gain, told, samples = 0.0, info.told, info.group.size
    told[:, :] = 0.0
    for j in range(known):
        add_squares(layout, info, k, info.means, j, info.size[j] / samples, 1)
    for s in range(samples):
        add_squares(layout, info, k, info.draws, s, 1.0 / samples, 2)
    for o in range(told.shape[1]):
        if told[2, o] > 0.0:
            within = spread_within(told[1, o], told[2, o], known, samples)
            gain += np.log((noise + told[2, o]) / (noise + within))
    return gain


@kernel(forceinline=True)
def share_of(regret: FloatArray, gain: FloatArray, power: float, i: int, j: int) -> float:
    """How often to play i, and else j, for the least ratio; i has more of both, or is j.

    With x and y what i has more, ``(regret_j + q x)^power / (gain_j + q y)`` is least for
    ``q = (regret_j / x - power gain_j / y) / (power - 1)``.
    """
    x, y = regret[i] - regret[j], gain[i] - gain[j]
    if i == j:
        return 1.0
    return float(min(1.0, max(0.0, (regret[j] / x - power * gain[j] / y) / (power - 1.0))))


@kernel(forceinline=True)
def ratio_of(regret: FloatArray, gain: FloatArray, power: float, i: int, j: int) -> float:
    """The least ratio of a mixture of i and j; infinite unless i has more of both, or is j.

    What loses nothing has the least ratio there is, whatever it tells.
    """
    if i != j and (regret[i] <= regret[j] or gain[i] <= gain[j]):
        return np.inf
    q = share_of(regret, gain, power, i, j)
    lost, gained = q * regret[i] + (1.0 - q) * regret[j], q * gain[i] + (1.0 - q) * gain[j]
    if lost == 0.0:
        return 0.0
    return float(lost**power / gained) if gained > 0.0 else np.inf


@kernel()
def best_mixture(
    regret: FloatArray, gain: FloatArray, power: float, known: int
) -> tuple[int, int, float]:
    """The first i and j, in order, with the least ratio, and how often to play i; -1 if none gains.

    Where one has no more regret than the other and no less gain it does not get better by mixing.
    """
    least = np.inf
    for i in range(known):
        for j in range(known):
            least = min(least, ratio_of(regret, gain, power, i, j))
    for i in range(known if least < np.inf else 0):
        for j in range(known):
            if ratio_of(regret, gain, power, i, j) <= least + SAME * least:
                return i, j, share_of(regret, gain, power, i, j)
    return -1, -1, 1.0


@kernel(forceinline=True)
def decide(
    layout: Layout,
    info: Information,
    known: int,
    best: float,
    noise: float,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float]:
    """Fill ``arms`` with one of the ``known`` allocations; ``best`` is what the samples' own pay.

    Where all samples agree there is nothing to decide; where nothing is to be learnt, and with
    probability ``floor``, the first sample's is played. Returns the number of its tuple of arms, and
    what it pays by the samples' mean.
    """
    average(info, known)
    chosen = info.group[0]
    for k in range(known):
        paid = 0.0
        for r in range(info.centre.size):
            paid += info.counts[k, r] * info.centre[r]
        info.regret[k] = max(best - paid, 0.0)
        if info.in_sums:
            info.gain[k] = gain_of_sums(layout, info, k, known, noise)
        else:
            info.gain[k] = gain_of_edges(layout, info, k, noise)
    if known > 1:
        i, j, q = best_mixture(info.regret, info.gain, info.power, known)
        u = rng.random()
        if i >= 0 and u >= info.floor:
            chosen = i if u < info.floor + (1.0 - info.floor) * q else j
    value = 0.0
    for r in range(info.centre.size):
        value += info.counts[chosen, r] * info.centre[r]
    for i in range(arms.size):
        arms[i] = info.arms[chosen, i]
    return info.tuples[chosen], value
