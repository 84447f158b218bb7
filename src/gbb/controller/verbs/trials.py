"""Trials by number: which are known, which event closed one, and whose it is."""

from __future__ import annotations

import numpy as np

from gbb._support import checks
from gbb._support.checks import InputError
from gbb.controller.answers.answers import Trial
from gbb.controller.state.log import Turn
from gbb.controller.state.state import State
from gbb.controller.storage.bytes import unpack_allocation
from gbb.controller.storage.events import Event

CLOSING = ("tell", "fail", "abandon")


def make_trial(state: State, id: int) -> Trial:
    """An open trial as its asker sees it."""
    ask = state.open[id]
    graph, names = state.networks[ask.graph].graph, state.setup.problem.arm_names
    return Trial(id, ask.round, ask.allocation, graph, names)


def find_trial(turn: Turn, trial: Trial | int) -> int:
    """The number of a trial, which must be of this controller."""
    if not isinstance(trial, Trial):
        return checks.integer("trial", trial, cure="Give the trial or its number.")
    _check_own(turn, trial)
    return trial.id


def find_closing(turn: Turn, trial: int) -> tuple[Event, Event]:
    """The events that asked for and closed ``trial``."""
    check_asked(turn, trial)
    events = turn.study.events_of(trial)
    closing = next(event for event in reversed(events) if event.kind in CLOSING)
    return next(event for event in events if event.kind == "ask"), closing


def check_asked(turn: Turn, trial: int) -> None:
    """Refuse the number of a trial that was never asked."""
    if not 1 <= trial <= turn.state.trials:
        most = turn.state.trials
        rule = f"be one of the {most} trials asked so far" if most else "be a trial asked before"
        raise checks.input_error("trial", rule, f"unknown trial {trial}")


def check_closed_by(kind: str, trial: int, closing: Event) -> None:
    """Refuse to close a trial otherwise than it was closed."""
    if closing.kind != kind:
        got = f"trial {trial}, which was closed by {closing.kind}()"
        raise checks.input_error("trial", "be open", got)


def _check_own(turn: Turn, trial: Trial) -> None:
    """Refuse a trial of another controller: its rewards would be learnt as those of other arms."""
    check_asked(turn, trial.id)
    ask = turn.state.open.get(trial.id)
    if ask is not None:
        own, played = turn.state.networks[ask.graph].graph, ask.allocation
    else:
        asked = next(event for event in turn.study.events_of(trial.id) if event.kind == "ask")
        own = turn.network_at(asked.seq).graph
        played = unpack_allocation(asked.data, own.n, turn.state.setup.problem.K)
    graph = trial.graph
    same_agents = own is graph or (own.n == graph.n and own.labels == graph.labels)
    if not same_agents or not np.array_equal(played, trial.arms):
        raise InputError(
            f"`trial` belongs to another controller: trial {trial.id} of this one played other arms. "
            "Nothing was changed."
        )
