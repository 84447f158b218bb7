"""What is known of each link: its type, its weight, which arms its ends may play."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.graph import Graph
from gbb.graph._rows import Integers
from gbb.graph.entries import Entries

FEEDBACKS = ("edge", "link", "agent", "global")
"""What a round reports: a number per directed edge, per link (the sum of its two directions), per
agent (the sum over its edges), or one."""

LARGEST_WEIGHT = 1e50

MOST_TYPES = 1000
"""So many types may always be named; beyond that at most one for each directed edge."""


def named_by(graph: Graph, feedback: str) -> tuple[Integers, ...]:
    """The agents that name each number of a report: the two ends of an edge, one agent, or nobody.

    A link is named as its edge from the agent with the smaller number.
    """
    if feedback == "link":
        forward = _forward(graph)
        return graph.sources[forward], graph.indices[forward]
    agents: dict[str, tuple[Integers, ...]] = {
        "edge": (graph.sources, graph.indices),
        "agent": (np.arange(graph.n),),
        "global": (),
    }
    return agents[feedback]


def added_to(graph: Graph, feedback: str) -> IntArray:
    """Which number of a round's report each directed edge adds to (m).

    Links are counted in the order of their edges from the agent with the smaller number.
    """
    if feedback == "link":
        forward = _forward(graph)
        number = np.cumsum(forward) - 1
        return np.where(forward, number, number[graph.reverse]).astype(np.int64)
    each = {"edge": np.arange(graph.m), "agent": graph.sources}
    return np.array(each.get(feedback, np.zeros(graph.m)), dtype=np.int64)


def _forward(graph: Graph) -> NDArray[np.bool_]:
    """Which edges lead from the smaller number to the larger: one for each link."""
    forward: NDArray[np.bool_] = graph.sources < graph.indices
    return forward


def most_types(graph: Graph) -> int:
    """How many types there may be."""
    return max(graph.m, MOST_TYPES)


def edge_types(graph: Graph, given: ArrayLike | None) -> IntArray | None:
    """The type of each directed edge; None when there is one type only.

    ``"source"`` gives every agent a matrix of its own: edge (i, j) has type i.
    """
    if given is None:
        return None
    if isinstance(given, str):
        checks.choice("edge_types", given, ["source"])
        return _several(np.array(graph.sources, dtype=np.int64))
    checks.unmasked("edge_types", given)
    raw = np.asarray(given)
    high = graph.m if raw.size == 0 or raw.dtype.kind not in "iu" else max(1, int(raw.max()) + 1)
    if high > (most := most_types(graph)):
        rule = f"number the types from 0 on, at most {most - 1}"
        raise checks.input_error("edge_types", rule, high - 1)
    meaning = "one type per directed edge"
    return _several(checks.indices("edge_types", raw, length=graph.m, high=high, meaning=meaning))


def _several(types: IntArray) -> IntArray | None:
    return checks.frozen(types) if types.any() else None


def edge_weights(graph: Graph, given: ArrayLike | None) -> FloatArray | None:
    """The weight of each directed edge, 0 for one that pays nothing; None when all are 1."""
    if given is None:
        return None
    weights = checks.array(
        "edge_weights", given, shape=(graph.m,), meaning="one weight per directed edge"
    )
    largest = float(np.abs(weights).max())
    if not 1.0 / LARGEST_WEIGHT <= largest <= LARGEST_WEIGHT:
        least = f"the largest at least {1.0 / LARGEST_WEIGHT:g}"
        rule = f"hold weights that are not all zero, {least}, none beyond {LARGEST_WEIGHT:g}"
        raise checks.input_error("edge_weights", rule, largest)
    return None if (weights == 1.0).all() else weights


def edge_features(graph: Graph, given: ArrayLike) -> Entries:
    """The features of the edges, m x P, as entries; one for each edge if none has two."""
    values = checks.array("features", given, ndim=2, meaning="directed edges x features")
    m, P = values.shape
    if m != graph.m or P == 0 or not values.any(axis=0).all():
        rule = f"have a row for each of the {graph.m} edges, and no column of zeros alone"
        raise checks.input_error("features", rule, f"shape {values.shape}")
    largest = float(np.abs(values).max())
    if largest > LARGEST_WEIGHT:
        raise checks.input_error("features", f"be at most {LARGEST_WEIGHT:g} in size", largest)
    return Entries.of_features(values)


def allowed(graph: Graph, K: int, given: ArrayLike | None) -> NDArray[np.bool_] | None:
    """Which arms each agent may play (n x K); None when all may play all."""
    if given is None:
        return None
    checks.unmasked("allowed", given)
    mask, shape = np.array(given), (graph.n, K)
    if mask.shape != shape or mask.dtype != np.bool_:
        got = f"{mask.dtype} of shape {mask.shape}"
        raise checks.input_error("allowed", f"be a boolean array of shape {shape}, n x K", got)
    if not mask.any(axis=1).all():
        agent = graph.label(int(np.argmin(mask.any(axis=1))))
        raise checks.input_error("allowed", "leave every agent an arm", f"none for agent {agent!r}")
    return None if mask.all() else checks.frozen(mask)
