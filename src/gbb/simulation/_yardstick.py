"""What a run is measured by: the best allocation, couples in hindsight, or nothing but its rewards."""

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
from gbb.simulation._hindsight import best_couples
from gbb.theory import guaranteed_alpha

EPS = float(np.finfo(np.float64).eps)

ROUNDING = 1e-9
"""Rewards above the optimum by this share are put down to rounding."""


class Measures(NamedTuple):
    """What a result holds beside the rewards.

    Attributes
    ----------
    variables
        Arrays over (policy, run, round), or over (policy, run), and their long names.
    alpha
        The alpha of each policy's alpha-regret, if there is one.
    attrs
        What the policies were measured by.
    """

    variables: Mapping[str, tuple[FloatArray, str]]
    alpha: FloatArray | None = None
    attrs: Mapping[str, Any] = {}


Yardstick = Callable[[FloatArray, FloatArray], Measures]
"""Measures rewards and their totals up to each recorded round, both over (policy, run, round)."""


def choose_yardstick(
    system: System,
    policies: Sequence[AnyPolicy],
    recorded: IntArray,
    *,
    optimum: Optimum | None,
    cut: Cut | None,
) -> Yardstick:
    """The yardstick that suits ``system``."""
    if optimum is not None and not isinstance(system, Environment):
        raise checks.conflict("`optimum` can only be combined with a gbb.Environment.")
    if cut is not None and not isinstance(system, AdversarialEnvironment):
        raise checks.conflict("`cut` can only be combined with a gbb.AdversarialEnvironment.")
    match system:
        case Environment() if system.rows is not None:
            if optimum is not None:
                raise checks.conflict(
                    "`optimum` is one for every round: leave it out with contexts."
                )
            return _by_round(system, system.rows, policies, recorded)
        case Environment():
            return _by_optimum(system, policies, recorded, optimum)
        case AdversarialEnvironment():
            return _by_couples(system, recorded, _common_cut(system, policies, cut))
        case _:
            return lambda reward, cumulative: Measures({})  # noqa: ARG005


def _by_optimum(
    env: Environment, policies: Sequence[AnyPolicy], recorded: IntArray, optimum: Optimum | None
) -> Yardstick:
    """Fractions of the best allocation, and regrets against it and alpha times it."""
    solved = solve(env.problem, env.M_star) if optimum is None else _check_optimum(env, optimum)

    def measure(reward: FloatArray, cumulative: FloatArray) -> Measures:
        known = _raise_optimum(solved, _most_earned(reward, cumulative, recorded))
        alphas = np.array([alpha_of(each, env, known) for each in policies])
        best = known.value
        attrs = {
            "optimum": best,
            "optimum_upper_bound": known.upper_bound,
            "optimum_proven": int(known.proven),
            "optimum_method": known.method,
        }
        fraction = reward / best if best > 0 else np.full_like(reward, np.nan)
        alpha_regret = recorded * (alphas[:, None, None] * best) - cumulative
        variables = {
            "fraction": (fraction, "fraction of the optimal global reward"),
            "regret": (recorded * best - cumulative, "cumulative regret"),
            "alpha_regret": (alpha_regret, "cumulative alpha-regret"),
            "proven_fraction": _proven(
                cumulative, recorded[-1] * best, recorded[-1] * known.upper_bound
            ),
        }
        return Measures(variables, alphas, attrs)

    return measure


def _by_round(
    env: Environment, rows: FloatArray, policies: Sequence[AnyPolicy], recorded: IntArray
) -> Yardstick:
    """The same against every round's own optimum, solved once for each context."""
    contexts, which = distinct(rows[: recorded[-1]])
    envs = [env.at_row(row) for row in contexts]
    solved = [solve(each.problem, each.M_star) for each in envs]

    def measure(reward: FloatArray, cumulative: FloatArray) -> Measures:
        here = which[recorded - 1]
        known = [
            _raise_optimum(each, float(reward[:, :, here == u].max(initial=-np.inf)))
            for u, each in enumerate(solved)
        ]
        best = np.array([each.value for each in known])
        alphas = np.array(
            [
                [alpha_of(each, at, optimum) for at, optimum in zip(envs, known, strict=True)]
                for each in policies
            ]
        )
        totals = np.cumsum(best[which])[recorded - 1]
        shares = np.cumsum((alphas * best)[:, which], axis=1)[:, recorded - 1]
        positive = np.where(best > 0.0, best, np.nan)[here]
        bounds = np.array([each.upper_bound for each in known])[which]
        attrs = {
            "contexts": len(contexts),
            "optimum": float(best[which].mean()),
            "optimum_upper_bound": float(bounds.mean()),
            "optimum_proven": int(all(each.proven for each in known)),
            "optimum_method": ", ".join(sorted({each.method for each in known})),
        }
        variables = {
            "fraction": (reward / positive, "fraction of the round's optimal global reward"),
            "regret": (totals - cumulative, "cumulative regret"),
            "alpha_regret": (shares[:, None, :] - cumulative, "cumulative alpha-regret"),
            "proven_fraction": _proven(cumulative, float(best[which].sum()), float(bounds.sum())),
        }
        return Measures(variables, (alphas @ np.bincount(which)) / len(which), attrs)

    return measure


