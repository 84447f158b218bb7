"""One study's log: reads what others wrote, folds it, and appends in turns."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from gbb._support.threads import one_thread
from gbb.controller.state.fold import fold
from gbb.controller.state.network import Network, decode_network
from gbb.controller.state.snapshot import read_snapshot, write_snapshot
from gbb.controller.state.state import State, begin
from gbb.controller.storage.events import Draft, Event, Row, make_row, read_row
from gbb.controller.storage.store import Store
from gbb.controller.storage.study import Study

SNAPSHOT_EVENTS = 1000
SNAPSHOT_BYTES = 1 << 26
"""A snapshot is due after so many events, or so many bytes of them."""

FETCH_BYTES = 1 << 26
"""About how many bytes of events are fetched at once."""


class Turn:
    """A transaction of one writer: the state it starts from, and the events it appends."""

    def __init__(self, study: Study, state: State) -> None:
        self.study, self.state = study, state
        self.rows: list[Row] = []
        self.notices: list[str] = []  # to be said once it has happened

    def append(self, draft: Draft) -> Event:
        """Fold an event and keep it for the end of the turn."""
        state = self.state
        row = make_row(draft, seq=state.seq + 1, time=time.time(), before=state.seal)
        event = read_row(row)
        self.state = fold(state, event)
        self.rows.append(row)
        return event

    def events(self) -> Iterator[Event]:
        """Every event that was there when the turn began, in order, each checked."""
        return self.study.events(most=_chunk_of(self.state))

    def network_at(self, seq: int) -> Network:
        """The network in force at an event."""
        place = self.study.graph_at(seq)
        if place in self.state.networks:
            return self.state.networks[place]
        return decode_network(self.study.event(place).content["graph"])


class Log:
    """The events of one study and the state they fold to.

    Parameters
    ----------
    store, study
        Where the events are.
    replay
        Fold the whole log, whatever the snapshots say.
    """

    def __init__(self, store: Store, study: int, *, replay: bool = False) -> None:
        self.store, self.study = store, study
        self._lock = threading.RLock()  # threads of one process take turns as processes do
        self._bytes = 0
        with store.reading() as connection, one_thread():
            here = Study(connection, study)
            state = None if replay else _read_snapshot(here)
            if state is None:
                state = begin(here.event(1))
            self._snapshot_seq = state.seq
            self._state = self._catch_up(connection, state)

    @property
    def state(self) -> State:
        """The state when the log was last looked at."""
        return self._state

    def refresh(self) -> State:
        """The state now, with what other processes wrote."""
        with self._lock, self.store.reading() as connection, one_thread():
            self._state = self._catch_up(connection, self._state)
            return self._state

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Append events, all or none; nothing changes when the block or the commit fails."""
        with self._lock:
            # One thread: the same sums in the same order on any number of cores, faster when small.
            with self.store.writing(self.study) as connection, one_thread():
                self._state = self._catch_up(connection, self._state)
                turn = Turn(Study(connection, self.study), self._state)
                yield turn
                if not turn.rows:
                    return
                turn.study.append(turn.rows)
                size = self._bytes + sum(len(row.data) for row in turn.rows)
                taken = self._take_snapshot(turn, size)
            # Committed: now, and not before, it has happened.
            self._state = turn.state
            self._bytes = 0 if taken else size
            self._snapshot_seq = turn.state.seq if taken else self._snapshot_seq

    def events(self) -> Iterator[Event]:
        """Every event, in order, each checked against its seal."""
        with self.store.reading() as connection:
            yield from Study(connection, self.study).events(most=_chunk_of(self._state))

    def _catch_up(self, connection: sa.Connection, state: State) -> State:
        new = Study(connection, self.study).events(
            after=state.seq, seal=state.seal, most=_chunk_of(state)
        )
        for event in new:
            state = fold(state, event)
            self._bytes += len(event.data)
        return state

    def _take_snapshot(self, turn: Turn, size: int) -> bool:
        state = turn.state
        if state.seq - self._snapshot_seq < SNAPSHOT_EVENTS and size < SNAPSHOT_BYTES:
            return False
        text = write_snapshot(state)
        if text is not None:
            turn.study.keep_snapshot(state.seq, text)
        return True


def _read_snapshot(study: Study) -> State | None:
    text = study.snapshot()
    try:
        return None if text is None else read_snapshot(text, study)
    except (ValueError, LookupError, TypeError):
        return None  # written by another version; the log itself says everything


def _chunk_of(state: State) -> int:
    """How many events to fetch at once."""
    problem = state.setup.problem
    return max(4, min(1000, FETCH_BYTES // (8 * problem.m + 8 * problem.n)))
