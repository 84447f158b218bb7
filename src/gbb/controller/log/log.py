"""One study's log: reads what others wrote, folds it, and appends in transactions."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from gbb._support.threads import one_thread
from gbb.controller.log.codec import dumps
from gbb.controller.log.database import Connection
from gbb.controller.log.events import Content, Event, seal
from gbb.controller.log.store import Store, Study

if TYPE_CHECKING:
    from gbb.controller.state.state import State
    from gbb.problem import Problem

SNAPSHOT_EVENTS = 1000
SNAPSHOT_BYTES = 1 << 26
"""A snapshot is due after so many events, or so many bytes of them."""


class Folding(NamedTuple):
    """How events become a state: the log knows none, whoever opens it does.

    Attributes
    ----------
    fold
        The state after an event; the state before the first one is None.
    write_snapshot, read_snapshot
        A state as bytes, and back; None if it has no such form, or they are no state of the study.
    """

    fold: Callable[[State | None, Event], State]
    write_snapshot: Callable[[State], bytes | None]
    read_snapshot: Callable[[bytes, Study], State | None]


class Transaction:
    """One moment of a log, and the events that one writer appends to it.

    Attributes
    ----------
    study
        The log in the database.
    before, state
        The state before the transaction, and with what it has appended.
    new
        The events appended.
    by
        Who appends them, where a service names the caller.
    warnings
        What to say once it is committed.
    problems
        Problems on graphs of the past, by the event that holds the graph, once they were needed.
    """

    def __init__(self, study: Study, state: State, folding: Folding, by: str | None = None) -> None:
        self.study, self.state, self.by = study, state, by
        self.before = state
        self.new: list[Event] = []
        self.warnings: list[str] = []
        self.problems: dict[int, Problem] = {}
        self._fold = folding.fold

    def append(
        self, kind: str, content: Content, *, trial: int | None = None, data: bytes = b""
    ) -> Event:
        """Seal and fold an event, and keep it for the end of the transaction."""
        text = dumps(content if self.by is None else {**content, "by": self.by})
        event = Event(self.state.seq + 1, kind, trial, time.time(), text, data, 0)
        event = seal(event, self.state.seal)
        # With the function that a replay uses: what is kept is what will be read.
        self.state = self._fold(self.state, event)
        self.new.append(event)
        return event


class Log:
    """The events of one study and the state they fold to.

    Parameters
    ----------
    store, study, name
        Where the events are: the storage, and the study's number and name.
    folding
        How they become a state.
    replay
        Fold the whole log, whatever the snapshots say.
    """

    def __init__(
        self, store: Store, study: int, name: str, folding: Folding, *, replay: bool = False
    ) -> None:
        self.store, self.study, self.name = store, study, name
        self._folding = folding
        self._writing = threading.RLock()  # threads of one process take turns as processes do
        self._lock = threading.RLock()  # held while the state moves on, never while a writer waits
        self._bytes = 0
        with store.database.read() as connection, one_thread():
            here = Study(connection, study, name)
            content = None if replay else here.snapshot()
            state = None if content is None else folding.read_snapshot(content, here)
            self._state = folding.fold(None, here.event(1)) if state is None else state
            self._snapshot_seq = self._state.seq
            self._catch_up(connection)

    @property
    def state(self) -> State:
        """The state when the log was last looked at."""
        return self._state

    def refresh(self) -> State:
        """Return the state now, with what other processes wrote."""
        with self._lock, self.store.database.read() as connection, one_thread():
            self._catch_up(connection)
            return self._state

    @contextmanager
    def write(self, by: str | None = None) -> Iterator[Transaction]:
        """Append events, all or none; nothing changes when the block or the commit fails."""
        with self._writing:
            # One thread: the same sums in the same order on any number of cores, faster when small.
            with self.store.database.write(self.study) as connection, one_thread():
                with self._lock:
                    study = self._catch_up(connection)
                    transaction = Transaction(study, self._state, self._folding, by)
                yield transaction
                name = transaction.study.name
                if transaction.new:
                    transaction.study.append(transaction.new)
                    size = self._bytes + sum(event.size for event in transaction.new)
                    taken = self._take_snapshot(transaction, size)
            # Committed: now, and not before, it has happened.
            with self._lock:
                self.name = name
                if not transaction.new:
                    return
                if self._state.seq < transaction.state.seq:  # unless a reader has just read it
                    self._state = transaction.state
                self._bytes = 0 if taken else size
                self._snapshot_seq = transaction.state.seq if taken else self._snapshot_seq

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Return one moment of the log, to which nothing is appended and which keeps nobody waiting."""
        with ExitStack() as stack:
            with self._lock:
                connection = stack.enter_context(self.store.database.read())
                stack.enter_context(one_thread())
                study = self._catch_up(connection)
                transaction = Transaction(study, self._state, self._folding)
            yield transaction

    def events(self) -> Iterator[Event]:
        """Iterate over all events, in order, each checked against its seal."""
        with self.store.database.read() as connection:
            yield from Study(connection, self.study, self.name).events()

    def _catch_up(self, connection: Connection) -> Study:
        """Fold what other processes wrote."""
        study, state = Study(connection, self.study, self.name), self._state
        for event in study.events(after=state.seq, seal=state.seal):
            state = self._folding.fold(state, event)
            self._bytes += event.size
        self._state = state
        return study

    def _take_snapshot(self, transaction: Transaction, size: int) -> bool:
        state = transaction.state
        if state.seq - self._snapshot_seq < SNAPSHOT_EVENTS and size < SNAPSHOT_BYTES:
            return False
        content = self._folding.write_snapshot(state)
        if content is not None:
            transaction.study.keep_snapshot(state.seq, content)
        return True
