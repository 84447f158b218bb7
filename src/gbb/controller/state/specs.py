"""Problems, policies and seeds as plain values, so that a log says all it takes to play on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbb import cuts, policies
from gbb._support import checks
from gbb._support.checks import InputError, IntArray
from gbb.contexts import Contexts, from_dict
from gbb.controller.log import codec
from gbb.controller.log.events import StorageError
from gbb.cuts import Cut
from gbb.graph import Graph
from gbb.learning import radius
from gbb.policies import AccountingPolicy, AnyPolicy, Policy, RecordPolicy
from gbb.problem import Problem

Spec = dict[str, Any]

LARGEST_POOL = 1024
"""Numbers in a seed's pool: mixing them takes the square of it, and mostly there are four."""

EDGES = ("edge_types", "edge_weights", "features", "edge_counts", "parts")
"""Settings of a problem that go with its graph."""


def encode_graph(problem: Problem) -> Spec:
    """Return a graph as its arrays and names, with the settings of its edges if there are any."""
    graph, settings = problem.graph, problem.settings()
    names = None if graph.names is None else list(graph.names)
    spec: Spec = {"indptr": graph.indptr, "indices": graph.indices, "names": names}
    if graph.positions is not None:
        spec["positions"] = graph.positions
    return spec | {name: settings[name] for name in EDGES if name in settings}


def encode_problem(problem: Problem) -> Spec:
    """Return all settings of a problem but for its graph."""
    spec = {k: v for k, v in problem.settings().items() if k not in ("graph", *EDGES)}
    spec["L"] = problem.L  # declared from now on, as a client has it
    if problem.contexts is not None:
        spec["contexts"] = problem.contexts.to_dict()
    return spec


def decode_problem(base: Spec, spec: Spec) -> Problem:
    """Return the problem of :func:`encode_problem`, with the graph of :func:`encode_graph`."""
    names = spec["names"]
    names = None if names is None else tuple(names)
    graph = Graph(spec["indptr"], spec["indices"], names, spec.get("positions"))
    return build_problem(base, graph, **{name: spec[name] for name in EDGES if name in spec})


def build_problem(base: Spec, graph: Graph, **edges: Any) -> Problem:
    """Return the problem of :func:`encode_problem` on a graph, where all arms are allowed."""
    contexts = _read_contexts(base["contexts"]) if "contexts" in base else None
    return Problem(graph, **{**base, "allowed": None, **edges, "contexts": contexts})


def _read_contexts(spec: Spec) -> Contexts:
    try:
        return from_dict(spec)
    except (InputError, TypeError, LookupError) as error:
        raise StorageError(
            f"The log has contexts that this version of gbb cannot read ({error}). Use the version "
            "that wrote it, or a newer one."
        ) from None


def restrict(problem: Problem, kind: str, allowed: NDArray[np.bool_] | None) -> Problem:
    """Return the problem that a policy of a kind plays if only some arms are allowed.

    A policy for any problem chooses among these. One for the paper's problem alone chooses among all,
    and agents left with a forbidden arm are repaired.
    """
    if policies.find(kind).requires:
        allowed = None
    return (
        problem if allowed is None and problem.allowed.all() else problem.replace(allowed=allowed)
    )


def encode_seed(seed: np.random.SeedSequence) -> Spec:
    """A seed sequence as plain values."""
    if seed.pool_size > LARGEST_POOL:
        rule = f"have a pool of at most {LARGEST_POOL}"
        raise checks.input_error("seed", rule, seed.pool_size)
    entropy = seed.entropy if isinstance(seed.entropy, int) else list(seed.entropy or ())
    return {"entropy": entropy, "key": list(seed.spawn_key), "pool": seed.pool_size}


def decode_seed(spec: Spec) -> np.random.SeedSequence:
    """The seed sequence that :func:`encode_seed` was given."""
    if spec["pool"] > LARGEST_POOL:
        raise ValueError(f"a pool of {spec['pool']} numbers")
    return np.random.SeedSequence(
        spec["entropy"], spawn_key=tuple(spec["key"]), pool_size=spec["pool"]
    )


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
    settings = policies.settings(policy)
    if isinstance(inner := settings.get("policy"), Policy):
        settings["policy"] = encode_policy(inner)
    if not isinstance(policy, RecordPolicy) or not policy.controllable:
        rule = "be one that learns from records and settings that a log can hold"
        raise checks.input_error("policy", rule, kind.__name__)
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


