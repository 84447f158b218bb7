"""Problems, graphs and policies as plain values, so that a log says all it takes to play on."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from gbb import _checks, cuts, policies
from gbb.controller import _codec
from gbb.cuts import Cut
from gbb.estimator import Record
from gbb.graph import Graph
from gbb.policies import AnyPolicy, Learned, Policy
from gbb.problem import Problem

Spec = dict[str, Any]


def graph_to(graph: Graph) -> Spec:
    """A graph as its arrays and names."""
    names = None if graph.names is None else list(graph.names)
    return {"indptr": graph.indptr, "indices": graph.indices, "names": names}


def graph_from(spec: Spec) -> Graph:
    """The graph that :func:`graph_to` was given."""
    names = spec["names"]
    return Graph(spec["indptr"], spec["indices"], None if names is None else tuple(names))


def problem_to(problem: Problem) -> Spec:
    """A problem but for its graph."""
    names = None if problem.arm_names is None else list(problem.arm_names)
    bounds = {"sigma": problem.sigma, "S": problem.S, "L": problem.L}
    return {"arms": problem.arms, "arm_names": names, **bounds}


def problem_from(spec: Spec, graph: Graph) -> Problem:
    """The problem on ``graph`` that :func:`problem_to` was given."""
    return Problem(graph, spec["arms"], **{k: v for k, v in spec.items() if k != "arms"})


DERIVED = ("problem", "horizon")
"""Constructor arguments that a log need not hold: the problem stands beside it, and what depends on
the horizon is kept itself."""


def policy_to(policy: AnyPolicy) -> Spec:
    """A policy as its class name and the settings its constructor takes."""
    kind = type(policy)
    known = policies.classes()
    if known.get(kind.__name__) is not kind:
        cure = "A controller must find it again: put its file into gbb/policies."
        raise _checks.fail("policy", "be one of gbb.policies", kind.__name__, cure)
    if not kind.controllable:
        rule = "be one that learns from records and settings that a log can hold"
        raise _checks.fail("policy", rule, kind.__name__)
    settings: Spec = {}
    for name in inspect.signature(kind).parameters:
        if name in DERIVED:
            continue
        if not hasattr(policy, name):
            rule = "keep its settings, so that a log can hold them"
            raise _checks.fail("policy", rule, f"{kind.__name__}, whose `{name}` cannot be read")
        value = getattr(policy, name)
        settings[name] = {"sides": value.sides} if isinstance(value, Cut) else value
    try:
        _codec.dumps(settings)
    except TypeError as error:
        rule = "have settings that a log can hold"
        raise _checks.fail("policy", rule, f"{kind.__name__}, in which {error}") from None
    return {"kind": kind.__name__, "settings": settings}


def policy_from(spec: Spec, problem: Problem) -> AnyPolicy:
    """The policy for ``problem`` that :func:`policy_to` was given."""
    known = policies.classes()
    kind = known[_checks.choice("policy", spec["kind"], known)]
    settings = dict(spec["settings"])
    if "cut" in settings:
        settings["cut"] = Cut.of(problem.graph, settings["cut"]["sides"].astype(np.int64))
    return kind(problem, **settings)


def moved(spec: Spec, graph: Graph, cut: Cut | None) -> Spec:
    """A policy's settings on another graph; a cut is given or greedy."""
    settings = dict(spec["settings"])
    if "cut" in settings:
        chosen = cuts.greedy(graph) if cut is None else cuts.check_cut(graph, cut)
        settings["cut"] = {"sides": chosen.sides}
    elif cut is not None:
        raise _checks.fail("cut", f"be left out, as {spec['kind']} has none", repr(cut))
    return {"kind": spec["kind"], "settings": settings}


def policy_of(policy: AnyPolicy | str, problem: Problem, settings: Spec) -> AnyPolicy:
    """A policy given as itself or by name, with the greedy cut unless the settings have another."""
    if isinstance(policy, Policy):
        if settings:
            cure = "Set it on the policy itself."
            raise _checks.fail("policy", "be a name when settings follow", repr(policy), cure)
        if policy.problem is not problem:
            cure = "Build the policy on the Problem that the controller has."
            raise _checks.fail("policy", "play `problem`", "a policy of another problem", cure)
        return policy
    if not isinstance(policy, str):
        raise _checks.fail("policy", "be a gbb policy or its name", type(policy).__name__)
    return policies.build(policy, problem, **{"cut": cuts.greedy(problem.graph), **settings})


def kinds_of(policy: AnyPolicy) -> dict[str, type[tuple[Any, ...]]]:
    """The named tuples that a state of ``policy`` may be made of."""
    module = inspect.getmodule(type(policy))
    found = [item for item in vars(module).values() if inspect.isclass(item)]
    named = [item for item in found if issubclass(item, tuple) and hasattr(item, "_fields")]
    return {item.__name__: item for item in [*named, Record, Learned]}
