"""One study's log: reads what others wrote, folds it, and appends in turns."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import sqlalchemy as sa

from gbb._support.checks import InputError
from gbb._support.threads import one_thread
from gbb.controller.state.fold import fold
from gbb.controller.state.problem import decode_problem
from gbb.controller.state.snapshot import read_snapshot, write_snapshot
from gbb.controller.state.state import State, begin
from gbb.controller.storage.errors import StorageError
from gbb.controller.storage.events import Draft, Event, damaged, seal_draft
from gbb.controller.storage.store import Store
from gbb.controller.storage.study import Study
from gbb.problem import Problem

SNAPSHOT_EVENTS = 1000
SNAPSHOT_BYTES = 1 << 26
"""A snapshot is due after so many events, or so many bytes of them."""

UNREADABLE = (ValueError, LookupError, TypeError, ArithmeticError, RecursionError, MemoryError)
"""What goes wrong when an event says what no program of this version wrote."""

FETCH_BYTES = 1 << 26
"""About how many bytes of events are fetched at once."""


class Turn:
    """A transaction of one writer: the state ``before`` it, and the events it appends."""

    def __init__(self, study: Study, state: State, by: str | None = None) -> None:
        self.study, self.state, self.by = study, state, by
        self.before = state
        self.new: list[Event] = []
        self.notices: list[str] = []  # to be said once it has happened
        self._problems: dict[int, Problem] = {}
        self._written = 0

    def append(self, draft: Draft) -> Event:
        """Fold an event and keep it for the end of the turn."""
        state = self.state
        event = seal_draft(
            draft, seq=state.seq + 1, time=time.time(), before=state.seal, by=self.by
        )
        self.state = fold(state, event)
        self.new.append(event)
        return event

    def write(self) -> None:
        """Put what was appended into the table; it counts once the transaction is committed."""
        if self._written < len(self.new):
            self.study.append(self.new[self._written :])
            self._written = len(self.new)

    @contextmanager
    def part(self) -> Iterator[Turn]:
        """A part of the turn, which is as if it had not been when the block fails."""
        state, events, notices = self.state, len(self.new), len(self.notices)
        try:
            yield self
        except BaseException:
            self.state = state
            del self.new[events:], self.notices[notices:]
            raise
        self.write()

    def problem_at(self, seq: int) -> Problem:
        """The problem on the graph in force at an event."""
        place, setup = max(g for g in self.state.graphs if g <= seq), self.state.setup
        if place == setup.graph_seq or place in self.state.past_problems:
            return self.state.problem_on(place)
        if place not in self._problems:
            graph = self.study.event(place).content["graph"]
            self._problems[place] = decode_problem(setup.base, graph)
        return self._problems[place]


class Log:
    """The events of one study and the state they fold to.

    Parameters
    ----------
    store, study, name
        Where the events are: the storage, and the study's number and name.
    replay
        Fold the whole log, whatever the snapshots say.
    """

    def __init__(self, store: Store, study: int, name: str, *, replay: bool = False) -> None:
        self.store, self.study, self.name = store, study, name
        self._writing = threading.RLock()  # threads of one process take turns as processes do
        self._lock = threading.RLock()  # held while the state moves on, never while a writer waits
        self._bytes = 0
        self._turn: tuple[int, Turn] | None = None  # a turn that others join, and its thread
        with store.reading() as connection, one_thread():
            here = Study(connection, study, name)
            first = here.event(1)
            state = None if replay else _read_snapshot(here)
            self._state = fold_read(None, first) if state is None else state
            self._snapshot_seq = self._state.seq
            self._catch_up(connection)
            if (own := self._state.name) not in (None, name):
                raise damaged(f"the log of {name!r} is of {own!r}")

    @property
    def state(self) -> State:
        """The state when the log was last looked at."""
        return self._state if self.joined is None else self.joined.state

    @property
    def joined(self) -> Turn | None:
        """The turn of this thread that its further turns are parts of."""
        whole = self._turn
        return whole[1] if whole is not None and whole[0] == threading.get_ident() else None

    def refresh(self) -> State:
        """The state now, with what other processes wrote."""
        if self.joined is not None:
            return self.joined.state
        with self._lock, self.store.reading() as connection, one_thread():
            self._catch_up(connection)
            return self._state

    @contextmanager
    def whole(self, by: str | None) -> Iterator[Turn]:
        """A turn that all turns of this thread are parts of, until the block ends."""
        with self.turn(by) as turn:
            self._turn = threading.get_ident(), turn
            try:
                yield turn
            finally:
                self._turn = None

    @contextmanager
    def turn(self, by: str | None = None) -> Iterator[Turn]:
        """Append events, all or none; nothing changes when the block or the commit fails."""
        if self.joined is not None:
            with self.joined.part() as turn:
                yield turn
            return
        with self._writing:
            # One thread: the same sums in the same order on any number of cores, faster when small.
            with self.store.writing(self.study) as connection, one_thread():
                with self._lock:
                    turn = Turn(self._catch_up(connection), self._state, by)
                yield turn
                if not turn.new:
                    return
                turn.write()
                size = self._bytes + sum(event.size for event in turn.new)
                taken = self._take_snapshot(turn, size)
            # Committed: now, and not before, it has happened.
            with self._lock:
                if self._state.seq < turn.state.seq:  # unless a reader has just read it
                    self._state = turn.state
                self.name = turn.study.name
                self._bytes = 0 if taken else size
                self._snapshot_seq = turn.state.seq if taken else self._snapshot_seq

    @contextmanager
    def look(self) -> Iterator[Turn]:
        """One moment of the log, for a turn that appends nothing and keeps nobody waiting."""
        if self.joined is not None:
            yield self.joined
            return
        with ExitStack() as stack:
            with self._lock:
                connection = stack.enter_context(self.store.reading())
                stack.enter_context(one_thread())
                turn = Turn(self._catch_up(connection), self._state)
            yield turn

    def events(self) -> Iterator[Event]:
        """Every event, in order, each checked against its seal."""
        if self.joined is not None:
            yield from self.joined.study.events()
            return
        with self.store.reading() as connection:
            yield from self.find_study(connection).events()

    def find_study(self, connection: sa.Connection) -> Study:
        """The study, whose events are fetched some bytes at a time."""
        problem = self._state.setup.problem
        size = 8 * problem.m + 8 * problem.n
        size += 0 if problem.edge_counts is None else 2 * problem.edge_counts.nbytes
        size += 0 if problem.contexts is None else 16 * problem.m * problem.types
        most = max(4, min(1000, FETCH_BYTES // size))
        return Study(connection, self.study, self.name, most)

    def _catch_up(self, connection: sa.Connection) -> Study:
        """Fold what other processes wrote."""
        study, state = self.find_study(connection), self._state
        for event in study.events(after=state.seq, seal=state.seal):
            state = fold_read(state, event)
            self._bytes += event.size
        self._state = state
        return study

    def _take_snapshot(self, turn: Turn, size: int) -> bool:
        state = turn.state
        if state.seq - self._snapshot_seq < SNAPSHOT_EVENTS and size < SNAPSHOT_BYTES:
            return False
        text = write_snapshot(state)
        if text is not None:
            turn.study.keep_snapshot(state.seq, text)
        return True


def fold_read(state: State | None, event: Event) -> State:
    """The state after an event that was read; ``state`` is None before the first."""
    try:
        return begin(event) if state is None else fold(state, event)
    except (InputError, StorageError):
        raise
    except UNREADABLE as error:
        raise StorageError(
            f"Event {event.seq} says what this version of gbb cannot read ({error}). Use the version "
            "that wrote it, or a newer one."
        ) from None


def _read_snapshot(study: Study) -> State | None:
    text = study.snapshot()
    try:
        return None if text is None else read_snapshot(text, study)
    except (ValueError, LookupError, TypeError):
        return None  # written by another version; the log itself says everything
