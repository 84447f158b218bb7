"""Keeping a controller: written to a file and read back, copied, renamed, deleted."""

from __future__ import annotations

from pathlib import Path

from gbb._support import checks
from gbb.controller.log.backup import Backup
from gbb.controller.log.log import Log, Transaction
from gbb.controller.log.store import Store, Study, delete_study, insert_study
from gbb.controller.verbs.setup import check_name


def restore(
    path: str | Path, url: str | Path, name: str | None = None, new_name: str | None = None
) -> dict[str, int]:
    """Put the controllers of a backup, or one of them, into a storage that has none of their names.

    All or none. Every event is what it was, to the last bit, with its number, time and seal.

    Parameters
    ----------
    path
        A file that :meth:`gbb.Controller.backup`, ``gbb control backup`` or ``gbb control export``
        wrote (``.jsonl``).
    url
        Where they go; the file, or the tables, are made if they are not there.
    name
        Which one; all when left out.
    new_name
        What it is called from now on.

    Returns
    -------
    dict
        The names of the controllers, and how many events each has.
    """
    backup = Backup(path)
    known = backup.names()
    if name is not None:
        checks.choice("name", name, known)
    wanted = set(known) if name is None else {name}
    if new_name is not None:
        check_name(new_name)
        if len(wanted) != 1:
            rule = "be left out where several controllers are restored"
            raise checks.input_error("new_name", rule, repr(new_name), "Say which by `name`.")
    done = {}
    store = Store(url, create=True)
    try:
        with store.database.write() as connection:
            for old, count, events in backup.controllers():
                if old in wanted:
                    new = old if new_name is None else new_name
                    insert_study(connection, new, events)
                    done[new] = count
    finally:
        store.close()
    return done


def copy(log: Log, new_name: str, to: str | Path | None = None) -> None:
    """Copy a controller as it is now, within its storage or to another."""
    check_name(new_name)
    target = Store(log.store.url if to is None else to, create=True)
    try:
        # The reader first: in one file of SQLite a writer keeps no reader waiting.
        with log.store.database.read() as source, target.database.write() as connection:
            insert_study(connection, new_name, Study(source, log.study, log.name).events())
    finally:
        target.close()


def rename(log: Log, turn: Transaction, name: str) -> None:
    """Give the controller another name, which is sealed with the end of its log."""
    check_name(name)
    if name != turn.study.name:
        log.store.database.lock(turn.study.connection, None)
        turn.study = turn.study.rename(name, turn.state.seq, turn.state.seal)


def delete(log: Log, name: str) -> None:
    """Remove the controller and its log for good; ``name`` must repeat its name."""
    if name != log.name:
        rule = f"repeat the controller's name, {log.name!r}, to delete it for good"
        raise checks.input_error("name", rule, repr(name))
    with log.store.database.write(log.study) as connection:
        log.store.database.lock(connection, None)
        Study(connection, log.study, name).head()  # it is still there, and still called so
        delete_study(connection, log.study)
