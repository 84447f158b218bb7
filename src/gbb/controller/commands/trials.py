"""Trials: asked, told, closed without rewards, found again by number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, InputError
from gbb.controller.commands.rewards import encode_report, warn_out_of_bounds
from gbb.controller.log.codec import pack_allocation, pack_rng, unpack_rng
from gbb.controller.log.events import Event, damaged
from gbb.controller.log.log import Transaction
from gbb.controller.messages import Trial
from gbb.controller.queries.knowledge import Knowledge
from gbb.controller.state.allowed import repair
from gbb.controller.state.context import (
    name_row,
    problem_in,
    read_row,
    row_of,
    same_rows,
    say_row,
)
from gbb.controller.state.fold import read_arms
from gbb.controller.state.replay import problem_at
from gbb.controller.state.state import State

CLOSING = ("tell", "tables", "fail", "abandon", "timeout")
"""Kinds of events that close a trial."""


Tell = Callable[[Transaction, int, Any], None]


def ask(
    transaction: Transaction, contexts: Sequence[Any], timeout: float | None = None
) -> list[Trial]:
    """Choose a trial for each context, none of them with the others' rewards."""
    first = transaction.state.trials + 1
    for context in contexts:
        row = read_row(transaction.state.setup.problem, context)
        append_ask(transaction, timeout, row)
    return [make_trial(transaction.state, first + place) for place in range(len(contexts))]


def append_ask(
    transaction: Transaction,
    timeout: float | None = None,
    context: FloatArray | None = None,
    after: int | None = None,
) -> Event:
    """Append the ask that follows from the state and the round's context, and nothing else.

    It may time out after some seconds. The context is a row of numbers. It comes ``after`` the trial
    that was told with it.
    """
    state = transaction.state
    setup, allowed = state.setup, state.setup.allowed
    problem, rng = problem_in(setup.problem, context), unpack_rng(setup.seed, state.rng)
    choice = setup.policy.on(problem).select(state.memory, rng)
    arms, moved = choice.allocation, 0
    # A policy for the paper's problem alone does not know which arms are allowed.
    if allowed is not None and not allowed[np.arange(problem.n), arms].all():
        arms, moved = repair(problem, Knowledge(state, context).optimistic, arms, allowed)
    content: dict[str, object] = {}
    if choice.couple is not None and not moved:
        content["couple"] = list(choice.couple)
    if moved:
        content["repaired"] = moved
    if timeout is not None:
        content["timeout"] = timeout
    content |= say_row(context)
    data = pack_allocation(problem.allocation(arms), problem.K)
    if choice.substituted:
        content["substituted"] = True
    if choice.target is not None:
        content["heading"] = True
        data += pack_allocation(choice.target, problem.K)
    # Where the generator stands now: a replay reads it and never calls `select`.
    data += pack_rng(rng)
    if after is not None:
        content["after"] = after
    return transaction.append("ask", content, trial=state.trials + 1, data=data)


def tell(transaction: Transaction, trial: int, rewards: Any) -> None:
    """Close ``trial`` with its rewards; the same again changes nothing."""
    state, ask = transaction.state, transaction.state.open.get(trial)
    if ask is not None:
        problem = state.problem_of(ask)
        content, data, seen = encode_report(problem, rewards)
        transaction.append("tell", content, trial=trial, data=data)
        warn_out_of_bounds(transaction, problem, seen, trial)
        return
    asked, closing = find_closing(transaction, trial)
    _check_closed_by("tell", trial, closing)
    content, data, _ = encode_report(problem_at(transaction, asked.seq), rewards)
    if (content, data) != (closing.content, closing.data):
        raise InputError(
            f"Trial {trial} was already told other `rewards`. Nothing was changed; call retract() "
            "first to correct what was told."
        )


def close(transaction: Transaction, trial: int, kind: str, reason: str) -> None:
    """Close ``trial`` without rewards; the same again changes nothing."""
    if (ask := transaction.state.open.get(trial)) is not None:
        if kind == "abandon" and ask.shards:
            cure = "Call fail() to close it with what came."
            got = f"{len(ask.shards)} shards of trial {trial}"
            raise checks.input_error("trial", "have no tables told", got, cure)
        transaction.append(kind, {"reason": reason} if reason else {}, trial=trial)
        return
    _check_closed_by(kind, trial, find_closing(transaction, trial)[1])


