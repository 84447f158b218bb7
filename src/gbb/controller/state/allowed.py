"""Which agent may play which arm, and how an allocation that breaks it is repaired."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.graph import Graph
from gbb.pairwise import ArmSearch, PairProblem
from gbb.problem import Problem

Allowed = NDArray[np.bool_]


def change_allowed(
    problem: Problem, allowed: Allowed | None, kind: str, content: Mapping[str, Any]
) -> Allowed | None:
    """The table after a ``forbid``, ``pin`` or ``allow``; None when all is allowed.

    ``content`` names ``agents`` and ``arms``; None stands for all of them.
    """
    table = np.ones((problem.n, problem.K), bool) if allowed is None else allowed.copy()
    agents = _positions(content["agents"], problem.graph.index, problem.n)
    if problem.parts is not None:  # all that stand for a part
        agents = np.flatnonzero(np.isin(problem.parts, problem.parts[agents]))
    arms = _positions(content["arms"], problem.arm, problem.K)
    if kind == "pin":
        table[agents] = False
    table[np.ix_(agents, arms)] = kind != "forbid"
    stuck = np.flatnonzero(~table.any(axis=1))
    if stuck.size:
        name = problem.graph.label(int(stuck[0]))
        cure = "Allow it another arm first."
        rule = "leave every agent an arm"
        raise checks.input_error(kind, rule, f"none left for agent {name!r}", cure)
    return None if table.all() else table


def _positions(names: Any, index: Any, size: int) -> IntArray:
    if names is None:
        return np.arange(size)
    return np.array([index(name) for name in names], dtype=np.int64)


def move_allowed(old: Graph, allowed: Allowed | None, new: Graph, K: int) -> Allowed | None:
    """The table on another graph: agents keep their rows by name, new ones may play all arms."""
    if allowed is None:
        return None
    places = {label: i for i, label in enumerate(old.labels)}
    rows = np.array([places.get(label, -1) for label in new.labels])
    table = np.ones((new.n, K), bool)
    table[rows >= 0] = allowed[rows[rows >= 0]]
    return None if table.all() else table


def repair(
    problem: Problem, optimistic: FloatArray, allocation: IntArray, allowed: Allowed
) -> tuple[IntArray, int]:
    """The allocation with every forbidden arm replaced, and how many agents had one.

    Only those agents move: each takes the allowed arm that is best against its neighbours' arms, where
    an edge pays ``optimistic`` by its type and arms (types x K x K), in turn until none gains.
    """
    agents = np.arange(problem.n)
    broken = ~allowed[agents, allocation]
    if not broken.any():
        return allocation, 0
    choices = allowed & broken[:, None]
    choices[~broken, allocation[~broken]] = True
    pairs = PairProblem.directed(problem.graph, optimistic, problem.edges, choices)
    arms = np.array(allocation)
    values = ArmSearch(pairs, arms).arm_values
    arms[broken] = np.where(choices, values, -np.inf)[broken].argmax(axis=1)
    ArmSearch(pairs, arms).ascend()
    return arms, int(broken.sum())
