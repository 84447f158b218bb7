"""Studies as a whole: copied into a transaction, renamed and removed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

import sqlalchemy as sa

from gbb.controller.storage import schema
from gbb.controller.storage.events import Draft, Event, seal_draft
from gbb.controller.storage.schema import events, requests, snapshots, studies
from gbb.controller.storage.store import Store, list_studies, refuse_taken
from gbb.controller.storage.study import Study


def draft_rename(old: str, new: str) -> Draft:
    """The event that gives a controller another name."""
    return Draft("rename", {"from": old, "to": new})


def under_name(log: Iterable[Event], old: str, new: str) -> Iterator[Event]:
    """The events of the controller ``old``, and one more if it is to be called otherwise."""
    last = None
    for event in log:
        last = event
        yield event
    if last is not None and new != old:
        yield seal_draft(
            draft_rename(old, new), seq=last.seq + 1, time=time.time(), before=last.seal
        )


def rename_row(store: Store, connection: sa.Connection, study: int, new: str) -> None:
    """Give the row of a study a name that no other has; its seal is written with the next event."""
    store.lock_tables(connection)
    refuse_taken(list_studies(connection), new)
    connection.execute(sa.update(studies).where(studies.c.id == study).values(name=new))


def remove_study(store: Store, study: int, name: str) -> None:
    """Remove a study with all that it has, at once."""
    with store.writing(study) as connection:
        store.lock_tables(connection)
        Study(connection, study, name).head()  # it is still there, and still called so
        left = len(list_studies(connection)) - 1
        for column in (snapshots.c.study, requests.c.study, events.c.study, studies.c.id):
            connection.execute(sa.delete(column.table).where(column == study))
        schema.write_about(connection, "studies", left)
