"""What happened: the history and the rewards, some at a time; all of it as a file."""

from __future__ import annotations

import csv
import io
from typing import Any

from gbb._support import checks
from gbb._support.json_text import as_json
from gbb.controller import Entry
from gbb.controller.messages import RoundReward
from gbb.controller.types import list_of
from gbb.serve import fields as f
from gbb.serve.api import schemas as s
from gbb.serve.api.operations import HERE, File, Given, Operation
from gbb.serve.api.schemas import shape
from gbb.serve.views.paging import MOST, limit_of

LOOKED_AT = 5000
"""How many events a search looks at before it says where to go on."""


def history(given: Given) -> dict[str, Any]:
    """A page of the history: the oldest first after an event, else the newest first."""
    values, most = given.values, limit_of(given, 50)
    after, before = values.get("after"), values.get("before")
    for name, place in (("after", after), ("before", before)):
        if place is not None:
            checks.integer(name, place, low=0, high=1 << 60)
    if after is not None and before is not None:
        raise checks.conflict("Give `after` or `before`, not both.")
    wanted = values.get("search", "").casefold()
    forward = after is not None
    found: list[dict[str, Any]] = []
    looked, place = 0, after if forward else before
    while True:
        page = given.controller.history(
            values.get("kind"),
            last=MOST if wanted else most,
            brief=values.get("brief", False),
            **_from(forward, place),
        )
        looked += len(page)
        for entry in page if forward else reversed(page):
            place = entry.seq
            said = {**entry.to_dict(), "by": entry.by}
            if not wanted or _holds(entry, said, wanted):
                found.append(said)
            if len(found) == most:
                break
        ended = len(page) < (most if not wanted else MOST) and (
            not page or place == _last(page, forward)
        )
        if len(found) == most or ended or looked >= LOOKED_AT:
            return {"entries": found, "next": None if ended or place is None else place}


def _from(forward: bool, place: int | None) -> dict[str, int]:
    if place is None:
        return {}
    return {"after": place} if forward else {"before": place}


def _last(page: list[Entry], forward: bool) -> int:
    return page[-1].seq if forward else page[0].seq


def _holds(entry: Entry, said: dict[str, Any], wanted: str) -> bool:
    """Whether an entry says what is searched for."""
    words = f"{entry.kind} {said.get('by') or ''} trial {entry.trial_id}"
    return wanted in words.casefold() or wanted in as_json(said["content"]).casefold()


def rewards(given: Given) -> dict[str, Any]:
    """What the last rounds paid, the oldest first."""
    last = checks.integer("last", given.values.get("last", 500), low=1, high=10_000)
    found = given.controller.rewards(last=last)
    return {"rounds": [_plain(paid) for paid in found]}


def _plain(paid: RoundReward) -> dict[str, Any]:
    """A round as the page knows it."""
    row = paid._asdict() | {"time": paid.time.isoformat()}
    return row | {"told": row.pop("observed"), "of": row.pop("possible")}


def export_csv(given: Given) -> File:
    """Every reward that counts, as an import reads it back."""
    frame = given.controller.export_rounds()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(frame.columns)
    writer.writerows(frame.itertuples(index=False, name=None))
    return File(text.getvalue().encode(), "text/csv; charset=utf-8", "rewards.csv")


def export_parquet(given: Given) -> File:
    """The same as Parquet."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    frame = given.controller.export_rounds()
    table = pa.table({name: _column(tuple(frame[name])) for name in frame.columns})
    out = io.BytesIO()
    parquet.write_table(table, out)
    return File(out.getvalue(), "application/vnd.apache.parquet", "rewards.parquet")


def _column(cells: tuple[Any, ...]) -> list[Any]:
    """Cells of one kind: all of them text where some are."""
    mixed = any(isinstance(cell, str) for cell in cells)
    return [cell if cell is None or not mixed else str(cell) for cell in cells]


ROUND = shape(
    seq=s.INTEGER,
    time=s.TIME,
    round=s.INTEGER,
    trial=s.WHICH,
    reward=s.MAYBE,
    told=s.INTEGER,
    of=s.INTEGER,
)
OPERATIONS = [
    Operation(
        "history",
        "GET",
        f"{HERE}/history",
        "What happened, some events at a time: the newest first, or the oldest first after one.",
        "read",
        history,
        fields={
            "after": f.WHOLE,
            "before": f.WHOLE,
            "limit": f.WHOLE,
            "kind": f.TEXTS,
            "search": f.TEXT,
            "brief": f.FLAG,
        },
        answer=shape(entries=list_of(s.ENTRY), next=s.WHICH),
        tagged="log",
    ),
    Operation(
        "rewards",
        "GET",
        f"{HERE}/rewards",
        "What the last rounds paid, the oldest first.",
        "read",
        rewards,
        fields={"last": f.WHOLE},
        answer=shape(rounds=list_of(ROUND)),
        tagged="log",
    ),
    Operation(
        "export-csv",
        "GET",
        f"{HERE}/export.csv",
        "Every reward that counts, with its arms, as CSV.",
        "read",
        export_csv,
        kind="text/csv",
        tagged="log",
    ),
    Operation(
        "export-parquet",
        "GET",
        f"{HERE}/export.parquet",
        "Every reward that counts, with its arms, as Parquet.",
        "read",
        export_parquet,
        kind="application/vnd.apache.parquet",
        tagged="log",
    ),
]
