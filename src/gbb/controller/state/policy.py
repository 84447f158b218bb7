"""Policies as plain values, so that a log says all it takes to play on."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import numpy as np

from gbb import cuts, policies
from gbb._support import checks
from gbb._support.checks import InputError, IntArray
from gbb.controller.state.problem import Spec
from gbb.controller.storage import codec
from gbb.cuts import Cut, KCut
from gbb.graph import Graph
from gbb.learning import Moments, Record, radius
from gbb.policies import AnyPolicy, Learned, Policy
from gbb.problem import Problem


def encode_policy(policy: AnyPolicy) -> Spec:
    """A policy as the name of its class and the settings its constructor takes.

    A policy among the settings, which it holds back, is encoded in the same way.
    """
    kind = type(policy)
    name = policies.name_of(kind)
    if not _can_be_found(name, kind):
        cure = "Define it at the top of a module that can be imported, not in a script."
        rule = "be of a class that is found again when the log is opened"
        raise checks.input_error("policy", rule, kind.__name__, cure)
    inner = policy.policy
    held = {"policy": encode_policy(inner)} if isinstance(inner, Policy) else {}
    if not policy.controllable:
        rule = "be one that learns from records and settings that a log can hold"
        raise checks.input_error("policy", rule, kind.__name__)
    if policy.keeps_accounts and policy.problem.contexts is not None:
        rule = "be one that keeps no accounts of a baseline where there are contexts"
        cure = "What a baseline pays differs by context; JointOFUL and ThompsonSampling play them."
        raise checks.input_error("policy", rule, kind.__name__, cure)
    settings = policy.settings() | held
    if settings.get("cut") is not None:
        settings["cut"] = _encode_cut(settings["cut"])
    try:
        codec.dumps(settings)
    except TypeError as error:
        rule = "have settings that a log can hold"
        raise checks.input_error("policy", rule, f"{kind.__name__}, in which {error}") from None
    return {"kind": name, "settings": settings}


def _can_be_found(name: str, kind: type[AnyPolicy]) -> bool:
    try:
        return kind.__module__ != "__main__" and policies.find(name) is kind
    except InputError:
        return False


def _encode_cut(cut: Cut | KCut) -> Spec:
    """The sides of a cut, or its k parts."""
    return {"sides": cut.sides} if isinstance(cut, Cut) else {"parts": cut.parts, "k": cut.k}


def _decode_cut(spec: Spec, graph: Graph) -> Cut | KCut:
    """The cut that :func:`_encode_cut` was given."""
    if "parts" in spec:
        return KCut.of(graph, spec["parts"], spec["k"])
    return Cut.of(graph, spec["sides"].astype(np.int64))


def decode_policy(spec: Spec, problem: Problem, discounts: int) -> AnyPolicy:
    """The policy for ``problem`` that :func:`encode_policy` was given.

    Its delta is what so many ``discounts`` leave of it; before the first it is its own, so that it plays
    as it does in a simulation. In a fixed allocation, arms that are not allowed
    now give way to the agent's first allowed one; in a baseline they are refused.
    """
    settings = dict(spec["settings"])
    if "cut" in settings:
        settings["cut"] = _decode_cut(settings["cut"], problem.graph)
    if "delta" in settings and discounts:
        settings["delta"] = radius.delta_after(discounts, settings["delta"])
    if "allocation" in settings:
        settings["allocation"] = problem.instead[np.arange(problem.n), settings["allocation"]]
    if "baseline" in settings:
        _check_baseline(problem, np.asarray(settings["baseline"]))
    if "policy" in settings:
        settings["policy"] = decode_policy(settings["policy"], problem, discounts)
    return policies.find(spec["kind"])(problem, **settings)


def _check_baseline(problem: Problem, arms: IntArray) -> None:
    """Refuse to forbid what is known to work."""
    free = problem.allowed[np.arange(problem.n), arms]
    if free.all():
        return
    agent = int(np.argmin(free))
    arm = problem.arm_names[arms[agent]] if problem.arm_names else int(arms[agent])
    got = f"the forbidden arm {arm!r} at agent {problem.graph.label(agent)!r}"
    cure = "Allow it, or first set a policy with another baseline."
    raise checks.input_error("baseline", "play allowed arms", got, cure)


def move_policy(spec: Spec, old: Graph, problem: Problem, cut: Cut | KCut | None) -> Spec:
    """A policy's settings on the graph of ``problem``; a cut is given or greedy.

    Where it had k > 2 parts, the greedy cut is refined to as many. An allocation and a baseline go by
    agents' names; what the baseline pays does not.
    """
    return encode_policy(_move(spec, old, problem, cut))


def _move(spec: Spec, old: Graph, problem: Problem, cut: Cut | KCut | None) -> AnyPolicy:
    settings, graph = dict(spec["settings"]), problem.graph
    if "cut" in settings:
        k = settings["cut"].get("k", 2)
        own = _default_cut(problem) if cut is None else cut
        if cut is None and isinstance(own, Cut) and k > 2 and problem.parts is None:
            own = cuts.refine(own, k)
        settings["cut"] = own
    elif "policy" in settings:
        settings["policy"] = _move(settings["policy"], old, problem, cut)
    elif cut is not None:
        raise checks.input_error("cut", f"be left out, as {spec['kind']} has none", repr(cut))
    for key in ("allocation", "baseline"):
        if key in settings:
            settings[key] = move_arms(old, settings[key], graph, spec["kind"])
    if settings.get("baseline_reward") is not None:
        rule = "be another one only where the baseline's reward is estimated"
        cure = "First set the policy without baseline_reward, which is that of the present graph."
        raise checks.input_error("graph", rule, settings["baseline_reward"], cure)
    return policies.find(spec["kind"])(problem, **settings)


def move_arms(old: Graph, arms: Any, graph: Graph, kind: str) -> list[int]:
    """The arms of the agents of ``graph``, which had them on ``old``."""
    had = dict(zip(old.labels, np.asarray(arms).tolist(), strict=True))
    missing = [label for label in graph.labels if label not in had]
    if missing:
        cure = "Set another policy first; set this one again, with all arms, on the new graph."
        rule = f"have no agents without an arm in {kind}"
        raise checks.input_error("graph", rule, f"{missing[0]!r}", cure)
    return [had[label] for label in graph.labels]


def choose_policy(policy: AnyPolicy | str, problem: Problem, settings: Spec) -> AnyPolicy:
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
    for key in settings:
        policies.check_setting(policy, key)
    if "baseline" in policies.settings_of(policy) and settings.get("baseline") is None:
        rule = f"be given for {policy}, which holds on to it"
        raise checks.input_error("baseline", rule, "None", "It is an arm for every agent.")
    return policies.build(policy, problem, **{"cut": _default_cut(problem), **settings})


def _default_cut(problem: Problem) -> Cut | KCut:
    """The greedy cut; the parts that a network in shards was cut into already."""
    parts = problem.parts
    if parts is None:
        return cuts.greedy(problem.graph)
    two = parts.k == 2
    return Cut.of(problem.graph, parts.of) if two else KCut.of(problem.graph, parts.of, parts.k)


def tuples_of(policy: AnyPolicy) -> dict[str, type[tuple[Any, ...]]]:
    """The named tuples that a state of ``policy`` may be made of: of its class's modules, or records.

    Also those of the modules that these come from, and of the policy that it holds back, if it does.
    """
    inner = policy.policy
    held = tuples_of(inner) if isinstance(inner, Policy) else {}
    bases = [base for base in reversed(type(policy).__mro__) if issubclass(base, Policy)]
    found = [item for base in bases for item in _tuples_in(base.__module__)]
    parts = [part for item in found for part in _tuples_in(item.__module__)]
    every = [Record, Moments, Learned, *parts, *found]
    return held | {item.__name__: item for item in every}


def _tuples_in(module: str) -> list[type[tuple[Any, ...]]]:
    """The named tuples that a module defines or imports."""
    return [
        item
        for item in vars(sys.modules[module]).values()
        if inspect.isclass(item) and issubclass(item, tuple) and hasattr(item, "_fields")
    ]
