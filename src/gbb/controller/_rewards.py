"""Rewards as people have them: by name, in order or as a table; checked before anything else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks, csv_files
from gbb._support.checks import FloatArray, InputError, IntArray
from gbb.controller.storage.bytes import Observed
from gbb.graph import lookup
from gbb.problem import LARGEST, Problem

Rewards = ArrayLike | Mapping[Any, float] | pd.DataFrame | str | Path

KEYS = {"edge": ("source", "target"), "agent": ("agent",), "global": ()}
"""The columns of a table of rewards that say whose they are, by feedback; ``reward`` comes last."""

FAR = 8.0
"""A reward is far outside its bounds beyond ``L S`` plus this many sigma."""


def observed(problem: Problem, rewards: Rewards) -> Observed:
    """The rewards by edge or agent; refuses unknown ones, repetitions and what is not finite."""
    if isinstance(rewards, str | Path):
        rewards = read_rewards(Path(rewards))
    if isinstance(rewards, pd.DataFrame):
        return _table(problem, rewards)
    if isinstance(rewards, Mapping):
        return _mapping(problem, rewards)
    if problem.feedback == "global" and np.ndim(rewards) == 0:
        rewards = np.atleast_1d(rewards)
    values = problem.rewards(rewards)
    return Observed(None, values + 0.0)  # turns -0.0 into 0.0


def read_rewards(path: Path) -> pd.DataFrame:
    """A table of rewards from a CSV file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"Cannot read `rewards` {str(path)!r}: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"Cannot read `rewards` {str(path)!r}: it is no CSV ({error}).") from None
    return csv_files.table("rewards", str(path), text)


def far_outside(problem: Problem, observed: Observed) -> IntArray:
    """Places among ``observed.values`` that lie far outside what the problem declares."""
    limits = limits_of(problem)
    limits = limits if observed.positions is None else limits[observed.positions]
    return np.flatnonzero(np.abs(observed.values) > limits)


def limits_of(problem: Problem) -> FloatArray:
    """How far from zero each number of a round may lie before it is flagged.

    ``sum |w| L S + 8 sigma`` over the edges that it sums; ``L S + 8 sigma`` for each edge in the paper.
    """
    reach = np.abs(problem.edge_weights)
    if problem.feedback == "agent":
        reach = np.bincount(problem.graph.sources, weights=reach, minlength=problem.n)
    elif problem.feedback == "global":
        reach = reach.sum(keepdims=True)
    limits: FloatArray = reach * (problem.L * problem.S) + FAR * problem.sigma
    return limits


def limit_text(problem: Problem) -> str:
    """The formula of :func:`limits_of`, as messages say it."""
    simple = problem.feedback == "edge" and not problem.weighted
    return f"{'L S' if simple else 'sum |w| L S'} + {FAR:g} sigma"


def _mapping(problem: Problem, rewards: Mapping[Any, Any]) -> Observed:
    values = list(rewards.values())
    if problem.feedback == "global":
        raise checks.input_error("rewards", "be one number", "a mapping")
    if problem.feedback == "agent":
        for agent in rewards:
            if isinstance(agent, tuple):
                cure = "Write {agent: reward}."
                raise checks.input_error("rewards", "have agents as keys", repr(agent), cure)
        return _ordered(problem, [list(rewards)], values)
    for link in rewards:
        if not isinstance(link, tuple) or len(link) != 2:
            cure = "Write {(agent, agent): reward}."
            raise checks.input_error("rewards", "have pairs of agents as keys", repr(link), cure)
    return _ordered(problem, [[link[end] for link in rewards] for end in (0, 1)], values)


def _table(problem: Problem, table: pd.DataFrame) -> Observed:
    wanted = (*KEYS[problem.feedback], "reward")
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        rule = (
            f"have the columns {', '.join(wanted)}" if len(wanted) > 1 else "have a column reward"
        )
        raise checks.input_error("rewards", rule, ", ".join(map(str, table.columns)) or "none")
    *whose, values = (table[name].tolist() for name in wanted)
    return _ordered(problem, whose, values)


def _ordered(problem: Problem, whose: list[list[Any]], values: list[Any]) -> Observed:
    """The rewards in edge or agent order; ``whose`` has their links' two ends, or their agents."""
    if not values:
        cure = "Call fail() or abandon() for a trial that gave nothing."
        raise checks.input_error("rewards", "hold at least one reward", "none", cure)
    if problem.feedback == "global" and len(values) != 1:
        raise checks.input_error("rewards", "hold one number in all", f"{len(values)} rows")
    places = np.zeros(1, dtype=np.int64)
    if problem.feedback == "edge":
        places = lookup.find_edges("rewards", problem.graph, *whose)
    elif problem.feedback == "agent":
        places = lookup.find_agents("rewards", problem.graph, whose[0])
        if (twice := lookup.find_repeat(places)) is not None:
            name = whose[0][twice[1]]
            raise checks.input_error("rewards", "name every agent once", f"{name!r} twice")
    numbers = _numbers(values, whose)
    order = np.argsort(places, kind="stable")
    full = len(places) == problem.observations
    return Observed(None if full else places[order], numbers[order])


def _numbers(values: list[Any], whose: list[list[Any]]) -> FloatArray:
    try:
        if any(isinstance(value, bool | np.bool_) for value in values):
            raise TypeError  # numpy would take them for 0 and 1
        numbers: NDArray[np.float64] = np.array(values, dtype=np.float64) + 0.0
    except (TypeError, ValueError):
        numbers = np.array([_number(value) for value in values])
    bad = np.flatnonzero(~np.isfinite(numbers))
    huge = np.flatnonzero(np.abs(numbers) > LARGEST)
    for rows, rule in (
        (bad, "hold finite numbers only"),
        (huge, f"hold numbers of at most {LARGEST:g}"),
    ):
        if rows.size:
            row = int(rows[0])
            names = tuple(each[row] for each in whose)
            place = f" for {names if len(names) > 1 else names[0]!r}" if names else ""
            raise checks.input_error("rewards", rule, f"{values[row]!r}{place}")
    return numbers


def _number(value: Any) -> float:
    try:
        return float("nan") if isinstance(value, bool | np.bool_) else float(value)
    except (TypeError, ValueError):
        return float("nan")
