"""``simulate``: policies x runs x rounds, one spawned seed per run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import xarray as xr
from numpy.typing import ArrayLike

from gbb import _checks, _random
from gbb._random import Seed
from gbb.environment import Environment
from gbb.optimum import Optimum, solve
from gbb.policies import AnyPolicy, Policy
from gbb.simulation import reference, result
from gbb.simulation._progress import progress_bar
from gbb.simulation._trace import recorded_rounds
from gbb.theory import report


def simulate(
    env: Environment,
    policies: Sequence[AnyPolicy] | AnyPolicy,
    *,
    rounds: int,
    runs: int = 1,
    seed: Seed = 0,
    record: int | str | ArrayLike = 1,
    keep_allocations: bool = False,
    optimum: Optimum | None = None,
    progress: bool = False,
) -> xr.Dataset:
    """Play every policy in an environment and collect what it earned.

    Run r of every policy faces the same noise (paired seeds), whatever other policies are listed.

    Parameters
    ----------
    env
        The instance.
    policies
        The policies to play, all of ``env.problem``, with distinct names.
    rounds
        The horizon T.
    runs
        How many independent runs of each policy.
    seed
        A child is spawned from it for each run.
    record
        Keep every round (1), every k-th and the last (k), about 200 log-spaced ones ("log"), or the
        listed ones (counted from 1).
    keep_allocations
        Keep the allocations as well as the couples.
    optimum
        The best allocation, when it is known already; solved for otherwise.
    progress
        Show a progress bar with the time left.

    Returns
    -------
    xarray.Dataset
        ``expected_reward``, ``fraction``, ``regret``, ``alpha_regret`` and ``couple`` over (policy,
        run, round); the coordinate ``alpha`` says which alpha each policy's alpha-regret uses: that
        of its theorem, or 1 for policies that have none.
    """
    chosen = [policies] if isinstance(policies, Policy) else list(policies)
    _check_policies(env, chosen)
    rounds = _checks.integer("rounds", rounds, low=1)
    runs = _checks.integer("runs", runs, low=1)
    recorded = recorded_rounds(rounds, record)
    best = solve(env.problem, env.M_star) if optimum is None else optimum
    alphas = [_alpha(env, policy, best) for policy in chosen]
    seeds = _random.spawn(seed, runs)
    bar = progress_bar(len(chosen) * runs * rounds) if progress else nullcontext(None)
    with bar as step:
        traces = [
            [
                reference.run_reference(
                    env,
                    policy,
                    rounds,
                    recorded,
                    _random.sequence(child),
                    keep_allocations=keep_allocations,
                    on_rounds=step,
                )
                for child in seeds
            ]
            for policy in chosen
        ]
    return result.assemble(env, chosen, traces, recorded, optimum=best, alphas=alphas)


def _check_policies(env: Environment, policies: Sequence[AnyPolicy]) -> None:
    if not isinstance(env, Environment):
        raise _checks.fail("env", "be a gbb.Environment", type(env).__name__)
    if not policies:
        raise _checks.fail("policies", "hold at least one policy", "none")
    for policy in policies:
        if not isinstance(policy, Policy):
            raise _checks.fail("policies", "hold gbb policies", type(policy).__name__)
        if policy.problem is not env.problem:
            cure = "Build the policy and the environment on the same Problem object."
            raise _checks.fail("policies", "play env.problem", f"another in {policy.name}", cure)
    labels = [policy.name for policy in policies]
    if len(set(labels)) < len(labels):
        cure = "Give each policy its own name=..."
        raise _checks.fail("policies", "have distinct names", labels, cure)


def _alpha(env: Environment, policy: AnyPolicy, optimum: Optimum) -> float:
    """The alpha of the policy's theorem on this instance, or 1 for policies that have none."""
    cut = getattr(policy, "cut", None)
    if policy.guarantee is None or cut is None:
        return 1.0
    value: float = getattr(report(env, cut=cut, optimum=optimum), policy.guarantee)
    return value
