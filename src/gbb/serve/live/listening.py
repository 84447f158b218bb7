"""``GET .../events``: what happens, as it happens."""

from __future__ import annotations

import re
from typing import Any

from starlette.responses import Response

from gbb._support import checks
from gbb.serve import fields as f
from gbb.serve.api.operations import HERE, Given, Operation
from gbb.serve.live.events import read_events
from gbb.serve.live.stream import EventStream

PLACE = re.compile(r"\d{1,18}", re.ASCII)


async def listen(given: Given, values: dict[str, Any], last: str | None) -> Response:
    """Send events after the one that the listener heard last; from now on where it says none."""
    service, name = given.service, given.path["name"]
    after = values.get("after")
    if last is not None and PLACE.fullmatch(last):
        after = int(last)
    if after is not None:
        checks.integer("after", after, low=0, high=1 << 60)

    def look() -> int:  # in a thread: the controller may have to be opened
        return given.controller.refresh().seq

    head = await service.in_thread(look)
    place = head if after is None else after

    async def read(seq: int) -> tuple[int, bytes]:
        return await service.in_thread(lambda: read_events(given.controller, seq))

    def known() -> bool:
        return service.guard.knows(given.caller)

    return EventStream(service.hub, name, head, min(place, head), read, known=known)


def _elsewhere(_: Given) -> Any:
    raise AssertionError("it is answered by a stream")


OPERATIONS = [
    Operation(
        "events",
        "GET",
        f"{HERE}/events",
        "What happens, as server-sent events; goes on after Last-Event-ID, or `after`.",
        "read",
        _elsewhere,
        fields={"after": f.WHOLE},
        kind="text/event-stream",
    )
]
