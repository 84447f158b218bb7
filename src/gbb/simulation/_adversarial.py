"""Policies against an adversary: regret against the best fixed couple in hindsight."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from gbb._support import checks, seeds
from gbb._support.checks import FloatArray, IntArray
from gbb._support.seeds import Seed
from gbb.adversary import AdversarialEnvironment
from gbb.cuts import Cut
from gbb.environment import NOISES
from gbb.policies import AnyPolicy, Policy
from gbb.simulation._trace import recorded_rounds

BLOCK = 1024
"""Rounds whose matrices are held at once."""


def simulate_adversarial(
    env: AdversarialEnvironment,
    policies: Sequence[AnyPolicy] | AnyPolicy,
    *,
    cut: Cut,
    rounds: int,
    runs: int = 1,
    seed: Seed = 0,
    record: int | str | ArrayLike = "log",
) -> xr.Dataset:
    """Play every policy against an oblivious adversary, edge by edge.

    Parameters
    ----------
    env
        The adversary.
    policies
        The policies to play, with distinct names.
    cut
        Where the couples that the regret is measured against are played.
    rounds, runs, seed, record
        As for :func:`gbb.simulate`; run r of every policy has the same seed.

    Returns
    -------
    xarray.Dataset
        Over (policy, run, round): ``reward``, cumulative expected; ``regret``, what the best fixed
        couple over ``cut`` up to that round earned beyond it; ``dynamic_regret``, what the best couple
        of every single round earned beyond it.
    """
    if not isinstance(env, AdversarialEnvironment):
        raise checks.input_error("env", "be a gbb.AdversarialEnvironment", type(env).__name__)
    chosen = [policies] if isinstance(policies, Policy) else list(policies)
    names = [policy.name for policy in chosen]
    if len(set(names)) < len(names):
        cure = "Give each policy its own name=..."
        raise checks.input_error("policies", "have distinct names", names, cure)
    rounds = checks.integer("rounds", rounds, low=1)
    runs = checks.integer("runs", runs, low=1)
    kept = recorded_rounds(rounds, record)
    fixed, moving = _benchmarks(env, cut, rounds, kept)
    reward = np.empty((len(chosen), runs, len(kept)))
    with threadpool_limits(1):
        for row, policy in zip(reward, chosen, strict=True):
            for run, child in enumerate(seeds.spawn(seed, runs)):
                row[run] = _play(env, policy, rounds, kept, child)
    axes = ("policy", "run", "round")
    return xr.Dataset(
        {
            "reward": (axes, reward, {"long_name": "cumulative expected reward"}),
            "regret": (axes, fixed - reward, {"long_name": "regret against a fixed couple"}),
            "dynamic_regret": (axes, moving - reward, {"long_name": "regret against every round"}),
        },
        coords={"policy": names, "run": np.arange(runs), "round": kept},
    )


def _benchmarks(
    env: AdversarialEnvironment, cut: Cut, rounds: int, kept: IntArray
) -> tuple[FloatArray, FloatArray]:
    """What the best fixed couple, and the best couples of every round, earned up to each round kept."""
    total, moving = np.zeros(env.problem.K**2), 0.0
    fixed_kept, moving_kept = np.empty(len(kept)), np.empty(len(kept))
    for first in range(1, rounds + 1, BLOCK):
        span = np.arange(first, min(first + BLOCK, rounds + 1))
        values = env.couple_rewards(cut, span)
        sums = total + np.cumsum(values, axis=0)
        best = moving + np.cumsum(values.max(axis=1))
        here = (kept >= first) & (kept <= span[-1])
        fixed_kept[here] = sums[kept[here] - first].max(axis=1)
        moving_kept[here] = best[kept[here] - first]
        total, moving = sums[-1], float(best[-1])
    return fixed_kept, moving_kept


def _play(
    env: AdversarialEnvironment,
    policy: AnyPolicy,
    rounds: int,
    kept: IntArray,
    seed: np.random.SeedSequence,
) -> FloatArray:
    """Cumulative expected reward of one run at the rounds kept."""
    noise_rng, policy_rng = map(np.random.default_rng, seed.spawn(2))
    graph, sigma = env.problem.graph, env.problem.sigma
    state = policy.init()
    earned = np.empty(rounds)
    for first in range(1, rounds + 1, BLOCK):
        span = np.arange(first, min(first + BLOCK, rounds + 1))
        for t, R in zip(span, env.reward_tables(span), strict=True):
            choice = policy.select(state, policy_rng)
            expected = R[choice.allocation[graph.sources], choice.allocation[graph.indices]]
            rewards = expected + sigma * NOISES[env.noise](noise_rng, graph.m)
            state = policy.update(state, choice, rewards)
            earned[t - 1] = expected.sum()
    reward: FloatArray = np.cumsum(earned)[kept - 1]
    return reward