def _encode_cut(cut: Cut) -> Spec:
    """The sides of a cut in two, or the parts of one in k."""
    return {"sides": cut.parts} if cut.k == 2 else {"parts": cut.parts, "k": cut.k}


def _decode_cut(spec: Spec, graph: Graph) -> Cut:
    """The cut that :func:`_encode_cut` was given."""
    return Cut.of(graph, spec["sides"]) if "sides" in spec else Cut.of(graph, **spec)


def decode_policy(spec: Spec, problem: Problem, discounts: int) -> RecordPolicy[Any]:
    """The policy for ``problem`` that :func:`encode_policy` was given.

    Its delta is what so many ``discounts`` leave of it; before the first it is its own, so that it plays
    as it does in a simulation. In a fixed allocation, arms that are not allowed
    now give way to the agent's first allowed one; in a baseline they are refused.
    """
    settings = dict(spec["settings"])
    if settings.get("cut") is not None:
        settings["cut"] = _decode_cut(settings["cut"], problem.graph)
    if "delta" in settings and discounts:
        settings["delta"] = radius.delta_after(discounts, settings["delta"])
    if "allocation" in settings:
        settings["allocation"] = problem.first_allowed[np.arange(problem.n), settings["allocation"]]
    if "baseline" in settings:
        _check_baseline(problem, np.asarray(settings["baseline"]))
    if "policy" in settings:
        settings["policy"] = decode_policy(settings["policy"], problem, discounts)
    policy = policies.find(spec["kind"])(problem, **settings)
    assert isinstance(policy, RecordPolicy)
    return policy


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


def move_policy(spec: Spec, old: Graph, problem: Problem, cut: Cut | None) -> Spec:
    """A policy's settings on the graph of ``problem``; a cut is given or the best.

    Where it had k > 2 parts, the best cut is refined to as many. An allocation and a baseline go by
    agents' names; what the baseline pays does not.
    """
    return encode_policy(_move(spec, old, problem, cut))


def _move(spec: Spec, old: Graph, problem: Problem, cut: Cut | None) -> AnyPolicy:
    settings, graph = dict(spec["settings"]), problem.graph
    if settings.get("cut") is not None:
        k = settings["cut"].get("k", 2)
        own = _default_cut(problem) if cut is None else cut
        if cut is None and own.k == 2 < k and problem.parts is None:
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
    """A policy given as itself or by name, with the best cut unless the settings have another."""
    if isinstance(policy, Policy):
        _refuse_accounts(type(policy), problem)
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
    kind = policies.find(policy)
    checks.known_names(policy, "setting", settings, policies.setting_names(kind))
    _refuse_accounts(kind, problem)
    if issubclass(kind, AccountingPolicy) and settings.get("baseline") is None:
        rule = f"be given for {policy}, which holds on to it"
        raise checks.input_error("baseline", rule, "None", "It is an arm for every agent.")
    return policies.build(policy, problem, **{"cut": _default_cut(problem), **settings})


def _refuse_accounts(kind: type[AnyPolicy], problem: Problem) -> None:
    """Refuse a promise about a baseline where what that pays changes with the context."""
    if (
        issubclass(kind, AccountingPolicy)
        and isinstance(problem, Problem)
        and problem.contexts is not None
    ):
        rule = "be one that keeps no accounts of a baseline where there are contexts"
        cure = "What a baseline pays differs by context; JointOFUL and ThompsonSampling play them."
        raise checks.input_error("policy", rule, kind.__name__, cure)


def _default_cut(problem: Problem) -> Cut:
    """The best cut; the parts that a network in shards was cut into already."""
    parts = problem.parts
    if parts is None:
        return cuts.best(problem.graph)
    return Cut.of(problem.graph, parts, int(parts.max()) + 1)


def state_types(policy: AnyPolicy) -> dict[str, type]:
    """Return the classes that a state of ``policy`` may be made of, by name: no log decodes others."""
    own = {kind.__name__: kind for kind in getattr(policy, "state_types", ())}
    inner = getattr(policy, "policy", None)
    return own if inner is None else state_types(inner) | own
