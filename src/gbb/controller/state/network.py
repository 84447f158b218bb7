"""Networks and problems as plain values, so that a log says all it takes to play on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb import policies
from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.controller.storage.errors import StorageError
from gbb.graph import Graph
from gbb.problem import Problem

Spec = dict[str, Any]

GRAPH_KEYS = frozenset({"indptr", "indices", "names", "edge_types", "edge_weights"})
PROBLEM_KEYS = frozenset({"arms", "arm_names", "sigma", "S", "L", "feedback", "allowed"})
"""All that the log says of a graph and of a problem."""


def only_known(what: str, spec: Spec, known: frozenset[str]) -> None:
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


def graph_to(network: Network) -> Spec:
    """A graph as its arrays and names, and the types and weights of its edges where it has any."""
    graph = network.graph
    names = None if graph.names is None else list(graph.names)
    links = {"edge_types": network.edge_types, "edge_weights": network.edge_weights}
    known = {key: value for key, value in links.items() if value is not None}
    return {"indptr": graph.indptr, "indices": graph.indices, "names": names, **known}


def graph_from(spec: Spec) -> Network:
    """The network that :func:`graph_to` was given."""
    only_known("a graph", spec, GRAPH_KEYS)
    names = spec["names"]
    graph = Graph(spec["indptr"], spec["indices"], None if names is None else tuple(names))
    return Network(graph, spec.get("edge_types"), spec.get("edge_weights"))


def problem_to(problem: Problem) -> Spec:
    """A problem but for its network; ``feedback`` and ``allowed`` only where they say something."""
    names = None if problem.arm_names is None else list(problem.arm_names)
    bounds = {"sigma": problem.sigma, "S": problem.S, "L": problem.L}
    spec: Spec = {"arms": problem.arms, "arm_names": names, **bounds}
    if problem.feedback != "edge":
        spec["feedback"] = problem.feedback
    if not problem.allowed.all():
        spec["allowed"] = problem.allowed
    return spec


def problem_from(spec: Spec, network: Network, allowed: NDArray[np.bool_] | None = None) -> Problem:
    """The problem on ``network`` that :func:`problem_to` was given, with the arms allowed now."""
    only_known("the problem", spec, PROBLEM_KEYS)
    settings = {key: value for key, value in spec.items() if key not in ("arms", "allowed")}
    types, weights = network.edge_types, network.edge_weights
    return Problem(
        network.graph,
        spec["arms"],
        edge_types=types,
        edge_weights=weights,
        allowed=allowed,
        **settings,
    )


def knows_allowed(base: Spec, network: Network, policy: Spec) -> bool:
    """Whether the problem itself holds the allowed arms, so that the policy chooses among them.

    So it is beyond the paper's problem. There the policy chooses as in the paper, and agents left with
    a forbidden arm are repaired.
    """
    links = (network.edge_types, network.edge_weights, base.get("feedback"), base.get("allowed"))
    return policies.classes()[policy["kind"]].plays_any_problem and any(
        each is not None for each in links
    )


def played(
    base: Spec, network: Network, policy: Spec, allowed: NDArray[np.bool_] | None
) -> Problem:
    """The problem that ``policy`` plays, with the arms that are allowed now if it is to know them."""
    within = allowed if knows_allowed(base, network, policy) else None
    return problem_from(base, network, within)


def replaced(
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
        rule = f"still number {old.types} types, of which the record is"
        raise checks.input_error("edge_types", rule, f"{links.types}")
    return problem_from(base, Network.of(links))


def _own_types_stay(old: Problem, graph: Graph) -> bool:
    """Whether agent i's own matrix is agent i's on ``graph`` too."""
    own = np.array_equal(old.edge_types, old.graph.sources)
    return own and list(graph.labels[: old.n]) == list(old.graph.labels)
