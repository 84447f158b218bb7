"""What callers give, as JSON has it: problems, rewards, allocations, names."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbb._support import checks
from gbb.controller.commands.rewards import open_rewards
from gbb.controller.state.context import name_row, read_row
from gbb.graph import Graph
from gbb.problem import Problem

ENDS = ("source", "target")


def plain(value: Any) -> Any:
    """A value with lists, numbers and text in the place of what JSON has not."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(each) for each in value]
    if isinstance(value, Set):
        return sorted(map(plain, value), key=str)
    if isinstance(value, Path):
        return str(value)
    return value


def plain_rewards(given: Any) -> Any:
    """Rewards as rows with their names, or as numbers in order."""
    rewards = open_rewards(given)
    if hasattr(rewards, "columns"):
        names = [name for name in (*ENDS, "agent", "reward") if name in rewards.columns]
        if "reward" not in names:
            rule = "have the columns source, target and reward, or agent and reward"
            got = ", ".join(map(str, rewards.columns[:8])) or "none"
            raise checks.input_error("rewards", rule, got)
        *whose, values = (rewards[name].tolist() for name in names)
        values = [None if checks.is_missing(value) else value for value in values]
        rows = [list(row) for row in zip(*whose, values, strict=True)]
        return _finite([row[0] if len(names) == 1 else row for row in rows])
    if isinstance(rewards, Mapping):
        ends = [[*key] if isinstance(key, tuple) else [key] for key in rewards]
        rows = [[*end, value] for end, value in zip(ends, rewards.values(), strict=True)]
        return _finite(plain(rows))
    checks.unmasked("rewards", rewards)
    if isinstance(rewards, np.ndarray) and rewards.dtype.kind in "fiu" and rewards.ndim == 1:
        return _pack(rewards)
    return _finite(plain(rewards))


def _pack(rewards: NDArray[Any]) -> Any:
    """Numbers in order as their bytes, which takes a tenth of the time that text does."""
    checks.finite("rewards", rewards.astype(np.float64, copy=False))
    return {"float64": base64.b64encode(rewards.astype("<f8").tobytes()).decode()}


def _finite(data: Any) -> Any:
    """The rewards, of which JSON must be able to hold every one."""
    rows = data if isinstance(data, list) else [data]
    for row in rows:
        value = row[-1] if isinstance(row, list) and row else row
        if isinstance(value, float) and not math.isfinite(value):
            whose = f" for {tuple(row[:-1])}" if isinstance(row, list) else ""
            rule = "hold finite numbers only"
            raise checks.input_error("rewards", rule, f"{value}{whose}")
    return data


def plain_context(problem: Problem, context: Any) -> Any:
    """A context as a person writes it, checked; None where there are none."""
    return plain(name_row(problem, read_row(problem, context)))


def plain_graph(graph: Graph, links: Mapping[str, Any]) -> dict[str, Any]:
    """A graph as rows of links, both directions, with what is known of each."""
    labels = graph.labels
    return {
        "edges": [[labels[i], labels[j]] for i, j in graph.edges.tolist()],
        "agents": graph.n,
        "names": None if graph.names is None else list(graph.names),
        "positions": plain(graph.positions),
        "types": plain(links.get("edge_types")),
        "weights": plain(links.get("edge_weights")),
        "features": plain(links.get("features")),
    }


def plain_problem(problem: Problem) -> dict[str, Any]:
    """A problem as the service creates one from."""
    if not isinstance(problem, Problem):
        raise checks.input_error("problem", "be a gbb.Problem", type(problem).__name__)
    if problem.parts is not None:
        rule = "be no network in shards: its controller stands beside its shards"
        raise checks.input_error("problem", rule, "one", "Create it with gbb.Controller.")
    settings = problem.settings()
    found = {
        **plain_graph(problem.graph, settings),
        "arms": problem.arms.tolist(),
        "arm_names": None if problem.arm_names is None else list(problem.arm_names),
        "sigma": settings["sigma"],
        "S": settings["S"],
        "L": problem.L,
        "feedback": problem.feedback,
        "allowed": None if problem.allowed.all() else problem.allowed.tolist(),
        "contexts": None if problem.contexts is None else problem.contexts.to_dict(),
    }
    return {name: value for name, value in found.items() if value is not None}


def plain_cut(cut: Any) -> str | None:
    """The method of a cut; a cut itself is made where the controller is."""
    if cut is None or isinstance(cut, str):
        return cut
    rule = "be the name of a method, as the service makes the cut itself"
    raise checks.input_error("cut", rule, type(cut).__name__, "Write cut='best'.")


def policy_name(policy: Any) -> str:
    """The name of a policy; the policy itself is made where the controller is."""
    if isinstance(policy, str):
        return policy
    rule = "be the name of a policy, as the service makes the policy itself"
    cure = "Pass its settings beside its name."
    raise checks.input_error("policy", rule, type(policy).__name__, cure)
