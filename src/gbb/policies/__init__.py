"""Policies, and how to build one by name.

:func:`names` lists the policies of gbb and those that installed packages offer as entry points of the
group ``gbb.policies``; :func:`build` makes one from settings.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import partial
from typing import Any, TypeAlias

from gbb import cuts
from gbb._support import checks, plugins
from gbb.policies._index import EpsilonRandom as EpsilonRandom
from gbb.policies._index import Guarded as Guarded
from gbb.policies._index import Index as Index
from gbb.policies._index import Optimistic as Optimistic
from gbb.policies._index import PosteriorSample as PosteriorSample
from gbb.policies._index_policy import IndexPolicy as IndexPolicy
from gbb.policies._information import InformationRatio as InformationRatio
from gbb.policies._learner import Discounted as Discounted
from gbb.policies._learner import Memory as Memory
from gbb.policies._learner import Posterior as Posterior
from gbb.policies._learner import RidgeLearner as RidgeLearner
from gbb.policies._learner import SlidingWindow as SlidingWindow
from gbb.policies._policy import AccountingPolicy as AccountingPolicy
from gbb.policies._policy import AnyPolicy as AnyPolicy
from gbb.policies._policy import Choice as Choice
from gbb.policies._policy import Learned as Learned
from gbb.policies._policy import Policy as Policy
from gbb.policies._policy import RecordPolicy as RecordPolicy
from gbb.policies._policy import parameters as _parameters
from gbb.policies._search import CutSearch as CutSearch
from gbb.policies._search import LocalSearch as LocalSearch
from gbb.policies._search import Objective as Objective
from gbb.policies._search import Search as Search
from gbb.policies.baselines import FixedAllocation as FixedAllocation
from gbb.policies.baselines import UniformRandom as UniformRandom
from gbb.policies.conservative import Conservative as Conservative
from gbb.policies.explore_then_commit import ExploreThenCommit as ExploreThenCommit
from gbb.policies.exponential_weights import ExponentialWeights as ExponentialWeights
from gbb.policies.guarded_thompson import GuardedThompson as GuardedThompson
from gbb.policies.improved_oful import ImprovedOFUL as ImprovedOFUL
from gbb.policies.information_directed import InformationDirected as InformationDirected
from gbb.policies.joint_oful import DiscountedOFUL as DiscountedOFUL
from gbb.policies.joint_oful import JointOFUL as JointOFUL
from gbb.policies.joint_oful import SlidingWindowOFUL as SlidingWindowOFUL
from gbb.policies.k_cut_oful import KCutOFUL as KCutOFUL
from gbb.policies.oful import OFUL as OFUL
from gbb.policies.phased_exploration import PhasedExploration as PhasedExploration
from gbb.policies.thompson_sampling import BernoulliThompson as BernoulliThompson
from gbb.policies.thompson_sampling import EpsilonGreedy as EpsilonGreedy
from gbb.policies.thompson_sampling import ThompsonSampling as ThompsonSampling
from gbb.problem import Problem

PolicyLike: TypeAlias = (
    "str | AnyPolicy | type[AnyPolicy] | Callable[[Problem], PolicyLike] | Iterable[PolicyLike]"
)
"""Policies for any problem: names, classes, functions of the problem, policies of one environment."""


def _is_policy(item: Any) -> bool:
    return inspect.isclass(item) and issubclass(item, Policy) and not inspect.isabstract(item)


_POLICIES: dict[str, type[AnyPolicy]] = {
    name: kind for name, kind in list(globals().items()) if _is_policy(kind)
}
"""gbb's own policies: those imported above."""

# Looked up at each call: a package may be installed while this one runs.
_members = partial(plugins.members, "gbb.policies", _POLICIES, _is_policy)


def names() -> list[str]:
    """Return the names of all policies, including those of installed packages."""
    return sorted(_members())


def find(policy: str | type[AnyPolicy], *, argument: str = "policy") -> type[AnyPolicy]:
    """Return a policy class by name, as ``package.module:Class`` or itself.

    Errors call it ``argument``.
    """
    if not inspect.isclass(policy):
        return plugins.load("gbb.policies", policy, _POLICIES, _is_policy, argument=argument)
    if not _is_policy(policy):
        cure = "Derive it from gbb.policies.Policy and define its abstract methods."
        raise checks.input_error(argument, "be a policy class", repr(policy), cure)
    return policy


def name_of(kind: type[AnyPolicy]) -> str:
    """Return the name by which :func:`find` finds this class again."""
    names = (name for name, member in _members().items() if member is kind)
    return next(names, f"{kind.__module__}:{kind.__qualname__}")


def settings(policy: AnyPolicy) -> dict[str, Any]:
    """Return the settings of a policy by name, all that its constructor takes besides the problem."""
    names = (field.name for field in fields(policy) if field.name != "problem")
    return {name: getattr(policy, name) for name in names}


def setting_names(policy: str | type[AnyPolicy]) -> list[str]:
    """Return the names of what may be set of a policy, besides its problem and its name."""
    return sorted(_parameters(find(policy)).keys() - {"problem", "name"})


def build(policy: str | type[AnyPolicy], problem: Problem, /, **settings: Any) -> AnyPolicy:
    """Return a policy by name or class, with those of the settings that it has.

    Others must be settings of some other policy, so that one set serves a list of policies.
    """
    kind = find(policy)
    taken = _parameters(kind)
    if strange := settings.keys() - taken.keys():
        # Other packages' policies are looked through only for a setting that this one lacks.
        strange -= {name for member in _members().values() for name in _parameters(member)}
        checks.known_names(kind.__name__, "setting", strange, setting_names(kind))
    return kind(problem, **{key: value for key, value in settings.items() if key in taken})


def make_policies(policies: object, problem: Problem, horizon: int) -> list[AnyPolicy]:
    """Return the policies that play ``problem``; those by name or class over the best cut."""
    match policies:
        case Policy():
            return [policies]
        case str() | type():
            kind = find(policies)
            # A class of somebody's own may ask for a cut; the best one is found once a graph.
            over_cut = {"cut": cuts.best(problem.graph)} if "cut" in _parameters(kind) else {}
            return [build(kind, problem, **over_cut, horizon=horizon)]
        case Iterable():
            return [policy for part in policies for policy in make_policies(part, problem, horizon)]
        case _ if callable(policies):
            return make_policies(policies(problem), problem, horizon)
    rule = "be policies, their names or classes, or a function of a problem"
    cure = "A policy is of a class derived from gbb.policies.Policy."
    raise checks.input_error("policies", rule, type(policies).__name__, cure)
