"""Which of the allocations that posterior samples favour is played, in numpy.

As :mod:`gbb._kernels.choice.information`, which has the formulas.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.policies._base import Choice
from gbb.problem import Problem

SAME = 1e-9
"""Rewards and ratios this near to each other, relatively, are the same."""


def direct(
    problem: Problem,
    tables: FloatArray,
    own: Sequence[Choice],
    rng: np.random.Generator,
    *,
    regressor: IntArray | None,
    noise: float,
    power: float,
    floor: float,
) -> Choice:
    """One of the allocations that samples favour.

    ``tables`` are what edges of weight 1 pay in each sample (samples x types x K x K), ``own`` the best
    allocation found for each. ``regressor`` (K x K) says which edge-arms report the same, None where
    rounds report sums; ``noise`` is the variance of a number's own. ``power`` is that of the regret in
    the ratio, ``floor`` how often the first sample's is played whatever the ratios say.
    """
    own_arms = [choice.allocation for choice in own]
    kept, group, best = _groups(problem, tables, own_arms)
    paid = np.array([_edges(problem, tables, own_arms[s]).sum(axis=1).mean() for s in kept])
    chosen = int(group[0])
    if len(kept) > 1:
        told = (_reported(problem, tables, own_arms[s], regressor) for s in kept)
        gain = np.array([information_gain(numbers, group, noise) for numbers in told])
        i, j, q = best_mixture(np.maximum(best - paid, 0.0), gain, power)
        u = rng.random()
        if i >= 0 and u >= floor:
            chosen = i if u < floor + (1.0 - floor) * q else j
    return own[kept[chosen]]._replace(value=float(paid[chosen]))


def information_gain(told: FloatArray, group: IntArray, noise: float) -> float:
    """``sum over numbers o of log(Var[o] / E[Var[o | k]])``, noise included.

    ``told`` are the numbers that an allocation is expected to report in every sample, ``group`` is the
    group of each, ``noise`` the variance of what a number has of its own. What the means of small groups
    vary by chance is made good.
    """
    more = told - told.mean(axis=0)
    samples, known = len(group), int(group.max()) + 1
    means = np.stack([more[group == k].mean(axis=0) for k in range(known)])
    between, total = np.bincount(group) / samples @ means**2, (more**2).mean(axis=0)
    within = np.maximum(total - between, 0.0)
    if known < samples:
        within = np.minimum(within * (samples - 1) / (samples - known), total)
    varies = total > 0.0
    return float(np.log((noise + total[varies]) / (noise + within[varies])).sum())


def best_mixture(regret: FloatArray, gain: FloatArray, power: float) -> tuple[int, int, float]:
    """The first i and j with the least ratio, and how often to play i; -1 if none gains."""
    x, y = regret[:, None] - regret, gain[:, None] - gain
    alone = np.eye(len(regret), dtype=bool)
    mixed = (x > 0.0) & (y > 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        q = (regret / x - power * gain / y) / (power - 1.0)
        q = np.where(mixed, np.clip(q, 0.0, 1.0), 1.0)
        lost, gained = regret + q * x, gain + q * y
        ratio = np.where(gained > 0.0, lost**power / gained, np.inf)
    ratio = np.where(lost == 0.0, 0.0, ratio)  # the least there is, whatever it tells
    ratio = np.where(mixed | alone, ratio, np.inf)
    least = ratio.min()
    if least == np.inf:
        return -1, -1, 1.0
    i, j = np.argwhere(ratio <= least + SAME * least)[0].tolist()
    return i, j, float(q[i, j])


def _groups(
    problem: Problem, tables: FloatArray, allocations: Sequence[IntArray]
) -> tuple[list[int], IntArray, float]:
    """The first sample of each group, the group of every sample, and what their allocations pay.

    A sample is of the group whose allocation pays as much as its own or more, if there is one.
    """
    kept: list[int] = []
    paid: list[FloatArray] = []
    group, total = np.empty(len(allocations), dtype=np.int64), 0.0
    for s, arms in enumerate(allocations):
        found = _edges(problem, tables, arms)
        scale = SAME * float(np.abs(found[s]).sum())
        best, value = len(kept), found[s].sum() - scale
        for k, each in enumerate(paid):
            if each[s] > value + scale * (best < len(kept)):
                best, value = k, each[s]
        group[s] = best
        total += found[s].sum() if best == len(kept) else value
        if best == len(kept):
            kept.append(s)
            paid.append(found.sum(axis=1))
    return kept, group, float(total) / len(allocations)


def _edges(problem: Problem, tables: FloatArray, allocation: IntArray) -> FloatArray:
    """What every edge pays in every sample."""
    source, target = allocation[problem.sources], allocation[problem.targets]
    paid: FloatArray = problem.edge_weights * tables[:, problem.edge_types, source, target]
    return paid


def _reported(
    problem: Problem, tables: FloatArray, allocation: IntArray, regressor: IntArray | None
) -> FloatArray:
    """What a round is expected to report in every sample, where edges of weight 1 pay ``tables``.

    What is reported of one regressor is one number, scaled so that its noise is that of each.
    """
    if regressor is not None:
        source, target = allocation[problem.sources], allocation[problem.targets]
        of = problem.edge_types * regressor.size + regressor[source, target]
        _, first, place = np.unique(of, return_index=True, return_inverse=True)
        seen = np.bincount(place, weights=problem.ways * problem.edge_weights**2)
        told: FloatArray = tables[:, problem.edge_types[first], source[first], target[first]]
        return np.sqrt(seen) * told
    numbers = np.zeros((problem.observations, len(tables)))
    np.add.at(numbers, problem.adds_to, _edges(problem, tables, allocation).T)
    return numbers.T
