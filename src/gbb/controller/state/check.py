"""Whether all of a log is what was written: the database, every seal, and the snapshot."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gbb._support.threads import one_thread
from gbb.controller.log.events import StorageError
from gbb.controller.log.log import Log
from gbb.controller.state.replay import fold_read
from gbb.controller.state.snapshot import open_snapshot, write_snapshot
from gbb.controller.state.state import State

ROUNDING = 1e-9
"""How far sums may differ, relative to their size, when another processor computed them."""


def check_log(log: Log) -> tuple[State, int | None, bool]:
    """Read all of a log, from the first event on, and compare it with all that was kept of it.

    Return its state, the event of the snapshot, and whether the database looked at all of its pages.
    """
    with log.read() as view, one_thread():
        study = view.study
        pages = log.store.database.check_pages(study.connection)
        text = study.snapshot()
        kept = None if text is None else open_snapshot(text)
        state: State | None = None
        for event in study.events():
            state = fold_read(state, event)
            if kept is not None and kept["seq"] == state.seq:
                _compare(state, kept)
    if state is None:
        raise StorageError("The log is damaged: it is empty.")
    if text is not None and kept is None:
        raise StorageError(
            "The snapshot is damaged, so that opening takes longer; the log itself is whole. "
            "The next snapshot takes its place."
        )
    return state, None if kept is None else kept["seq"], pages


def _compare(state: State, kept: dict[str, Any]) -> None:
    """Refuse a snapshot that says anything else than ``state``; of other versions, all they share."""
    text = write_snapshot(state)
    own = None if text is None else open_snapshot(text)
    same_version = own is not None and own["format"] == kept["format"]
    names = kept if same_version else ("seq", "seal", "rounds", "trials")
    for name in names:
        if own is None or not _alike(own[name], kept[name]):
            raise StorageError(
                f"The snapshot of event {state.seq} says another {name!r} than the log. Nothing was "
                "changed; restore the storage from a copy."
            )


def _alike(one: Any, other: Any) -> bool:
    """Whether two trees are the same, but for the rounding of sums."""
    if isinstance(one, dict):
        same = isinstance(other, dict) and one.keys() == other.keys()
        return same and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        same = type(one) is type(other) and len(one) == len(other)
        return same and all(map(_alike, one, other))
    if isinstance(one, np.ndarray) and one.dtype.kind == "f" and np.shape(one) == np.shape(other):
        size = ROUNDING * float(np.abs(one).max(initial=0.0))
        return bool(np.allclose(one, other, rtol=0.0, atol=size, equal_nan=True))
    if isinstance(one, float) and isinstance(other, float):
        unknown = math.isnan(one) and math.isnan(other)
        return one == other or unknown or abs(one - other) <= ROUNDING * abs(one)
    return bool(np.array_equal(one, other))
