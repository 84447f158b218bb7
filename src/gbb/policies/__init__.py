"""Policies: one a file, found by existing.

Every public module of this folder defines one policy class; :func:`classes` finds them, and those
that other packages offer as entry points of the group ``gbb.policies``. :func:`build` makes one from
the settings its constructor names.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Container
from typing import Any

from gbb._support import checks, discover
from gbb.policies._base import AnyPolicy, Choice, Learned, Policy
from gbb.policies._index import IndexPolicy
from gbb.policies.conservative import Conservative
from gbb.policies.discounted_oful import DiscountedOFUL
from gbb.policies.epsilon_greedy import EpsilonGreedy
from gbb.policies.explore_then_commit import ExploreThenCommit
from gbb.policies.exponential_weights import ExponentialWeights
from gbb.policies.fixed_allocation import FixedAllocation
from gbb.policies.guarded_thompson import GuardedThompson
from gbb.policies.improved_oful import ImprovedOFUL
from gbb.policies.information_directed import InformationDirected
from gbb.policies.joint_oful import JointOFUL
from gbb.policies.k_cut_oful import KCutOFUL
from gbb.policies.low_rank_explore_then_commit import LowRankExploreThenCommit
from gbb.policies.oful import OFUL
from gbb.policies.phased_exploration import PhasedExploration
from gbb.policies.sliding_window_oful import SlidingWindowOFUL
from gbb.policies.thompson_sampling import ThompsonSampling
from gbb.policies.uniform_random import UniformRandom
from gbb.policies.yes_no_thompson import YesNoThompson
from gbb.problem import Problem

__all__ = [
    "OFUL",
    "AnyPolicy",
    "Choice",
    "Conservative",
    "DiscountedOFUL",
    "EpsilonGreedy",
    "ExploreThenCommit",
    "ExponentialWeights",
    "FixedAllocation",
    "GuardedThompson",
    "ImprovedOFUL",
    "IndexPolicy",
    "InformationDirected",
    "JointOFUL",
    "KCutOFUL",
    "Learned",
    "LowRankExploreThenCommit",
    "PhasedExploration",
    "Policy",
    "SlidingWindowOFUL",
    "ThompsonSampling",
    "UniformRandom",
    "YesNoThompson",
    "build",
    "check_setting",
    "classes",
    "find",
    "missing_settings",
    "name_of",
    "settings_of",
]

CURES = {"cut": "cut=gbb.cuts.greedy(problem.graph)"}
"""How to give the settings that policies of this folder need."""


def _is_policy(item: Any) -> bool:
    return inspect.isclass(item) and issubclass(item, Policy) and not inspect.isabstract(item)


def _mend(item: Any) -> str:
    """What a class lacks to be one of policies."""
    if not inspect.isclass(item) or not issubclass(item, Policy):
        return "Derive it from gbb.policies.Policy."
    return f"Give it the methods {', '.join(sorted(item.__abstractmethods__))}."


def _own() -> dict[str, type[AnyPolicy]]:
    return {
        name: item
        for _, module in discover.modules(sys.modules[__name__])
        for name, item in vars(module).items()
        if _is_policy(item) and item.__module__ == module.__name__
    }


_FAMILY: discover.Family[type[AnyPolicy]] = discover.Family(
    "gbb.policies", "policy", "be a class of policies", _is_policy, _own, _mend
)


def classes() -> dict[str, type[AnyPolicy]]:
    """All policies by name: their class's, or that of their entry point."""
    return _FAMILY.members()


def find(name: str, *, argument: str = "policy") -> type[AnyPolicy]:
    """A policy's class by name or as ``package.module:Class``; errors call it ``argument``."""
    return _FAMILY.find(name, argument=argument)


def name_of(kind: type[AnyPolicy]) -> str:
    """The name by which :func:`find` finds a policy's class again."""
    return _FAMILY.name_of(kind)


def check_setting(policy: str, key: str) -> str:
    """``key``, if the policy of this name has such a setting."""
    known = settings_of(policy)
    if key in known:
        return key
    has = f"{policy} has no setting {key!r}; it has {', '.join(known) or 'none'}."
    raise checks.conflict(f"{has} {checks.suggest(key, known)}".rstrip())


def settings_of(policy: str) -> list[str]:
    """What may be set of the policy of this name, beside its problem and its name."""
    return sorted(inspect.signature(find(policy)).parameters.keys() - {"problem", "name"})


def build(policy: str | type[AnyPolicy], problem: Problem, /, **settings: Any) -> AnyPolicy:
    """A policy by name or class, from those of ``settings`` that its constructor names.

    ``build("OFUL", problem, cut=cut, horizon=100)`` leaves ``horizon`` out, since OFUL has none: one
    set of settings serves a list of policies.
    """
    kind = _kind(policy)
    known = inspect.signature(kind).parameters
    if not settings.keys() <= known.keys():  # then they are another policy's, or nobody's
        every = [kind, *classes().values()]
        options = {name for each in every for name in inspect.signature(each).parameters}
        for key in settings:
            checks.choice("settings", key, options - {"problem"})
    for name in missing_settings(kind, settings):
        cure = f"Pass {CURES.get(name, f'{name}=..')}."
        given = ", ".join(settings) or "none"
        rule = f"hold {name!r}, which {kind.__name__} needs"
        raise checks.input_error("settings", rule, given, cure)
    return kind(problem, **{key: value for key, value in settings.items() if key in known})


def missing_settings(policy: str | type[AnyPolicy], settings: Container[str]) -> list[str]:
    """What a policy, by name or class, needs beside its problem and ``settings``."""
    return [
        name
        for name, each in inspect.signature(_kind(policy)).parameters.items()
        if each.default is each.empty
        and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        and name != "problem"
        and name not in settings
    ]


def _kind(policy: str | type[AnyPolicy]) -> type[AnyPolicy]:
    if isinstance(policy, type):
        return _FAMILY.check("policy", policy, policy.__name__)
    return find(policy)
