"""One study's log: reads what others wrote, folds it, and appends in turns."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from gbb._support.threads import one_thread
from gbb.controller.state.fold import fold
from gbb.controller.state.network import Network, graph_from
from gbb.controller.state.snapshot import restored, snapshot_of
from gbb.controller.state.state import State, begin
from gbb.controller.storage.errors import StorageError
from gbb.controller.storage.events import Draft, Event, Row, opened, sealed, verified
from gbb.controller.storage.store import Store

SNAPSHOT_EVENTS = 1000
SNAPSHOT_BYTES = 1 << 26
"""A snapshot is due after so many events, or so many bytes of them."""

FETCH_BYTES = 1 << 26
"""About how many bytes of events are fetched at once."""


class Turn:
    """A transaction of one writer: the state it starts from, and the events it appends."""

    def __init__(self, store: Store, connection: sa.Connection, study: int, state: State) -> None:
        self.state = state
        self.rows: list[Row] = []
        self.notices: list[str] = []  # to be said once it has happened
        self._store, self._connection, self._study = store, connection, study

    def append(self, draft: Draft) -> Event:
        """Fold an event and keep it for the end of the turn."""
        state = self.state
        row = sealed(draft, seq=state.seq + 1, time=time.time(), before=state.seal)
        event = opened(row)
        self.state = fold(state, event)
        self.rows.append(row)
        return event

    def events_of(self, trial: int) -> list[Event]:
        """What the log says of a trial."""
        found = self._store.rows_of(self._connection, self._study, [trial])
        return [opened(row) for row in found]

    def events_of_kind(self, kind: str) -> list[Event]:
        """The events of a kind."""
        found = self._store.rows_of_kind(self._connection, self._study, kind)
        return [opened(row) for row in found]

    def events(self) -> Iterator[Event]:
        """Every event that was there when the turn began, in order, each checked."""
        return _events(self._store, self._connection, self._study, chunk_of(self.state))

    def network_at(self, seq: int) -> Network:
        """The network in force at an event."""
        place = self._store.graph_at(self._connection, self._study, seq)
        if place in self.state.networks:
            return self.state.networks[place]
        return graph_from(self.event(place).content["graph"])

    def event(self, seq: int) -> Event:
        """One event."""
        return _event(self._store, self._connection, self._study, seq)


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
            state = None if replay else self._from_snapshot(connection)
            if state is None:
                state = begin(_event(store, connection, study, 1))
            self._snapshot_seq = state.seq
            self._state = self._caught_up(connection, state)

    @property
    def state(self) -> State:
        """The state when the log was last looked at."""
        return self._state

    def refresh(self) -> State:
        """The state now, with what other processes wrote."""
        with self._lock, self.store.reading() as connection, one_thread():
            self._state = self._caught_up(connection, self._state)
            return self._state

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Append events, all or none; nothing changes when the block or the commit fails."""
        with self._lock:
            # One thread: the same sums in the same order on any number of cores, faster when small.
            with self.store.writing(self.study) as connection, one_thread():
                self._state = self._caught_up(connection, self._state)
                turn = Turn(self.store, connection, self.study, self._state)
                yield turn
                if not turn.rows:
                    return
                self.store.append(connection, self.study, turn.rows)
                size = self._bytes + sum(len(row.data) for row in turn.rows)
                taken = self._take_snapshot(connection, turn.state, size)
            # Committed: now, and not before, it has happened.
            self._state = turn.state
            self._bytes = 0 if taken else size
            self._snapshot_seq = turn.state.seq if taken else self._snapshot_seq

    def events(self) -> Iterator[Event]:
        """Every event, in order, each checked against its seal."""
        with self.store.reading() as connection:
            yield from _events(self.store, connection, self.study, chunk_of(self._state))

    def _caught_up(self, connection: sa.Connection, state: State) -> State:
        most = chunk_of(state)
        for row in self.store.rows(connection, self.study, after=state.seq, most=most):
            (event,) = verified([row], after=state.seq, before=state.seal)
            state = fold(state, event)
            self._bytes += len(event.data)
        return state

    def _from_snapshot(self, connection: sa.Connection) -> State | None:
        text = self.store.snapshot(connection, self.study)
        if text is None:
            return None

        def find(seq: int) -> Event:
            return _event(self.store, connection, self.study, seq)

        def asked(trials: list[int]) -> list[Event]:
            rows = self.store.rows_of(connection, self.study, trials)
            return [opened(row) for row in rows if row.kind == "ask"]

        try:
            return restored(text, find, asked)
        except (ValueError, LookupError, TypeError):
            return None  # written by another version; the log itself says everything

    def _take_snapshot(self, connection: sa.Connection, state: State, size: int) -> bool:
        if state.seq - self._snapshot_seq < SNAPSHOT_EVENTS and size < SNAPSHOT_BYTES:
            return False
        text = snapshot_of(state)
        if text is not None:
            self.store.keep_snapshot(connection, self.study, state.seq, text)
        return True


def chunk_of(state: State) -> int:
    """How many events to fetch at once."""
    problem = state.setup.problem
    return max(4, min(1000, FETCH_BYTES // (8 * problem.m + 8 * problem.n)))


def _events(store: Store, connection: sa.Connection, study: int, most: int) -> Iterator[Event]:
    """Every event, in order, each checked against its seal."""
    before, after = 0, 0
    for row in store.rows(connection, study, most=most):
        (event,) = verified([row], after=after, before=before)
        before, after = event.seal, event.seq
        yield event


def _event(store: Store, connection: sa.Connection, study: int, seq: int) -> Event:
    """One event, checked against the seal of the one before it."""
    row = store.row(connection, study, seq)
    before = store.row(connection, study, seq - 1) if seq > 1 else None
    if row is None or (seq > 1 and before is None):
        raise StorageError(f"The log is damaged: event {seq} or the one before it is missing.")
    seal = 0 if before is None else before.seal
    (event,) = verified([row], after=seq - 1, before=seal)
    return event
