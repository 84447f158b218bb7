"""Trials by number: which are known, which event closed one, and whose it is."""

from __future__ import annotations

import numpy as np

from gbb._support import checks
from gbb._support.checks import InputError
from gbb.controller.log.events import Event, damaged
from gbb.controller.log.log import Transaction
from gbb.controller.messages import Trial
from gbb.controller.state.context import name_row, row_of
from gbb.controller.state.fold import read_arms
from gbb.controller.state.replay import problem_at
from gbb.controller.state.state import State

CLOSING = ("tell", "tables", "fail", "abandon", "timeout")


def make_trial(state: State, id: int) -> Trial:
    """An open trial as its asker sees it."""
    ask = state.open[id]
    problem = state.problem_on(ask.graph)
    context = name_row(problem, ask.context)
    return Trial(id, ask.round, ask.allocation, problem.graph, problem.arm_names, context)


def find_open(state: State, trial: Trial | int) -> int:
    """The number of a trial that must be open."""
    number = trial.id if isinstance(trial, Trial) else trial
    if number not in state.open:
        cure = f"Open are: {sorted(state.open) or 'none'}."
        raise checks.input_error("trial", "be open", number, cure)
    return number


def find_trial(turn: Transaction, trial: Trial | int) -> int:
    """The number of a trial, which must be of this controller."""
    given = trial.id if isinstance(trial, Trial) else trial
    number = checks.integer("trial", given, cure="Give the trial or its number.")
    most = turn.state.trials
    if not 1 <= number <= most:
        rule = f"be one of the {most} trials asked so far" if most else "be a trial asked before"
        raise checks.input_error("trial", rule, f"unknown trial {number}")
    if isinstance(trial, Trial):
        _check_own(turn, trial)
    return number


def find_closing(turn: Transaction, trial: int) -> tuple[Event, Event]:
    """The events that asked for and closed ``trial``."""
    events = turn.study.events_of(trial)
    ends = [event for event in events if event.kind in (*CLOSING, "retract")]
    if not ends or events[0].kind != "ask" or ends[-1].kind == "retract":
        raise damaged(f"the events of trial {trial} are not all there")
    return events[0], ends[-1]


def check_closed_by(kind: str, trial: int, closing: Event) -> None:
    """Refuse to close a trial otherwise than it was closed."""
    if closing.kind == "timeout" and kind != "fail":  # which says the same
        got = f"trial {trial}, which {closing.content['reason']}"
        raise checks.input_error("trial", "be open", got, "Retract it first, then tell it.")
    if closing.kind not in (kind, "timeout"):
        by = "tell_tables" if closing.kind == "tables" else closing.kind
        got = f"trial {trial}, which was closed by {by}()"
        raise checks.input_error("trial", "be open", got)


def _check_own(turn: Transaction, trial: Trial) -> None:
    """Refuse a trial of another controller: its rewards would be learnt as those of other arms."""
    ask = turn.state.open.get(trial.id)
    if ask is not None:
        problem, played, row = turn.state.problem_on(ask.graph), ask.allocation, ask.context
    else:
        asked, _ = find_closing(turn, trial.id)
        problem = problem_at(turn, asked.seq)
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
