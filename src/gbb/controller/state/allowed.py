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


def changed(
    problem: Problem, allowed: Allowed | None, kind: str, content: Mapping[str, Any]
) -> Allowed | None:
    """The table after a ``forbid``, ``pin`` or ``allow``; None when all is allowed.

    ``content`` names ``agents`` and ``arms``; None stands for all of them.
    """
    table = np.ones((problem.n, problem.K), bool) if allowed is None else allowed.copy()
    agents = _positions(content["agents"], problem.graph.index, problem.n)
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


def carried(old: Graph, allowed: Allowed | None, new: Graph, K: int) -> Allowed | None:
    """The table on another graph: agents keep their rows by name, new ones may play all arms."""
    if allowed is None:
        return None
    places = {label: i for i, label in enumerate(old.labels)}
    rows = np.array([places.get(label, -1) for label in new.labels])
    table = np.ones((new.n, K), bool)
    table[rows >= 0] = allowed[rows[rows >= 0]]
    return None if table.all() else table


def repaired(
    graph: Graph, W: FloatArray, allocation: IntArray, allowed: Allowed
) -> tuple[IntArray, int]:
    """The allocation with every forbidden arm replaced, and how many agents had one.

    Only those agents move: each takes the allowed arm that is best for the pair table W against its
    neighbours' arms, in turn until none gains.
    """
    broken = ~allowed[np.arange(graph.n), allocation]
    if not broken.any():
        return allocation, 0
    choices = allowed & broken[:, None]
    choices[~broken, allocation[~broken]] = True
    arms = np.array(allocation)
    pays = ArmSearch(pairs_of(graph, W, choices), arms).pays
    arms[broken] = np.where(choices, pays, -np.inf)[broken].argmax(axis=1)
    ArmSearch(pairs_of(graph, W, choices), arms).ascend()
    return arms, int(broken.sum())


def pairs_of(graph: Graph, W: FloatArray, allowed: Allowed | None) -> PairProblem:
    """The pair problem in which every link pays by the table W."""
    all_arms = np.ones((graph.n, len(W)), bool) if allowed is None else allowed
    return PairProblem(graph, W[None], np.zeros(graph.m, dtype=np.int32), all_arms)
