"""Keeping a controller: written to a file and read back, copied, renamed, deleted."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from gbb._support import checks
from gbb.controller.state.log import Log, Turn
from gbb.controller.storage.backup import Backup
from gbb.controller.storage.keeping import (
    draft_rename,
    remove_study,
    rename_row,
    under_name,
)
from gbb.controller.storage.store import Store, insert_study
from gbb.controller.verbs.setup import check_name


def restore(
    path: str | Path, url: str | sa.URL, name: str | None = None, new_name: str | None = None
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
        What it is called from now on: one more event says so.

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
        with store.adding() as connection:
            for old, count, events in backup.controllers():
                if old in wanted:
                    new = old if new_name is None else new_name
                    insert_study(connection, new, under_name(events, old, new))
                    done[new] = count + (new != old)
    finally:
        store.close()
    return done


def copy(log: Log, new_name: str, to: str | sa.URL | None = None) -> None:
    """Copy a controller as it is now, within its storage or to another."""
    check_name(new_name)
    target = Store(log.store.url if to is None else to, create=True)
    try:
        with log.store.reading() as source, target.adding() as connection:
            events = log.find_study(source).events()
            insert_study(connection, new_name, under_name(events, log.name, new_name))
    finally:
        target.close()


def rename(store: Store, turn: Turn, new: str) -> None:
    """Give the controller another name: an event says so, and the row is sealed with it."""
    check_name(new)
    old = turn.study.name
    if new == old:
        return
    rename_row(store, turn.study.connection, turn.study.id, new)
    turn.append(draft_rename(old, new))
    turn.study = turn.study._replace(name=new)


def delete(log: Log, name: str) -> None:
    """Remove the controller and its log for good; ``name`` must repeat its name."""
    if name != log.name:
        rule = f"repeat the controller's name, {log.name!r}, to delete it for good"
        raise checks.input_error("name", rule, repr(name))
    remove_study(log.store, log.study, name)
