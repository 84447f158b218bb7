"""Policies, and how to build one by name.

:func:`names` lists the policies of gbb and those that installed packages offer as entry points of the
group ``gbb.policies``; :func:`build` makes one from settings.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import cache
from typing import Any, TypeAlias

from gbb import cuts
from gbb._support import checks, plugins
from gbb.policies._index import EpsilonRandom, Guarded, Index, Optimistic, PosteriorSample
from gbb.policies._index_policy import IndexPolicy
from gbb.policies._information import InformationRatio
from gbb.policies._learner import Discounted, Memory, Posterior, RidgeLearner, SlidingWindow
from gbb.policies._policy import (
    AccountingPolicy,
    AnyPolicy,
    Choice,
    Learned,
    Policy,
    RecordPolicy,
    parameters,
)
from gbb.policies._search import CutSearch, LocalSearch, Objective, Search
from gbb.policies.baselines import FixedAllocation, UniformRandom
from gbb.policies.conservative import Conservative
from gbb.policies.explore_then_commit import ExploreThenCommit
from gbb.policies.exponential_weights import ExponentialWeights
from gbb.policies.guarded_thompson import GuardedThompson
from gbb.policies.improved_oful import ImprovedOFUL
from gbb.policies.information_directed import InformationDirected
from gbb.policies.joint_oful import DiscountedOFUL, JointOFUL, SlidingWindowOFUL
from gbb.policies.k_cut_oful import KCutOFUL
from gbb.policies.oful import OFUL
from gbb.policies.phased_exploration import PhasedExploration
from gbb.policies.thompson_sampling import BernoulliThompson, EpsilonGreedy, ThompsonSampling
from gbb.problem import Problem

__all__ = [
    "OFUL",
    "AccountingPolicy",
    "AnyPolicy",
    "BernoulliThompson",
    "Choice",
    "Conservative",
    "CutSearch",
    "Discounted",
    "DiscountedOFUL",
    "EpsilonGreedy",
    "EpsilonRandom",
    "ExploreThenCommit",
    "ExponentialWeights",
    "FixedAllocation",
    "Guarded",
    "GuardedThompson",
    "ImprovedOFUL",
    "Index",
    "IndexPolicy",
    "InformationDirected",
    "InformationRatio",
    "JointOFUL",
    "KCutOFUL",
    "Learned",
    "LocalSearch",
    "Memory",
    "Objective",
    "Optimistic",
    "PhasedExploration",
    "Policy",
    "Posterior",
    "PosteriorSample",
    "RecordPolicy",
    "RidgeLearner",
    "Search",
    "SlidingWindow",
    "SlidingWindowOFUL",
    "ThompsonSampling",
    "UniformRandom",
    "build",
    "find",
    "make_policies",
    "name_of",
    "names",
    "setting_names",
    "settings",
]


def _is_policy(item: Any) -> bool:
    return inspect.isclass(item) and issubclass(item, Policy) and not inspect.isabstract(item)


_POLICIES: dict[str, type[AnyPolicy]] = {
    name: kind for name, kind in list(globals().items()) if _is_policy(kind)
}
"""gbb's own policies: those imported above."""

PolicyLike: TypeAlias = (
    "str | AnyPolicy | type[AnyPolicy] | Callable[[Problem], PolicyLike] | Iterable[PolicyLike]"
)
"""Policies for any problem: names, classes, functions of the problem, policies of one environment."""


def names() -> list[str]:
    """Return the names of all policies, including those of installed packages."""
    return sorted(plugins.members("gbb.policies", _POLICIES, _is_policy))


def find(name: str, *, argument: str = "policy") -> type[AnyPolicy]:
    """Return a policy class by name or as ``package.module:Class``; errors call it ``argument``."""
    return plugins.load("gbb.policies", name, _POLICIES, _is_policy, argument=argument)


def name_of(kind: type[AnyPolicy]) -> str:
    """Return the name by which :func:`find` finds this class again."""
    members = plugins.members("gbb.policies", _POLICIES, _is_policy)
    names = (name for name, member in members.items() if member is kind)
    return next(names, f"{kind.__module__}:{kind.__qualname__}")


def settings(policy: AnyPolicy) -> dict[str, Any]:
    """Return the settings of a policy by name, all that its constructor takes besides the problem."""
    return {
        field.name: getattr(policy, field.name)
        for field in fields(policy)
        if field.name != "problem"
    }


def setting_names(policy: str | type[AnyPolicy]) -> list[str]:
    """Return the names of what may be set of a policy, besides its problem and its name."""
    kind = find(policy) if isinstance(policy, str) else policy
    return sorted(parameters(kind).keys() - {"problem", "name"})


def build(policy: str | type[AnyPolicy], problem: Problem, /, **settings: Any) -> AnyPolicy:
    """Return a policy by name or class, with those of the settings that it has.

    Others must be settings of some other policy, so that one set serves a list of policies.
    """
    kind = find(policy) if isinstance(policy, str) else policy
    if not _is_policy(kind):
        cure = "Derive it from gbb.policies.Policy and define its abstract methods."
        raise checks.input_error("policy", "be a policy class", repr(policy), cure)
    taken = parameters(kind)
    if strange := settings.keys() - taken.keys():
        members = plugins.members("gbb.policies", _POLICIES, _is_policy).values()
        strange -= {name for member in members for name in parameters(member)}
        checks.known_names(kind.__name__, "setting", strange, setting_names(kind))
    return kind(problem, **{key: value for key, value in settings.items() if key in taken})


def make_policies(policies: object, problem: Problem, horizon: int) -> list[AnyPolicy]:
    """Return the policies that play ``problem``; those by name or class over the best cut."""

    @cache
    def best() -> cuts.Cut:
        return cuts.best(problem.graph)

    def make(item: object) -> list[AnyPolicy]:
        match item:
            case Policy():
                return [item]
            case str() | type():
                kind = find(item) if isinstance(item, str) else item
                over_cut = _is_policy(kind) and "cut" in parameters(kind)
                shared = {"cut": best()} if over_cut else {}
                return [build(kind, problem, **shared, horizon=horizon)]
            case Iterable():
                return [policy for part in item for policy in make(part)]
            case _ if callable(item):
                return make(item(problem))
            case _:
                rule = "be policies, their names or classes, or a function of a problem"
                cure = "A policy is of a class derived from gbb.policies.Policy."
                raise checks.input_error("policies", rule, type(item).__name__, cure)

    return make(policies)