def _proven(cumulative: FloatArray, least: float, most: float) -> tuple[FloatArray, str]:
    """What each run earned over ``most``, which no allocations could have exceeded.

    A loss is a smaller share of more: it is taken over the ``least`` that the optimum is.
    """
    earned = cumulative[:, :, -1]
    against = np.where(earned >= 0.0, most, least)
    share = earned / np.where(against > 0.0, against, np.nan)
    return share, "proven fraction of the optimal global reward, over all rounds"


def _most_earned(reward: FloatArray, cumulative: FloatArray, recorded: IntArray) -> float:
    """The most that some round earned for sure: a recorded one, or the mean between two of them.

    A mean is the difference of two sums, of which each of their rounds has rounded a share.
    """
    spans = np.diff(recorded, prepend=0)
    rounded = EPS * recorded * np.abs(cumulative).max(axis=-1, keepdims=True)
    means = (np.diff(cumulative, axis=-1, prepend=0.0) - 2.0 * rounded) / spans
    return float(max(reward.max(), means.max()))


def _raise_optimum(known: Optimum, earned: float) -> Optimum:
    """``known``, or what was earned where that is more and nobody had proven the optimum."""
    if earned <= known.value + ROUNDING * max(abs(known.value), abs(earned)):
        return known
    if known.proven:
        found = f"{known.value:g} where a policy earned {earned:g}"
        raise checks.input_error("optimum", "be the best allocation's if it is proven", found)
    outside.warn(
        f"A policy earned {earned:g} a round where the best allocation found, which was not proven to "
        f"be the best, pays {known.value:g}; the optimum is raised to what was earned."
    )
    most = max(known.upper_bound, earned)
    return dataclasses.replace(known, value=earned, upper_bound=most, method="played")


def _by_couples(env: AdversarialEnvironment, recorded: IntArray, cut: Cut) -> Yardstick:
    """Regrets against the best fixed couple in hindsight, and the best couple of every round."""
    fixed, moving = best_couples(env, cut, recorded)

    def measure(reward: FloatArray, cumulative: FloatArray) -> Measures:  # noqa: ARG001
        variables = {
            "regret": (fixed - cumulative, "regret against the best fixed couple so far"),
            "dynamic_regret": (moving - cumulative, "regret against every round's best couple"),
        }
        return Measures(variables)

    return measure


def _common_cut(system: System, policies: Sequence[AnyPolicy], cut: Cut | None) -> Cut:
    """The cut that is given, or that of the policies where they have the same, or the best one."""
    graph = system.problem.graph
    if cut is not None:
        return check_cut(graph, cut)
    cuts = [getattr(policy, "cut", None) for policy in policies]
    own = [each.merged for each in cuts if isinstance(each, Cut)]
    same = bool(own) and all(np.array_equal(own[0].sides, each.sides) for each in own)
    return own[0] if same else best(graph)


def alpha_of(policy: AnyPolicy, env: Environment, optimum: Optimum) -> float:
    """The alpha that a policy is no-regret for on an instance; 1 where none is proven."""
    cut, share = getattr(policy, "cut", None), policy.guaranteed_share
    return guaranteed_alpha(env, policy.guarantee, cut=cut, optimum=optimum, share=share)


def _check_optimum(env: Environment, optimum: Optimum) -> Optimum:
    if not isinstance(optimum, Optimum):
        raise checks.input_error("optimum", "be a gbb.optimum.Optimum", type(optimum).__name__)
    value = env.expected_reward(optimum.allocation)
    if not math.isclose(value, optimum.value, rel_tol=1e-9, abs_tol=1e-9):
        raise checks.input_error(
            "optimum",
            "be one of this environment",
            f"{optimum.value} where its allocation pays {value}",
        )
    return optimum
