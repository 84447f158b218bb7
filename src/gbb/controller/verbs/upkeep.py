"""What every turn does in the end: trials whose time is up are closed, alerts begin and end."""

from __future__ import annotations

import time
from collections.abc import Mapping

from gbb.controller.log.log import Transaction
from gbb.controller.verbs.alerts import (
    judge_bounds,
    judge_caveat,
    judge_drift,
    judge_stale,
)


def look_after(turn: Transaction) -> None:
    """Close what is overdue, and keep an event of every alert that begins or ends with this turn."""
    now = time.time()
    expire(turn, now)
    state, before = turn.state, turn.before
    if state is before:
        return
    verdicts = {"bounds": judge_bounds(state), "caveat": judge_caveat(state)}
    if "stale" in state.alerts:
        verdicts["stale"] = judge_stale(state, now, None)
    if state.recent.finished != before.recent.finished:
        verdicts["drift"] = judge_drift(state)
    settle(turn, verdicts)


def expire(turn: Transaction, now: float) -> None:
    """Close the trials whose time is up: played, as far as anybody knows, and never heard of.

    Those of this very turn are left alone: whoever asks for one must get to see it.
    """
    for trial, ask in sorted(turn.state.open.items()):
        if ask.deadline is not None and ask.deadline <= now and trial in turn.before.open:
            after = round(ask.deadline - ask.since, 6)
            turn.append("timeout", {"reason": f"timed out after {after:g} s"}, trial=trial)


def watch(turn: Transaction, stale: float | None, misfit: str | None) -> None:
    """Judge what time alone brings about; drift is looked for when rounds are told, and only then."""
    now = time.time()
    expire(turn, now)
    state = turn.state
    verdicts = {"bounds": judge_bounds(state), "caveat": judge_caveat(state), "misfit": misfit}
    settle(turn, {**verdicts, "stale": judge_stale(state, now, stale)})


def settle(turn: Transaction, verdicts: Mapping[str, str | None]) -> None:
    """Keep an event where an alert begins or ends; ``verdicts`` are texts of those in force."""
    for kind, text in verdicts.items():
        if (text is not None) == (kind in turn.state.alerts):
            continue
        said = {"begins": True, "text": text} if text is not None else {"begins": False}
        turn.append("alert", {"alert": kind, **said})
