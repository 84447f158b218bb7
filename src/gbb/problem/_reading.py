"""What is handed to a problem, checked: allocations, by number or by name, and rewards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.graph import lookup
from gbb.graph.parts import Parts
from gbb.problem._limits import LARGEST

if TYPE_CHECKING:
    from gbb.problem._problem import Problem


def no_graph(given: object) -> checks.InputError:
    """The error for what is no :class:`gbb.Graph`, to be raised by the caller."""
    kind = type(given)
    got = f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}".removeprefix("builtins.")
    cure = "Make one by gbb.Graph.from_networkx, from_sparse, from_edges or read."
    return checks.input_error("graph", "be a gbb.Graph", got, cure)


def allocation(problem: Problem, arms: ArrayLike | Mapping[str, str]) -> IntArray:
    """One arm per agent, as :meth:`gbb.Problem.allocation` takes them."""
    if problem.parts is not None:
        return _of_parts(problem, arms, problem.parts)
    if isinstance(arms, Mapping):
        return _by_name(problem, arms)
    return checks.indices(
        "allocation",
        arms,
        length=problem.n,
        high=problem.K,
        meaning="one arm index per agent",
        cure=f"There are K = {problem.K} arms, counted from 0.",
    )


def _of_parts(problem: Problem, arms: ArrayLike | Mapping[str, str], parts: Parts) -> IntArray:
    if isinstance(arms, Mapping):
        arms = _by_name(problem, arms, parts)
    length = parts.k if np.shape(arms) == (parts.k,) else problem.n
    given = checks.indices(
        "allocation", arms, length=length, high=problem.K, meaning="one arm index per part"
    )
    played: IntArray = given[parts.of]
    if length == problem.n and not np.array_equal(played, given):
        raise checks.input_error("allocation", "have one arm for each part", given.tolist())
    return checks.frozen(played)


def _by_name(problem: Problem, arms: Mapping[str, str], parts: Parts | None = None) -> IntArray:
    result, graph = np.full(problem.n, -1, dtype=np.int64), problem.graph
    places = lookup.find_agents("allocation", graph, list(arms)).tolist()
    for place, arm in zip(places, arms.values(), strict=True):
        if result[place] >= 0:
            name = graph.label(place)
            raise checks.input_error("allocation", "name every agent once", f"{name!r} twice")
        result[place] = problem.arm(arm)
    if parts is not None:
        result = np.where(result < 0, result[parts.of], result)
    if (missing := np.flatnonzero(result < 0)).size:
        name = graph.label(int(missing[0]))
        raise checks.input_error(
            "allocation", "give every agent an arm", f"none for agent {name!r}"
        )
    return checks.frozen(result)


def rewards(problem: Problem, given: ArrayLike) -> FloatArray:
    """The numbers that a round reports, as :meth:`gbb.Problem.rewards` takes them."""
    problem.check_agents("rewards")
    try:
        length = np.shape(given)
    except ValueError:  # a ragged list, which the check below names
        length = ()
    cure = ""
    if problem.feedback == "edge" and length == (problem.m // 2,):
        cure = "Did you pass undirected edges? feedback='link' takes one reward per link."
    if problem.feedback == "link" and length == (problem.m,):
        cure = "Did you pass directed edges? feedback='edge' takes one reward for each."
    each = {"edge": "one per directed edge", "link": "one per link"}
    each |= {"agent": "one per agent", "global": "one in all"}
    checked = checks.array(
        "rewards",
        given,
        shape=(problem.observations,),
        meaning=each[problem.feedback],
        cure=cure,
    )
    if (high := float(np.abs(checked).max())) > LARGEST:
        raise checks.input_error("rewards", f"hold numbers of at most {LARGEST:g}", high)
    return checked
