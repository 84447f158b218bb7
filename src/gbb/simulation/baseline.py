"""What a run's regret is measured against: the best allocation, couples in hindsight, or nothing."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gbb._support import checks, outside
from gbb._support.checks import FloatArray, IntArray
from gbb._support.rows import distinct
from gbb.adversary import AdversarialEnvironment
from gbb.cuts import Cut, best, check_cut
from gbb.environment import Environment, System
from gbb.optimum import Optimum, solve
from gbb.policies import AnyPolicy
from gbb.theory import guaranteed_alpha

EPS = float(np.finfo(np.float64).eps)

ROUNDING = 1e-9
"""Rewards above the optimum by this share are put down to rounding."""

BLOCK = 1024
"""Rounds of an adversary whose matrices are held at once."""


class BaselineResult(NamedTuple):
    """What a result holds beside the rewards.

    Attributes
    ----------
    variables
        Arrays over (policy, run, round), or over (policy, run), and their long names.
    alpha
        The alpha of each policy's alpha-regret, if there is one.
    attrs
        The optimum that the policies were measured against.
    """

    variables: Mapping[str, tuple[FloatArray, str]]
    alpha: FloatArray | None = None
    attrs: Mapping[str, Any] = {}


Baseline = Callable[[FloatArray, FloatArray], BaselineResult]
"""Measures rewards and their totals up to each recorded round, both over (policy, run, round)."""


def make_baseline(
    system: System,
    policies: Sequence[AnyPolicy],
    recorded: IntArray,
    *,
    optimum: Optimum | None,
    cut: Cut | None,
) -> Baseline:
    """Return the baseline that suits ``system``."""
    if optimum is not None and not isinstance(system, Environment):
        raise checks.conflict("`optimum` can only be combined with a gbb.Environment.")
    if cut is not None and not isinstance(system, AdversarialEnvironment):
        raise checks.conflict("`cut` can only be combined with a gbb.AdversarialEnvironment.")
    match system:
        case Environment() if system.rows is not None:
            if optimum is not None:
                text = "`optimum` is one for every round: leave it out with contexts."
                raise checks.conflict(text)
            return _by_round(system, system.rows, policies, recorded)
        case Environment():
            return _by_optimum(system, policies, recorded, optimum)
        case AdversarialEnvironment():
            return _by_couples(system, recorded, _common_cut(system, policies, cut))
        case _:
            return lambda reward, cumulative: BaselineResult({})  # noqa: ARG005


def alpha_of(policy: AnyPolicy, env: Environment, optimum: Optimum) -> float:
    """Return the alpha that a policy is no-regret for on an instance; 1 where none is proven."""
    cut, share = getattr(policy, "cut", None), policy.guaranteed_share
    return guaranteed_alpha(env, policy.guarantee, cut=cut, optimum=optimum, share=share)


def _by_optimum(
    env: Environment, policies: Sequence[AnyPolicy], recorded: IntArray, optimum: Optimum | None
) -> Baseline:
    """Measure fractions of the best allocation, and regrets against it and alpha times it."""
    solved = solve(env.problem, env.M_star) if optimum is None else _check_optimum(env, optimum)

    def measure(reward: FloatArray, cumulative: FloatArray) -> BaselineResult:
        reached = _raise_optimum(solved, _largest_reward(reward, cumulative, recorded))
        best, bound = reached.value, reached.upper_bound
        alphas = np.array([alpha_of(policy, env, reached) for policy in policies])
        attrs = {
            "optimum": best,
            "optimum_upper_bound": bound,
            "optimum_proven": int(reached.proven),
            "optimum_method": reached.method,
        }
        fraction = reward / best if best > 0 else np.full_like(reward, np.nan)
        alpha_regret = recorded * (alphas[:, None, None] * best) - cumulative
        variables = {
            "fraction": (fraction, "fraction of the optimal global reward"),
            "regret": (recorded * best - cumulative, "cumulative regret"),
            "alpha_regret": (alpha_regret, "cumulative alpha-regret"),
            "proven_fraction": _proven(cumulative, recorded[-1] * best, recorded[-1] * bound),
        }
        return BaselineResult(variables, alphas, attrs)

    return measure


def _by_round(
    env: Environment, rows: FloatArray, policies: Sequence[AnyPolicy], recorded: IntArray
) -> Baseline:
    """Measure the same against every round's own optimum, solved once for each context."""
    contexts, which = distinct(rows[: recorded[-1]])
    systems = [env.at_row(row) for row in contexts]
    solved = [solve(system.problem, system.M_star) for system in systems]

    def measure(reward: FloatArray, cumulative: FloatArray) -> BaselineResult:
        here = which[recorded - 1]
        optima = [
            _raise_optimum(optimum, float(reward[:, :, here == u].max(initial=-np.inf)))
            for u, optimum in enumerate(solved)
        ]
        best = np.array([optimum.value for optimum in optima])
        bound = np.array([optimum.upper_bound for optimum in optima])
        pairs = list(zip(systems, optima, strict=True))
        alphas = np.array([[alpha_of(policy, *pair) for pair in pairs] for policy in policies])
        totals = np.cumsum(best[which])[recorded - 1]
        shares = np.cumsum((alphas * best)[:, which], axis=1)[:, recorded - 1]
        positive = np.where(best > 0.0, best, np.nan)[here]
        attrs = {
            "contexts": len(contexts),
            "optimum": float(best[which].mean()),
            "optimum_upper_bound": float(bound[which].mean()),
            "optimum_proven": int(all(optimum.proven for optimum in optima)),
            "optimum_method": ", ".join(sorted({optimum.method for optimum in optima})),
        }
        proven = _proven(cumulative, float(best[which].sum()), float(bound[which].sum()))
        variables = {
            "fraction": (reward / positive, "fraction of the round's optimal global reward"),
            "regret": (totals - cumulative, "cumulative regret"),
            "alpha_regret": (shares[:, None, :] - cumulative, "cumulative alpha-regret"),
            "proven_fraction": proven,
        }
        return BaselineResult(variables, (alphas @ np.bincount(which)) / len(which), attrs)

    return measure


