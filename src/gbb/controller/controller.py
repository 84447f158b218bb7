"""The controller on its log: every request is a transaction, with all it appends and its answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from gbb._support import checks
from gbb._support.seeds import Seed
from gbb._support.threads import one_thread
from gbb.controller import messages as m
from gbb.controller.base import BaseController
from gbb.controller.commands import alerts, setup, tables, trials
from gbb.controller.handlers import HANDLERS, Handler, Outdated
from gbb.controller.log.backup import write_backup
from gbb.controller.log.database import NoStorageError
from gbb.controller.log.log import Log
from gbb.controller.log.store import (
    KeyedRequest,
    Store,
    Study,
    delete_study,
    insert_study,
    list_studies,
    refuse_taken,
)
from gbb.controller.queries.status import read_status
from gbb.controller.state.replay import open_log
from gbb.controller.state.state import State, begin
from gbb.policies import AnyPolicy
from gbb.problem import Problem

R = TypeVar("R")


class Controller(BaseController):
    """Chooses the arms of a real network, learns what its links pay, and never forgets.

    Start one with :meth:`create` and reopen it with :meth:`open`, from any process: every call that
    changes something is one transaction of an append-only log, durable once the call returns. An
    object may be shared by the threads of one process.
    """

    def __init__(self, log: Log) -> None:
        self._log = log

    @classmethod
    def create(
        cls,
        url: str | Path,
        problem: Problem,
        policy: AnyPolicy | str = "ImprovedOFUL",
        seed: Seed = 0,
        *,
        name: str = "default",
        **settings: Any,
    ) -> Controller:
        """Start a controller.

        Parameters
        ----------
        url
            A file, ``sqlite:///file.db``, or ``postgresql://user@host/database`` for several hosts.
        problem
            What is known: the graph, the arms and the bounds.
        policy
            A policy of ``problem``, or the name of one.
        seed
            Where the policy's randomness comes from: the asks are the choices of
            ``gbb.simulate(..., runs=1, seed=seed)``.
        name
            The controller's name; one database holds many.
        **settings
            Settings of a policy given by name, such as ``delta``; the cut is the best by default.
        """
        setup.check_name(name)
        first = setup.make_first(problem, policy, seed, settings)
        store = Store(url, create=True)
        with store.closed_on_error():
            with store.database.write() as connection:
                study = insert_study(connection, name, [first])
            return cls(open_log(store, study, name))

    @classmethod
    def rehearse(
        cls,
        url: str | Path,
        problem: Problem,
        policy: AnyPolicy | str = "ImprovedOFUL",
        seed: Seed = 0,
        *,
        name: str = "default",
        **settings: Any,
    ) -> None:
        """Refuse what :meth:`create` would refuse of the same arguments, and keep nothing."""
        setup.check_name(name)
        setup.make_first(problem, policy, seed, settings)
        try:
            store = Store(url)
        except NoStorageError:  # there is none yet, and so no such name
            return
        with store.closed_on_error(), store.database.read() as connection:
            refuse_taken(list_studies(connection), name)
        store.close()

    @classmethod
    def open(cls, url: str | Path, name: str | None = None) -> Controller:
        """Open an existing controller; ``name`` may be left out when the database holds only one."""
        store = Store(url)
        with store.closed_on_error():
            return cls(open_log(store, *store.find_study(name)))

    @staticmethod
    def names(url: str | Path) -> list[str]:
        """Return the names of the controllers in a storage."""
        store = Store(url)
        with store.closed_on_error(), store.database.read() as connection:
            found = sorted(list_studies(connection))
        store.close()
        return found

    @property
    def name(self) -> str:
        """The controller's name."""
        return self._log.name

    @property
    def problem(self) -> Problem:
        """The problem on the present graph."""
        return self._log.state.setup.problem

    @property
    def policy(self) -> AnyPolicy:
        """The policy that chooses."""
        return self._log.state.setup.policy

    @property
    def state(self) -> State:
        """What the log folds to, when it was last looked at."""
        return self._log.state

    def refresh(self) -> State:
        """Return the state now, with what other processes wrote; no writer keeps it waiting."""
        return self._log.refresh()

    def execute(
        self, request: m.Request[R], *, by: str | None = None, key: str | None = None
    ) -> m.Executed[R]:
        """Carry out a request, once per key; see :meth:`BaseController.execute`."""
        if isinstance(request, m.Status):
            status: Any = {"name": self.name, "url": self._log.store.shown}
            return m.Executed(request, status | read_status(self._log.refresh()), [])
        handler = HANDLERS[type(request)]
        dry = isinstance(request, m.ImportRounds) and request.dry_run
        if handler.needs != "write" or dry:
            return m.Executed(request, self._read(handler, request), [])
        keyed = None if key is None else KeyedRequest.of(by, key, request.digest)
        while True:
            # Before the lock, so that nobody waits for a slow file or a long replay.
            prepared = () if handler.prepare is None else (handler.prepare(self._log, request),)
            try:
                return self._write(handler, request, prepared, by, keyed)
            except Outdated:  # another retraction came between: nothing was written
                continue

    def _read(self, handler: Handler, request: m.Request[R]) -> R:
        prepared = () if handler.prepare is None else (handler.prepare(self._log, request),)
        # A long read transaction keeps SQLite from emptying its write-ahead file, so that what needs
        # the state alone has none.
        if handler.needs == "state":
            state = self._log.refresh()
            with one_thread():
                response: R = handler.apply(state, request, *prepared)
            return response
        with self._log.read() as view:
            response = handler.apply(view, request, *prepared)
        return response

    def _write(
        self,
        handler: Handler,
        request: m.Request[R],
        prepared: tuple[Any, ...],
        by: str | None,
        keyed: KeyedRequest | None,
    ) -> m.Executed[R]:
        with self._log.write(by) as transaction:
            study = transaction.study
            if keyed is not None and (kept := study.response(keyed)) is not None:
                nothing: Any = None
                return m.Executed(request, nothing, [], repeated=True, kept=kept)
            response = handler.apply(transaction, request, *prepared)
            alerts.look_after(transaction)
            warned = list(dict.fromkeys(transaction.warnings))
            done = m.Executed(request, response, warned)
            # With its events: who is killed between them would do it twice.
            if keyed is not None:
                study.keep_response(keyed, done.to_json())
        return done

    def tell_tables(self, trial: m.Trial | int, shard: int, N: Any, Y: Any) -> None:
        """Report what one shard of a :class:`gbb.Network` saw of ``trial``.

        Parameters
        ----------
        trial
            The trial or its number.
        shard
            The shard's number.
        N, Y
            How many of its directed links played each pair of arms, and the sum of their rewards
            (K x K, or types x K x K), as :meth:`gbb.Shard.tables` gives them. With weights, sums of w^2
            and of w times the reward. Links whose rewards are missing are left out of both.

        Notes
        -----
        Every shard counts once: the same again changes nothing, anything else is an error. Shards may
        come late and in any order. The trial is closed when all have come, or by :meth:`fail`, which
        keeps what came.
        """
        self.tell_all_tables(trial, {shard: (N, Y)})

    def tell_all_tables(self, trial: m.Trial | int, tables: tables.Tables) -> None:
        """Report several shards at once, ``{shard: (N, Y)}``, all in one transaction or none."""
        self._call(m.TellTables, trial=trial, tables=tables)

    def missing_shards(self, trial: m.Trial | int) -> list[int]:
        """Return the shards that have not told their tables of an open trial."""
        state = self._log.refresh()
        return tables.missing_shards(state, trials.find_open(state, trial))

    def backup(self, path: str | Path) -> int:
        """Write the whole log to a file of JSON lines, as it is now, while others may write.

        :func:`gbb.controller.restore` makes the same controller of it again, bit for bit. The answer is
        the number of events. The file appears whole or not at all.
        """
        return write_backup(self._log.store, path, self.name)[self.name]

    def copy(self, name: str, to: str | Path | None = None) -> Controller:
        """Copy it under another name, or to another storage (``to``, a URL), and open the copy.

        It has all events of this one, bit for bit. From then on each goes its own way.
        """
        setup.check_name(name)
        store = self._log.store
        target = Store(store.url if to is None else to, create=True)
        with target.closed_on_error():
            # The reader first: in one file of SQLite a writer keeps no reader waiting.
            with store.database.read() as source, target.database.write() as connection:
                events = Study(source, self._log.study, self.name).events()
                number = insert_study(connection, name, events)
            return Controller(open_log(target, number, name))

    def rename(self, name: str) -> None:
        """Give the controller another name.

        Programs that have it open under the old name are told so at their next call.
        """
        setup.check_name(name)
        with self._log.write() as transaction:
            if name != transaction.study.name:
                self._log.store.database.lock(transaction.study.connection, None)
                state = transaction.state
                transaction.study = transaction.study.rename(name, state.seq, state.seal)

    def delete(self, name: str) -> None:
        """Remove the controller and its whole log for good; ``name`` must repeat its name."""
        if name != self.name:
            rule = f"repeat the controller's name, {self.name!r}, to delete it for good"
            raise checks.input_error("name", rule, repr(name))
        database = self._log.store.database
        with database.write(self._log.study) as connection:
            database.lock(connection, None)
            # It must still be there, and still be called so.
            Study(connection, self._log.study, name).head()
            delete_study(connection, self._log.study)
        self.close()

    def close(self) -> None:
        """Close the connection to the storage; everything is saved already."""
        self._log.store.close()

    def __repr__(self) -> str:
        return f"Controller({self._log.store.shown!r}, {self.name!r}, {self.problem!r})"


def create_once(
    url: str | Path,
    problem: Problem,
    policy: str,
    seed: int,
    settings: dict[str, Any],
    *,
    name: str,
    by: str,
    key: str | None,
    body: bytes,
) -> tuple[dict[str, Any], bool]:
    """Start a controller unless the same request did so before.

    Return its status then, and whether it was started before.
    """
    setup.check_name(name)
    first = setup.make_first(problem, policy, seed, settings, by)
    request = None if key is None else KeyedRequest.of(by, key, body)
    store = Store(url, create=True)
    try:
        with store.database.write() as connection:
            there = list_studies(connection).get(name)
            if there is not None and request is not None:
                kept = Study(connection, there, name).response(request)
                if kept is not None:
                    return kept, True
            number = insert_study(connection, name, [first])
            status = {"name": name, **read_status(begin(first))}
            if request is not None:
                Study(connection, number, name).keep_response(request, status)
            return status, False
    finally:
        store.close()