def next_trial(
    transaction: Transaction, trial: int, rewards: Any, context: Any, tell: Tell
) -> Trial:
    """``tell`` a trial and return the one that follows it; the same again is the same trial.

    The ask says after which trial it came: told again, it is known what was asked then.
    """
    before, row = len(transaction.new), read_row(transaction.state.setup.problem, context)
    tell(transaction, trial, rewards)
    following = _find_following(transaction, trial) if len(transaction.new) == before else None
    if following is None:
        append_ask(transaction, context=row, after=trial)
        return make_trial(transaction.state, transaction.state.trials)
    number = following.trial or 0
    if number not in transaction.state.open:
        got = f"trial {trial}, which was told before, and trial {number}, which followed, is closed"
        raise checks.input_error("trial", "be open", got, "Ask for a trial instead.")
    if not same_rows(row_of(following), row):
        rule = f"be that of trial {number}, which followed when trial {trial} was told before"
        raise checks.input_error("context", rule, "another", "Ask for a trial instead.")
    return make_trial(transaction.state, number)


def _find_following(transaction: Transaction, trial: int) -> Event | None:
    """Return the ask that was made when ``trial`` was told; None if that was told alone."""
    told = transaction.study.events_of(trial)[-1]
    later = transaction.study.events(after=told.seq, seal=told.seal)
    asks = (event for event in later if event.kind == "ask")
    return next((ask for ask in asks if ask.content.get("after") == trial), None)


def expire(transaction: Transaction, now: float) -> None:
    """Close the trials whose time is up: played, as far as anybody knows, and never heard of.

    Those of this very transaction are left alone: whoever asks for one must get to see it.
    """
    for trial, ask in sorted(transaction.state.open.items()):
        if ask.deadline is not None and ask.deadline <= now and trial in transaction.before.open:
            after = round(ask.deadline - ask.since, 6)
            reason = f"timed out after {after:g} s"
            transaction.append("timeout", {"reason": reason}, trial=trial)


def make_trial(state: State, id: int) -> Trial:
    """Return an open trial as its asker sees it."""
    ask = state.open[id]
    problem = state.problem_on(ask.graph)
    context = name_row(problem, ask.context)
    return Trial(id, ask.round, ask.allocation, problem.graph, problem.arm_names, context)


def find_open(state: State, trial: Trial | int) -> int:
    """Return the number of a trial that must be open."""
    number = trial.id if isinstance(trial, Trial) else trial
    if number not in state.open:
        cure = f"Open are: {sorted(state.open) or 'none'}."
        raise checks.input_error("trial", "be open", number, cure)
    return number


def find_trial(transaction: Transaction, trial: Trial | int) -> int:
    """Return the number of a trial, which must be of this controller."""
    given = trial.id if isinstance(trial, Trial) else trial
    number = checks.integer("trial", given, cure="Give the trial or its number.")
    count = transaction.state.trials
    if not 1 <= number <= count:
        rule = f"be one of the {count} trials asked so far" if count else "be a trial asked before"
        raise checks.input_error("trial", rule, f"unknown trial {number}")
    if isinstance(trial, Trial):
        _check_own(transaction, trial)
    return number


def find_closing(transaction: Transaction, trial: int) -> tuple[Event, Event]:
    """Return the events that asked for and closed ``trial``."""
    events = transaction.study.events_of(trial)
    ends = [event for event in events if event.kind in (*CLOSING, "retract")]
    if not ends or events[0].kind != "ask" or ends[-1].kind == "retract":
        raise damaged(f"the events of trial {trial} are not all there")
    return events[0], ends[-1]


def _check_closed_by(kind: str, trial: int, closing: Event) -> None:
    """Refuse to close a trial otherwise than it was closed."""
    if closing.kind == "timeout" and kind != "fail":  # which says the same
        got = f"trial {trial}, which {closing.content['reason']}"
        raise checks.input_error("trial", "be open", got, "Retract it first, then tell it.")
    if closing.kind not in (kind, "timeout"):
        by = "tell_tables" if closing.kind == "tables" else closing.kind
        got = f"trial {trial}, which was closed by {by}()"
        raise checks.input_error("trial", "be open", got)


def _check_own(transaction: Transaction, trial: Trial) -> None:
    """Refuse a trial of another controller: its rewards would be learnt as those of other arms."""
    ask = transaction.state.open.get(trial.id)
    if ask is not None:
        problem, played = transaction.state.problem_on(ask.graph), ask.allocation
        row = ask.context
    else:
        asked, _ = find_closing(transaction, trial.id)
        problem = problem_at(transaction, asked.seq)
        played, row = read_arms(asked, problem), row_of(asked)
    graph, own = trial.graph, problem.graph
    same_agents = own is graph or (own.n == graph.n and own.labels == graph.labels)
    same_arms = same_agents and np.array_equal(played, trial.arms)
    if not same_arms or name_row(problem, row) != trial.context:
        what = "had another context" if same_arms else "played other arms"
        raise InputError(
            f"`trial` belongs to another controller: trial {trial.id} of this one {what}. "
            "Nothing was changed."
        )
