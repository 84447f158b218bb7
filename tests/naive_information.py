"""Information-directed choice in numpy, as the compiled one must make it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.learning.ridge import Ridge
from gbb.policies import Choice, InformationRatio, Objective, Search
from gbb.policies._learner import Posterior
from gbb.problem import Problem

SAME = 1e-9


class NaiveInformationRatio(InformationRatio):
    """The index by one search for each sample in Python."""

    def choose(self, posterior: Posterior, search: Search, rng: np.random.Generator) -> Choice:
        ridge, problem = posterior.ridge, posterior.ridge.problem
        choices, tables = [], []
        for _ in range(self.samples):
            objective = Objective(ridge, posterior.sample(rng), 0.0)
            choices.append(search.maximise(objective, rng))
            tables.append(objective.means)
        means, arms = np.stack(tables), [choice.allocation for choice in choices]
        firsts, group, best = _groups(problem, means, arms)
        rewards = np.array([_edges(problem, means, arms[s]).sum(axis=1).mean() for s in firsts])
        chosen = int(group[0])
        if len(firsts) > 1:
            regressor = ridge.coordinates.index if reports_edge_arms(ridge) else None
            reports = (_reported(problem, means, arms[s], regressor) for s in firsts)
            noise = posterior.v**2
            gain = np.array([information_gain(numbers, group, noise) for numbers in reports])
            i, j, q = best_mixture(np.maximum(best - rewards, 0.0), gain, self.power)
            u = rng.random()
            # With probability `floor` what Thompson sampling plays: the first draw's group.
            if i >= 0 and u >= self.floor:
                chosen = i if u < self.floor + (1.0 - self.floor) * q else j
        return choices[firsts[chosen]]._replace(value=float(rewards[chosen]))


def reports_edge_arms(ridge: Ridge) -> bool:
    """Return whether every number of a round's report is of one regressor of the estimate.

    A number per link is one regressor's, unless both directions have one each.
    """
    problem = ridge.problem
    return problem.tabular and (problem.ways == 1 or ridge.symmetric)


def information_gain(reports: FloatArray, group: IntArray, noise: float) -> float:
    """Return ``sum over numbers o of log(Var[o] / E[Var[o | k]])``, noise included.

    ``reports`` are the numbers that an allocation is expected to report in every sample, ``group`` is
    the group of each, ``noise`` the variance of a number's noise.
    """
    centred = reports - reports.mean(axis=0)
    samples, groups = len(group), int(group.max()) + 1
    means = np.stack([centred[group == k].mean(axis=0) for k in range(groups)])
    between, total = np.bincount(group) / samples @ means**2, (centred**2).mean(axis=0)
    within = np.maximum(total - between, 0.0)
    if groups < samples:
        # Means of small groups vary by chance, which adjusted R^2 makes good in the same way.
        within = np.minimum(within * (samples - 1) / (samples - groups), total)
    varies = total > 0.0
    return float(np.log((noise + total[varies]) / (noise + within[varies])).sum())


def best_mixture(regret: FloatArray, gain: FloatArray, power: float) -> tuple[int, int, float]:
    """Return the first i and j with the least ratio, and the probability of i; -1 if none gains.

    Two allocations suffice, since what the ratio does not exceed is a convex set of regrets and gains.
    """
    x, y = regret[:, None] - regret, gain[:, None] - gain
    unmixed = np.eye(len(regret), dtype=bool)
    mixed = (x > 0.0) & (y > 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        q = (regret / x - power * gain / y) / (power - 1.0)
        q = np.where(mixed, np.clip(q, 0.0, 1.0), 1.0)
        lost, gained = regret + q * x, gain + q * y
        ratio = np.where(gained > 0.0, lost**power / gained, np.inf)
    ratio = np.where(lost == 0.0, 0.0, ratio)  # whatever the gain
    ratio = np.where(mixed | unmixed, ratio, np.inf)
    smallest = ratio.min()
    if smallest == np.inf:
        return -1, -1, 1.0
    i, j = np.argwhere(ratio <= smallest + SAME * smallest)[0].tolist()
    return i, j, float(q[i, j])


def _groups(
    problem: Problem, tables: FloatArray, allocations: Sequence[IntArray]
) -> tuple[list[int], IntArray, float]:
    """Return the first sample of each group, the group of every sample, and their mean best reward.

    A sample is of the group whose allocation earns as much as its own or more, if there is one: so
    allocations that earn the same for every matrix, as mirror images do, are one.
    """
    firsts: list[int] = []
    rewards: list[FloatArray] = []
    group, total = np.empty(len(allocations), dtype=np.int64), 0.0
    for s, arms in enumerate(allocations):
        edges = _edges(problem, tables, arms)
        scale = SAME * float(np.abs(edges[s]).sum())
        best, value = len(firsts), edges[s].sum() - scale
        for k, group_rewards in enumerate(rewards):
            if group_rewards[s] > value + scale * (best < len(firsts)):
                best, value = k, group_rewards[s]
        group[s] = best
        total += edges[s].sum() if best == len(firsts) else value
        if best == len(firsts):
            firsts.append(s)
            rewards.append(edges.sum(axis=1))
    return firsts, group, float(total) / len(allocations)


def _edges(problem: Problem, tables: FloatArray, allocation: IntArray) -> FloatArray:
    """Return the expected reward of every edge in every sample (samples x m)."""
    source, target = allocation[problem.sources], allocation[problem.targets]
    rewards: FloatArray = problem.edge_weights * tables[:, problem.edge_types, source, target]
    return rewards


def _reported(
    problem: Problem, tables: FloatArray, allocation: IntArray, regressor: IntArray | None
) -> FloatArray:
    """Return the numbers that a round is expected to report in every sample.

    ``tables`` are the rewards of edges of weight 1 (samples x types x K x K). Numbers of one
    ``regressor`` (K x K) are one number, scaled to the noise of one; None if they are sums.
    """
    if regressor is not None:
        source, target = allocation[problem.sources], allocation[problem.targets]
        of = problem.edge_types * regressor.size + regressor[source, target]
        _, first, number = np.unique(of, return_index=True, return_inverse=True)
        seen = np.bincount(number, weights=problem.ways * problem.edge_weights**2)
        values: FloatArray = tables[:, problem.edge_types[first], source[first], target[first]]
        return np.sqrt(seen) * values
    numbers = np.zeros((problem.observations, len(tables)))
    np.add.at(numbers, problem.report.index, _edges(problem, tables, allocation).T)
    return numbers.T
