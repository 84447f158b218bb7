"""Closing trials, with rewards or without, and attaching rounds that no trial asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gbb._support import checks
from gbb._support.checks import InputError
from gbb.controller.log.codec import Observed, pack_rewards
from gbb.controller.log.log import Transaction
from gbb.controller.state.context import read_row
from gbb.controller.state.replay import problem_at
from gbb.controller.state.report import WORDS, limit_text, limits_of, names_of
from gbb.controller.verbs.attached import (
    Round,
    append_attach,
    are_same,
    read_attached,
    read_played,
)
from gbb.controller.verbs.rewards import read_rewards
from gbb.controller.verbs.trials import check_closed_by, find_closing
from gbb.problem import Problem

if TYPE_CHECKING:
    from gbb.controller.verbs.rewards import Rewards


def tell(turn: Transaction, trial: int, rewards: Rewards) -> None:
    """Close ``trial`` with its rewards; the same again changes nothing."""
    state, ask = turn.state, turn.state.open.get(trial)
    if ask is not None:
        problem = state.problem_of(ask)
        content, data, seen = _read_report(problem, rewards)
        turn.append("tell", content, trial=trial, data=data)
        warn_out_of_bounds(turn, problem, seen, trial)
        return
    asked, closing = find_closing(turn, trial)
    check_closed_by("tell", trial, closing)
    content, data, _ = _read_report(problem_at(turn, asked.seq), rewards)
    if (content, data) != (closing.content, closing.data):
        raise InputError(
            f"Trial {trial} was already told other `rewards`. Nothing was changed; call retract() "
            "first to correct what was told."
        )


def close(turn: Transaction, trial: int, kind: str, reason: str) -> None:
    """Close ``trial`` without rewards; the same again changes nothing."""
    if (ask := turn.state.open.get(trial)) is not None:
        if kind == "abandon" and ask.shards:
            cure = "Call fail() to close it with what came."
            got = f"{len(ask.shards)} shards of trial {trial}"
            raise checks.input_error("trial", "have no tables told", got, cure)
        turn.append(kind, {"reason": reason} if reason else {}, trial=trial)
        return
    check_closed_by(kind, trial, find_closing(turn, trial)[1])


def attach(
    turn: Transaction, allocation: Any, rewards: Rewards, key: str | None, context: Any = None
) -> None:
    """Learn from a round that was played elsewhere; the same again under its key changes nothing."""
    state = turn.state
    place = None if key is None else state.keys.get(key)
    problem = state.setup.problem if place is None else problem_at(turn, place)
    seen = read_rewards(problem, rewards)
    row = read_row(problem, context)
    round = Round(problem, read_played(problem, allocation, seen), seen, row)
    if place is None:
        append_attach(turn, round, key)
        warn_out_of_bounds(turn, round.own_problem, seen, None)
        return
    if not are_same(round, read_attached(problem, turn.study.event(place))):
        raise InputError(
            f"Another round was already attached under `key` {key!r}. Nothing was changed; give "
            "every round a key of its own."
        )


def _read_report(problem: Problem, rewards: Rewards) -> tuple[dict[str, Any], bytes, Observed]:
    """The content and the data of the event that tells rewards, and the rewards."""
    seen = read_rewards(problem, rewards)
    counted = WORDS[problem.feedback].counted
    content = {} if seen.positions is None else {counted: int(seen.positions.size)}
    return content, pack_rewards(seen, problem.observations), seen


def warn_out_of_bounds(
    turn: Transaction, problem: Problem, seen: Observed, trial: int | None
) -> None:
    """Keep a warning event about rewards far outside the declared bounds."""
    limits = limits_of(problem)
    limits = limits if seen.positions is None else limits[seen.positions]
    far = np.flatnonzero(np.abs(seen.values) > limits)
    if not far.size:
        return
    place, words = int(far[0]), WORDS[problem.feedback]
    position = np.array([place]) if seen.positions is None else seen.positions[[place]]
    (names,) = names_of(problem, position)
    value, limit = float(seen.values[place]), float(limits[place])
    text = (
        f"{far.size} of {seen.values.size} rewards lie outside +-{limit:g} "
        f"({limit_text(problem)}), first {value:g}{words.place.format(*names)}; they are kept."
    )
    whose = {words.warned: list(names) if len(names) > 1 else names[0]} if names else {}
    content = {"message": text, **whose, "reward": value, "limit": limit}
    turn.append("warning", content, trial=trial)
    turn.warnings.append(text)
