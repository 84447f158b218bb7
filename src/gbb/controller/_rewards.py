"""Rewards as people have them: by link, by edge order or as a table; checked before anything else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from gbb import _checks
from gbb._checks import FloatArray, InputError, IntArray
from gbb.controller._bytes import Observed
from gbb.graph import Graph
from gbb.problem import LARGEST, Problem

Rewards = ArrayLike | Mapping[tuple[Any, Any], float] | pd.DataFrame | str | Path

COLUMNS = ("source", "target", "reward")
"""The columns of a table of rewards: a row per observed directed edge."""

FAR = 8.0
"""A reward is far outside its bounds beyond ``L S`` plus this many sigma."""


def observed(problem: Problem, rewards: Rewards) -> Observed:
    """The rewards by edge; refuses unknown links, numbers that are not finite, and repetitions."""
    if isinstance(rewards, str | Path):
        rewards = read_rewards(Path(rewards))
    if isinstance(rewards, pd.DataFrame):
        return _table(problem, rewards)
    if isinstance(rewards, Mapping):
        return _mapping(problem, rewards)
    values = problem.rewards(rewards)
    return Observed(None, values + 0.0)  # turns -0.0 into 0.0


def read_rewards(path: Path) -> pd.DataFrame:
    """A table of rewards from a CSV file with the columns source, target and reward."""
    try:
        table = pd.read_csv(path, dtype=str, encoding="utf-8-sig", keep_default_na=False)
    except OSError as error:
        raise InputError(f"Cannot read `rewards` {str(path)!r}: {error.strerror}.") from None
    except (ValueError, pd.errors.ParserError) as error:
        reason = str(error).strip().split("\n")[0]
        raise InputError(f"Cannot read `rewards` {str(path)!r}: it is no CSV ({reason}).") from None
    return table.rename(columns=lambda name: str(name).strip())


def far_outside(problem: Problem, observed: Observed) -> IntArray:
    """Places among ``observed.values`` that lie far outside what the problem declares."""
    return np.flatnonzero(np.abs(observed.values) > limit_of(problem))


def limit_of(problem: Problem) -> float:
    """How far from zero a reward may lie before it is flagged."""
    return problem.L * problem.S + FAR * problem.sigma


def _mapping(problem: Problem, rewards: Mapping[Any, Any]) -> Observed:
    for link in rewards:
        if not isinstance(link, tuple) or len(link) != 2:
            cure = "Write {(agent, agent): reward}."
            raise _checks.fail("rewards", "have pairs of agents as keys", repr(link), cure)
    sources = [link[0] for link in rewards]
    targets = [link[1] for link in rewards]
    return _by_link(problem.graph, sources, targets, list(rewards.values()))


def _table(problem: Problem, table: pd.DataFrame) -> Observed:
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        rule = f"have the columns {', '.join(COLUMNS)}"
        raise _checks.fail("rewards", rule, ", ".join(map(str, table.columns)) or "none")
    columns = [table[name].tolist() for name in COLUMNS]
    return _by_link(problem.graph, *columns)


def _by_link(graph: Graph, sources: list[Any], targets: list[Any], values: list[Any]) -> Observed:
    if not values:
        cure = "Call fail() or abandon() for a trial that gave nothing."
        raise _checks.fail("rewards", "hold at least one reward", "none", cure)
    i, j = _agents(graph, sources), _agents(graph, targets)
    # Edges are sorted by source, then target: their keys rise.
    keys = graph.sources.astype(np.int64) * graph.n + graph.indices
    wanted = i * graph.n + j
    places = np.searchsorted(keys, wanted)
    known = keys[np.minimum(places, graph.m - 1)] == wanted
    if not known.all():
        row = int(np.argmin(known))
        pair = f"({sources[row]!r}, {targets[row]!r})"
        raise _checks.fail("rewards", "name links of the graph", f"no link {pair}")
    numbers = _numbers(values, sources, targets)
    order = np.argsort(places, kind="stable")
    places = places[order]
    twice = np.flatnonzero(places[1:] == places[:-1])
    if twice.size:
        row = int(order[twice[0] + 1])
        pair = f"({sources[row]!r}, {targets[row]!r})"
        raise _checks.fail("rewards", "name every link once", f"{pair} twice")
    full = len(places) == graph.m
    return Observed(None if full else places, numbers[order])


def _agents(graph: Graph, names: list[Any]) -> IntArray:
    places: dict[Any, int] = {}
    for name in names:
        if name not in places:
            plain = name.item() if isinstance(name, np.generic) else name
            places[name] = graph.index(plain.strip() if isinstance(plain, str) else plain)
    return np.array([places[name] for name in names], dtype=np.int64)


def _numbers(values: list[Any], sources: list[Any], targets: list[Any]) -> FloatArray:
    try:
        numbers: NDArray[np.float64] = np.array(values, dtype=np.float64) + 0.0
    except (TypeError, ValueError):
        numbers = np.array([_number(value) for value in values])
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        row = int(bad[0])
        where = f"{values[row]!r} for ({sources[row]!r}, {targets[row]!r})"
        raise _checks.fail("rewards", "hold finite numbers only", where)
    huge = np.flatnonzero(np.abs(numbers) > LARGEST)
    if huge.size:
        row = int(huge[0])
        where = f"{values[row]!r} for ({sources[row]!r}, {targets[row]!r})"
        raise _checks.fail("rewards", f"hold numbers of at most {LARGEST:g}", where)
    return numbers


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")
