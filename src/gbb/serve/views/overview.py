"""All controllers at a glance."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from gbb.controller import Controller
from gbb.controller.log.events import StorageError
from gbb.controller.queries.status import read_status
from gbb.controller.types import list_of
from gbb.serve.api import schemas as s
from gbb.serve.api.operations import HERE, Given, Operation
from gbb.serve.api.schemas import shape
from gbb.serve.moment import desk_of

GLANCE = shape(
    name=s.TEXT,
    policy=s.TEXT,
    agents=s.INTEGER,
    edges=s.INTEGER,
    arms=s.INTEGER,
    rounds=s.INTEGER,
    open=s.INTEGER,
    events=s.INTEGER,
    last_reward=s.MAYBE,
    last_told=s.INTEGER,
    last_of=s.INTEGER,
    last_time=s.NOTE,
    alerts=list_of(s.ALERT),
    caveat=s.NOTE,
)


def controllers(given: Given) -> dict[str, Any]:
    """Every controller that the caller may see."""
    studies = given.service.studies
    seen = [name for name in studies.names() if given.caller.sees(name)]
    return {"controllers": [_look(given, name) for name in seen]}


def _look(given: Given, name: str) -> dict[str, Any]:
    """A controller in a line; where it cannot be read, that."""
    try:
        return glance(name, given.service.studies.find(name))
    except StorageError as error:
        given.service.studies.forget(name)  # to be opened anew by the next request
        text, now = " ".join(str(error).split()), datetime.now(UTC).isoformat()
    alert = {"kind": "storage", "severity": "critical", "since": now, "text": text}
    sizes = ("agents", "edges", "arms", "rounds", "open", "events", "last_told", "last_of")
    nothing = dict.fromkeys(sizes, 0)
    unknown = dict.fromkeys(("last_reward", "last_time", "caveat"))
    return {"name": name, "policy": "", **nothing, **unknown, "alerts": [alert]}


def glance(name: str, controller: Controller) -> dict[str, Any]:
    """A controller in a line."""
    moment = desk_of(controller).now()
    status = read_status(moment.state)
    last = controller.history(last=1)
    paid = controller.rewards(last=1)
    alerts = status["alerts"]
    caveat = next((each["text"] for each in alerts if each["kind"] == "caveat"), None)
    return {
        "name": name,
        **{key: status[key] for key in ("policy", "edges", "arms", "rounds", "events")},
        "agents": moment.problem.n,
        "open": len(moment.state.open),
        "last_reward": paid[-1].reward if paid else None,
        "last_told": paid[-1].observed if paid else 0,
        "last_of": paid[-1].possible if paid else 0,
        "last_time": last[-1].time.astimezone(UTC).isoformat() if last else None,
        "alerts": alerts,
        "caveat": caveat,
    }


def status(given: Given) -> dict[str, Any]:
    """Sizes and progress of one controller."""
    found = read_status(desk_of(given.controller).now().state)
    now = datetime.now(UTC).timestamp()
    open = desk_of(given.controller).now().state.open
    ages = {str(id): round(max(0.0, now - ask.since), 3) for id, ask in sorted(open.items())}
    return {"name": given.controller.name, **found, "ages": ages}


OPERATIONS = [
    Operation(
        "controllers",
        "GET",
        "/v1/controllers",
        "All controllers at a glance.",
        "read",
        controllers,
        answer=shape(controllers=list_of(GLANCE)),
    ),
    Operation(
        "controller",
        "GET",
        HERE,
        "Sizes and progress, and for how many seconds trials have been open.",
        "read",
        status,
        answer=s.STATUS,
        tagged="log",
    ),
]
