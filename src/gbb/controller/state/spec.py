"""Policies as plain values, so that a log says all it takes to play on."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from gbb import cuts, policies
from gbb._support import checks
from gbb.controller.state.network import Spec
from gbb.controller.storage import codec
from gbb.cuts import Cut, KCut
from gbb.graph import Graph
from gbb.learning.estimator import Record
from gbb.learning.typed import Moments
from gbb.policies import AllocationPolicy, AnyPolicy, Learned, Policy
from gbb.problem import Problem

DERIVED = ("problem", "horizon")
"""Constructor arguments that a log need not hold: the problem stands beside it, and what depends on
the horizon is kept itself."""


def policy_to(policy: AnyPolicy) -> Spec:
    """A policy as its class name and the settings its constructor takes."""
    kind = type(policy)
    known = policies.classes()
    if known.get(kind.__name__) is not kind:
        cure = "A controller must find it again: put its file into gbb/policies."
        raise checks.input_error("policy", "be one of gbb.policies", kind.__name__, cure)
    if not kind.controllable:
        rule = "be one that learns from records and settings that a log can hold"
        raise checks.input_error("policy", rule, kind.__name__)
    settings: Spec = {}
    for name in inspect.signature(kind).parameters:
        if name in DERIVED:
            continue
        if not hasattr(policy, name):
            rule = "keep its settings, so that a log can hold them"
            raise checks.input_error(
                "policy", rule, f"{kind.__name__}, whose `{name}` cannot be read"
            )
        settings[name] = _cut_to(policy) if name == "cut" else getattr(policy, name)
    try:
        codec.dumps(settings)
    except TypeError as error:
        rule = "have settings that a log can hold"
        raise checks.input_error("policy", rule, f"{kind.__name__}, in which {error}") from None
    return {"kind": kind.__name__, "settings": settings}


def _cut_to(policy: Any) -> Any:
    """The sides of a policy's cut, or its k parts."""
    cut = policy.cut
    if isinstance(policy, AllocationPolicy):
        parts = policy.parts  # what it was given; `cut` may only be the best two groups of them
        if parts.k > 2 or not np.array_equal(parts.parts, cut.sides):
            return {"parts": parts.parts, "k": parts.k}
    return {"sides": cut.sides} if isinstance(cut, Cut) else cut


def _cut_from(spec: Spec, graph: Graph) -> Cut | KCut:
    """The cut that :func:`_cut_to` was given."""
    if "parts" in spec:
        return KCut.of(graph, spec["parts"], spec["k"])
    return Cut.of(graph, spec["sides"].astype(np.int64))


def policy_from(spec: Spec, problem: Problem) -> AnyPolicy:
    """The policy for ``problem`` that :func:`policy_to` was given.

    In a fixed allocation, arms that are not allowed now give way to the agent's first allowed one.
    """
    settings = dict(spec["settings"])
    if "cut" in settings:
        settings["cut"] = _cut_from(settings["cut"], problem.graph)
    if "allocation" in settings and not problem.is_paper_problem:
        arms, allowed = np.asarray(settings["allocation"]), problem.allowed
        free = allowed[np.arange(problem.n), arms]
        settings["allocation"] = np.where(free, arms, allowed.argmax(axis=1))
    return _made(spec["kind"], problem, settings)


def _made(kind: str, problem: Problem, settings: Spec) -> AnyPolicy:
    known = policies.classes()
    return known[checks.choice("policy", kind, known)](problem, **settings)


def moved(spec: Spec, old: Graph, problem: Problem, cut: Cut | KCut | None) -> Spec:
    """A policy's settings on the graph of ``problem``; a cut is given or greedy.

    Where it had k > 2 parts, the greedy cut is refined to as many. An allocation goes by agents' names.
    """
    settings, graph = dict(spec["settings"]), problem.graph
    if "cut" in settings:
        k = settings["cut"].get("k", 2)
        greedy = cuts.greedy(graph) if cut is None else None
        settings["cut"] = cut if greedy is None else greedy if k == 2 else cuts.refine(greedy, k)
    elif cut is not None:
        raise checks.input_error("cut", f"be left out, as {spec['kind']} has none", repr(cut))
    if "allocation" in settings:
        settings["allocation"] = _kept_arms(old, settings["allocation"], graph, spec["kind"])
    return policy_to(_made(spec["kind"], problem, settings))


def _kept_arms(old: Graph, arms: Any, graph: Graph, kind: str) -> list[int]:
    """The arms of the agents of ``graph``, which had them on ``old``."""
    had = dict(zip(old.labels, np.asarray(arms).tolist(), strict=True))
    missing = [label for label in graph.labels if label not in had]
    if missing:
        cure = "Set another policy first; set this one again, with all arms, on the new graph."
        rule = f"have no agents without an arm in {kind}"
        raise checks.input_error("graph", rule, f"{missing[0]!r}", cure)
    return [had[label] for label in graph.labels]


def policy_of(policy: AnyPolicy | str, problem: Problem, settings: Spec) -> AnyPolicy:
    """A policy given as itself or by name, with the greedy cut unless the settings have another."""
    if isinstance(policy, Policy):
        if settings:
            cure = "Set it on the policy itself."
            raise checks.input_error("policy", "be a name when settings follow", repr(policy), cure)
        if policy.problem is not problem:
            cure = "Build the policy on the Problem that the controller has."
            raise checks.input_error(
                "policy", "play `problem`", "a policy of another problem", cure
            )
        return policy
    if not isinstance(policy, str):
        raise checks.input_error("policy", "be a gbb policy or its name", type(policy).__name__)
    return policies.build(policy, problem, **{"cut": cuts.greedy(problem.graph), **settings})


def kinds_of(policy: AnyPolicy) -> dict[str, type[tuple[Any, ...]]]:
    """The named tuples that a state of ``policy`` may be made of."""
    module = inspect.getmodule(type(policy))
    found = [item for item in vars(module).values() if inspect.isclass(item)]
    named = [item for item in found if issubclass(item, tuple) and hasattr(item, "_fields")]
    return {item.__name__: item for item in [*named, Record, Moments, Learned]}
