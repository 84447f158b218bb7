"""Policies as a caller may give them: themselves, by name or class, or by a function of the problem."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from functools import cache
from typing import Any, TypeAlias

from gbb._support import checks
from gbb.cuts import greedy
from gbb.policies import AnyPolicy, Policy, build, missing_settings
from gbb.problem import Problem

Contenders: TypeAlias = (
    "str | AnyPolicy | type[AnyPolicy] | Callable[[Problem], Contenders] | Iterable[Contenders]"
)
"""Policies for any problem: names, classes, functions of the problem, policies of one environment."""

RULE = "be policies, their names or classes, or a function that makes them for a problem"


def make_policies(contenders: object, problem: Problem, horizon: int) -> list[AnyPolicy]:
    """The policies that play ``problem``; those by name or class over the greedy cut."""

    @cache
    def settings() -> dict[str, Any]:
        return {"cut": greedy(problem.graph), "horizon": horizon}

    def make(given: object) -> list[AnyPolicy]:
        match given:
            case Policy():
                return [given]
            case str() | type():
                _refuse_needy(given, settings())
                return [build(given, problem, **settings())]
            case Iterable():
                return [made for each in given for made in make(each)]
            case _ if callable(given):
                return make(given(problem))
            case _:
                cure = "A policy is of a class derived from gbb.policies.Policy."
                raise checks.input_error("policies", RULE, type(given).__name__, cure)

    return make(contenders)


def _refuse_needy(given: str | type[AnyPolicy], settings: Container[str]) -> None:
    """Refuse a policy by name or class that needs more than ``settings``."""
    if missing := missing_settings(given, settings):
        name = (given if isinstance(given, str) else given.__name__).rpartition(":")[2]
        rule = "need no more than a cut and the rounds where they go by name or class"
        cure = f"Pass lambda problem: {name}(problem, {missing[0]}=...)."
        raise checks.input_error("policies", rule, f"{name} without {missing[0]}", cure)
