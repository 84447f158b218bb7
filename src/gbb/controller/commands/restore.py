"""Controllers restored from a backup."""

from __future__ import annotations

from pathlib import Path

from gbb._support import checks
from gbb.controller.commands.setup import check_name
from gbb.controller.log.backup import Backup
from gbb.controller.log.store import Store, insert_study


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
