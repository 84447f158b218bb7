"""Problems, their graphs and seeds as plain values, so that a log says all it takes to play on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbb import policies
from gbb._support import checks
from gbb._support.checks import InputError
from gbb.contexts import Contexts, from_dict
from gbb.controller.log.events import StorageError
from gbb.graph import Graph
from gbb.problem import Problem

Spec = dict[str, Any]

LARGEST_POOL = 1024
"""Numbers in a seed's pool: mixing them takes the square of it, and mostly there are four."""

LINKS = ("edge_types", "edge_weights", "features")


def encode_graph(problem: Problem) -> Spec:
    """A graph as its arrays and names, and the types and weights of its edges where it has any.

    And what it stands for, where it is that of a network in shards.
    """
    graph, known = problem.graph, _links(problem)
    names = None if graph.names is None else list(graph.names)
    if problem.parts is not None:
        known["parts"] = {"of": known.pop("parts"), "counts": known.pop("edge_counts")}
    if graph.positions is not None:
        known["positions"] = graph.positions
    return {"indptr": graph.indptr, "indices": graph.indices, "names": names, **known}


def _links(problem: Problem) -> Spec:
    known = (*LINKS, "edge_counts", "parts")
    return {name: value for name, value in problem.settings().items() if name in known}


def encode_problem(problem: Problem) -> Spec:
    """A problem but for its graph; feedback, allowed arms and contexts only where there are any."""
    names = None if problem.arm_names is None else list(problem.arm_names)
    bounds = {name: problem.settings()[name] for name in ("sigma", "S")} | {"L": problem.L}
    spec: Spec = {"arms": problem.arms, "arm_names": names, **bounds}
    if problem.feedback != "edge":
        spec["feedback"] = problem.feedback
    if not problem.allowed.all():
        spec["allowed"] = problem.allowed
    if problem.contexts is not None:
        spec["contexts"] = problem.contexts.to_dict()
    return spec


def decode_problem(base: Spec, spec: Spec) -> Problem:
    """The problem of :func:`encode_problem`, on the graph of :func:`encode_graph`, all arms allowed."""
    names = spec["names"]
    names = None if names is None else tuple(names)
    graph = Graph(spec["indptr"], spec["indices"], names, spec.get("positions"))
    links = {name: spec.get(name) for name in LINKS}
    merged = spec.get("parts", {})
    return build_problem(
        base, graph, **links, edge_counts=merged.get("counts"), parts=merged.get("of")
    )


def build_problem(base: Spec, graph: Graph, **known: Any) -> Problem:
    """The problem of :func:`encode_problem` on a graph, with what is known of its links and agents."""
    contexts = _read_contexts(base["contexts"]) if "contexts" in base else None
    return Problem(graph, **{**base, "allowed": None, **known, "contexts": contexts})


def _read_contexts(spec: Spec) -> Contexts:
    """The kind of contexts that a log says."""
    try:
        return from_dict(spec)
    except (InputError, TypeError, LookupError) as error:
        raise StorageError(
            f"The log has contexts that this version of gbb cannot read ({error}). Use the version "
            "that wrote it, or a newer one."
        ) from None


def narrow_problem(
    base: Spec, on: Problem, kind: str, allowed: NDArray[np.bool_] | None
) -> tuple[Problem, bool]:
    """Return the problem that a policy plays where ``on`` is played, and whether it holds ``allowed``.

    A policy for any problem chooses among the arms that are allowed now. One for the paper's problem
    alone chooses among all, and agents left with a forbidden arm are repaired.
    """
    knows = not policies.find(kind).requires
    now = allowed if knows else None
    return build_problem(base, on.graph, **_links(on), allowed=now), knows


def widen_problem(base: Spec, on: Problem) -> Problem:
    """The problem on the graph of ``on`` with all arms allowed, as :func:`decode_problem` gives it."""
    return on if on.allowed.all() else build_problem(base, on.graph, **_links(on))


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
