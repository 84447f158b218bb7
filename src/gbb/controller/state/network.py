"""Networks, problems and seeds as plain values, so that a log says all it takes to play on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb import policies
from gbb._support import checks
from gbb._support.checks import FloatArray, InputError, IntArray
from gbb.controller.storage.errors import StorageError
from gbb.graph import Graph
from gbb.problem import Problem

Spec = dict[str, Any]

GRAPH_KEYS = frozenset({"indptr", "indices", "names", "edge_types", "edge_weights"})
PROBLEM_KEYS = frozenset({"arms", "arm_names", "sigma", "S", "L", "feedback", "allowed"})
"""All that the log says of a graph and of a problem."""


def refuse_unknown(what: str, spec: Spec, known: frozenset[str]) -> None:
    """Refuse what a newer program wrote and this one would pass over."""
    strange = sorted(spec.keys() - known)
    if strange:
        raise StorageError(
            f"The log says {strange[0]!r} of {what}, which this version of gbb does not know. "
            "Use the version that wrote it, or a newer one."
        )


class Network(NamedTuple):
    """A graph and what is known of its links.

    Attributes
    ----------
    graph
        Who is linked to whom.
    edge_types, edge_weights
        Of every directed edge; None when all have type 0, or weight 1.
    """

    graph: Graph
    edge_types: IntArray | None = None
    edge_weights: FloatArray | None = None

    @classmethod
    def of(cls, problem: Problem) -> Network:
        """The network that ``problem`` is played on."""
        types = problem.edge_types if problem.types > 1 else None
        return cls(problem.graph, types, problem.edge_weights if problem.weighted else None)


def encode_network(network: Network) -> Spec:
    """A graph as its arrays and names, and the types and weights of its edges where it has any."""
    graph = network.graph
    names = None if graph.names is None else list(graph.names)
    links = {"edge_types": network.edge_types, "edge_weights": network.edge_weights}
    known = {key: value for key, value in links.items() if value is not None}
    return {"indptr": graph.indptr, "indices": graph.indices, "names": names, **known}


def decode_network(spec: Spec) -> Network:
    """The network that :func:`encode_network` was given."""
    refuse_unknown("a graph", spec, GRAPH_KEYS)
    names = spec["names"]
    graph = Graph(spec["indptr"], spec["indices"], None if names is None else tuple(names))
    return Network(graph, spec.get("edge_types"), spec.get("edge_weights"))


def encode_problem(problem: Problem) -> Spec:
    """A problem but for its network; ``feedback`` and ``allowed`` only where they say something."""
    names = None if problem.arm_names is None else list(problem.arm_names)
    bounds = {"sigma": problem.sigma, "S": problem.S, "L": problem.L}
    spec: Spec = {"arms": problem.arms, "arm_names": names, **bounds}
    if not problem.reports_edges:
        spec["feedback"] = problem.feedback
    if not problem.allowed.all():
        spec["allowed"] = problem.allowed
    return spec


def decode_problem(
    spec: Spec, network: Network, allowed: NDArray[np.bool_] | None = None
) -> Problem:
    """The problem on ``network`` that :func:`encode_problem` was given, with the arms allowed now."""
    refuse_unknown("the problem", spec, PROBLEM_KEYS)
    links = {"edge_types": network.edge_types, "edge_weights": network.edge_weights}
    return Problem(network.graph, **{**spec, **links, "allowed": allowed})


def make_problem(
    base: Spec, network: Network, policy: Spec, allowed: NDArray[np.bool_] | None
) -> tuple[Problem, bool]:
    """The problem that a policy plays, and whether it holds the arms that are allowed now.

    It does beyond the paper's problem, so that the policy chooses among them. There the policy chooses
    as in the paper, and agents left with a forbidden arm are repaired.
    """
    links = (network.edge_types, network.edge_weights, base.get("feedback"), base.get("allowed"))
    beyond = any(each is not None for each in links)
    knows = beyond and policies.find(policy["kind"]).plays_any_problem
    return decode_problem(base, network, allowed if knows else None), knows


def replace_network(
    base: Spec,
    old: Problem,
    graph: Graph,
    edge_types: ArrayLike | None,
    edge_weights: ArrayLike | None,
) -> Problem:
    """The problem on another graph, whose links are known as those of ``old`` are.

    What was learnt of a type stays with its number: none may go.
    """
    given = (
        ("edge_types", edge_types, old.types > 1),
        ("edge_weights", edge_weights, old.weighted),
    )
    for name, value, had in given:
        if had and value is None:
            rule = "be given for the new graph, as the present one has them"
            raise checks.input_error(name, rule, "None", "Pass one for each directed edge.")
    if isinstance(edge_types, str) and not _own_types_stay(old, graph):
        rule = "be numbers unless each agent had its own type and agents keep their places"
        raise checks.input_error("edge_types", rule, repr(edge_types), "Types go on by number.")
    links = Problem(graph, base["arms"], edge_types=edge_types, edge_weights=edge_weights)
    if links.types < old.types:
        raise InputError(
            f"`edge_types` must keep all {old.types} types, because data was recorded for them, "
            f"but got {links.types}."
        )
    return decode_problem(base, Network.of(links))


def _own_types_stay(old: Problem, graph: Graph) -> bool:
    """Whether agent i's own matrix is agent i's on ``graph`` too."""
    own = np.array_equal(old.edge_types, old.graph.sources)
    return own and list(graph.labels[: old.n]) == list(old.graph.labels)


def encode_seed(seed: np.random.SeedSequence) -> Spec:
    """A seed sequence as plain values."""
    entropy = seed.entropy if isinstance(seed.entropy, int) else list(seed.entropy or ())
    return {"entropy": entropy, "key": list(seed.spawn_key), "pool": seed.pool_size}


def decode_seed(spec: Spec) -> np.random.SeedSequence:
    """The seed sequence that :func:`encode_seed` was given."""
    return np.random.SeedSequence(
        spec["entropy"], spawn_key=tuple(spec["key"]), pool_size=spec["pool"]
    )
