"""Telling a trial and asking for another in one turn."""

from __future__ import annotations

from typing import Any

from gbb._support import checks
from gbb.controller.log.events import Event
from gbb.controller.log.log import Transaction
from gbb.controller.state.context import read_row, row_of, same_rows
from gbb.controller.verbs.ask import append_ask
from gbb.controller.verbs.tables import tell_tables
from gbb.controller.verbs.tell import tell


def next_trial(turn: Transaction, trial: int, rewards: Any, context: Any = None) -> int:
    """The number of the trial that follows ``trial``, which is told; the same again is the same trial.

    The ask says after which trial it came: told again, it is known what was asked then.
    """
    before, row = len(turn.new), read_row(turn.state.setup.problem, context)
    if turn.state.setup.problem.parts is None:
        tell(turn, trial, rewards)
    else:
        tell_tables(turn, trial, rewards)
    following = _find_following(turn, trial) if len(turn.new) == before else None
    if following is None:
        append_ask(turn, context=row, after=trial)
        return turn.state.trials
    number = following.trial or 0
    if number not in turn.state.open:
        got = f"trial {trial}, which was told before, and trial {number}, which followed, is closed"
        raise checks.input_error("trial", "be open", got, "Ask for a trial instead.")
    if not same_rows(row_of(following), row):
        rule = f"be that of trial {number}, which followed when trial {trial} was told before"
        raise checks.input_error("context", rule, "another", "Ask for a trial instead.")
    return number


def _find_following(turn: Transaction, trial: int) -> Event | None:
    """The ask that was made when ``trial`` was told; None if that was told alone."""
    told = turn.study.events_of(trial)[-1]
    later = turn.study.events(after=told.seq, seal=told.seal)
    asks = (event for event in later if event.kind == "ask")
    return next((ask for ask in asks if ask.content.get("after") == trial), None)