def _proven(cumulative: FloatArray, optimum: float, bound: float) -> tuple[FloatArray, str]:
    """Return what each run earned over the upper bound on what any allocations earn.

    A loss is a smaller share of a larger number, so it is divided by the optimum, a lower bound.
    """
    earned = cumulative[:, :, -1]
    against = np.where(earned >= 0.0, bound, optimum)
    share = earned / np.where(against > 0.0, against, np.nan)
    return share, "proven fraction of the optimal global reward, over all rounds"


def _largest_reward(reward: FloatArray, cumulative: FloatArray, recorded: IntArray) -> float:
    """Return the largest reward of a recorded round, or mean reward between two of them."""
    spans = np.diff(recorded, prepend=0)
    # A mean is the difference of two sums, and each of the t rounds in a sum may have rounded it.
    rounded = EPS * recorded * np.abs(cumulative).max(axis=-1, keepdims=True)
    means = (np.diff(cumulative, axis=-1, prepend=0.0) - 2.0 * rounded) / spans
    return float(max(reward.max(), means.max()))


def _raise_optimum(optimum: Optimum, earned: float) -> Optimum:
    """Return the optimum, raised to what was earned if that is more and it was not proven."""
    if earned <= optimum.value + ROUNDING * max(abs(optimum.value), abs(earned)):
        return optimum
    if optimum.proven:
        got = f"{optimum.value:g} where a policy earned {earned:g}"
        raise checks.input_error("optimum", "be the best allocation's if it is proven", got)
    outside.warn(
        f"A policy earned {earned:g} a round where the best allocation found, which was not proven to "
        f"be the best, pays {optimum.value:g}; the optimum is raised to what was earned."
    )
    bound = max(optimum.upper_bound, earned)
    return dataclasses.replace(optimum, value=earned, upper_bound=bound, method="played")


def _by_couples(env: AdversarialEnvironment, recorded: IntArray, cut: Cut) -> Baseline:
    """Measure regrets against the best fixed couple so far, and the best couple of every round."""
    total, moving, last = np.zeros(env.problem.K**2), 0.0, int(recorded[-1])
    fixed, dynamic = np.empty(len(recorded)), np.empty(len(recorded))
    for first in range(1, last + 1, BLOCK):
        span = np.arange(first, min(first + BLOCK, last + 1))
        values = env.couple_rewards(cut, span)
        sums = total + np.cumsum(values, axis=0)
        best_so_far = moving + np.cumsum(values.max(axis=1))
        here = (recorded >= first) & (recorded <= span[-1])
        fixed[here] = sums[recorded[here] - first].max(axis=1)
        dynamic[here] = best_so_far[recorded[here] - first]
        total, moving = sums[-1], float(best_so_far[-1])

    def measure(reward: FloatArray, cumulative: FloatArray) -> BaselineResult:  # noqa: ARG001
        variables = {
            "regret": (fixed - cumulative, "regret against the best fixed couple so far"),
            "dynamic_regret": (dynamic - cumulative, "regret against every round's best couple"),
        }
        return BaselineResult(variables)

    return measure


def _common_cut(system: System, policies: Sequence[AnyPolicy], cut: Cut | None) -> Cut:
    """Return the given cut, or that of the policies if they have the same, or the best one."""
    graph = system.problem.graph
    if cut is not None:
        return check_cut(graph, cut)
    cuts = [getattr(policy, "cut", None) for policy in policies]
    merged = [cut.merged for cut in cuts if isinstance(cut, Cut)]
    if merged and all(np.array_equal(merged[0].sides, cut.sides) for cut in merged):
        return merged[0]
    return best(graph)


def _check_optimum(env: Environment, optimum: Optimum) -> Optimum:
    if not isinstance(optimum, Optimum):
        raise checks.input_error("optimum", "be a gbb.optimum.Optimum", type(optimum).__name__)
    value = env.expected_reward(optimum.allocation)
    if not math.isclose(value, optimum.value, rel_tol=1e-9, abs_tol=1e-9):
        got = f"{optimum.value} where its allocation pays {value}"
        raise checks.input_error("optimum", "be one of this environment", got)
    return optimum
