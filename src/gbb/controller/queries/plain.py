"""Answers as plain values, by names: what JSON holds of them, from the shell and over a pipe."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from gbb.controller.messages import Alert, Entry, Estimate, Prediction, Recommendation, Trial

ARRAYS = ("M_hat", "M_width", "table", "table_width", "N", "Y")

RECOMMENDED = ("allocation", "reward", "low", "high", "upper_bound", "gap", "proven", "caveat")
"""What is said of a recommendation."""


def plain_trial(trial: Trial) -> dict[str, Any]:
    """A trial's number, its round and its allocation."""
    about = {"trial": trial.id, "round": trial.round, **_context(trial.context)}
    return {**about, "allocation": trial.allocation}


def plain_alert(alert: Alert) -> dict[str, Any]:
    """Its kind, how bad it is, since when and what it says."""
    return {**asdict(alert), "since": alert.since.isoformat()}


def plain_prediction(found: Prediction) -> dict[str, Any]:
    """The reward, its interval and the caveat."""
    return asdict(found)


def plain_recommendation(best: Recommendation) -> dict[str, Any]:
    """The allocation by names, with all that is said of it."""
    return {**_context(best.context), **{key: getattr(best, key) for key in RECOMMENDED}}


def _context(context: Any) -> dict[str, Any]:
    """What is known before the round, where there are contexts."""
    return {} if context is None else {"context": context}


def plain_estimate(each: Estimate) -> dict[str, Any]:
    """The arrays as lists of rows."""
    arrays = {key: getattr(each, key) for key in ARRAYS}
    lists = {key: None if value is None else value.tolist() for key, value in arrays.items()}
    whose = {} if each.matrix is None else {"matrix": each.matrix}
    return {"edge_type": each.edge_type, **whose, **lists, "caveat": each.caveat}


def plain_entry(entry: Entry) -> dict[str, Any]:
    """An event's number, time, kind, trial and content, and who wrote it where that is known."""
    return {
        "seq": entry.seq,
        "time": entry.time.isoformat(),
        "kind": entry.kind,
        "trial": entry.trial_id,
        **({} if entry.by is None else {"by": entry.by}),
        "content": entry.content,
    }
