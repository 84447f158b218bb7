"""An operation of the service: where it is, who may call it, what it takes and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gbb.controller import Controller
from gbb.serve.access.guard import Caller
from gbb.serve.errors import not_found
from gbb.serve.fields import Field

if TYPE_CHECKING:
    from gbb.serve.service import Service

Schema = dict[str, Any]
HERE = "/v1/controllers/{name}"
"""Where a controller is."""


@dataclass(frozen=True)
class Given:
    """A request, as an operation gets it.

    Attributes
    ----------
    service
        The service.
    caller
        Who sent it.
    values
        Its fields, checked.
    path
        The names in its path.
    key
        Its idempotency key.
    body
        What the body says, to the last byte.
    operation
        Which operation it is for.
    """

    service: Service
    caller: Caller
    values: Mapping[str, Any] = field(default_factory=dict)
    path: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None
    body: bytes = b""

    operation: str = ""

    @property
    def said(self) -> bytes:
        """What must be the same where it comes again under the same key."""
        return f"{self.operation}\n".encode() + self.body

    @property
    def controller(self) -> Controller:
        """The controller that the path names."""
        return self.service.studies.find(self.path["name"], self.caller.sees)


@dataclass(frozen=True)
class File:
    """An answer that is no JSON: its bytes, their type and the name to save them under."""

    content: bytes
    kind: str
    name: str = ""


@dataclass(frozen=True)
class Operation:
    """One of the things that the service does.

    Attributes
    ----------
    id
        What the documentation calls it.
    method, path
        Where it is.
    about
        What it does, in a line.
    scope
        What a token must be good for; None where none is needed.
    run
        Does it, in a thread of its own.
    fields
        What it takes: from the query of a GET, from the body of a POST.
    answer
        The schema of what it answers with; None where that is no JSON.
    kind
        The type of what it answers with.
    status
        The status of what it answers with.
    writes
        Whether it changes anything, and so takes an idempotency key.
    tagged
        What its answer changes with: ``log``, ``problem``, or nothing that a tag could say.
    """

    id: str
    method: str
    path: str
    about: str
    scope: str | None
    run: Callable[[Given], Any]
    fields: Mapping[str, Field] = field(default_factory=dict)
    answer: Schema | None = None
    kind: str = "application/json"
    status: int = 200
    writes: bool = False
    tagged: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names in its path."""
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))


def position(given: Given, agent: str) -> int:
    """The number of an agent of the path."""
    graph = given.controller.problem.graph
    try:
        return graph.index(agent)
    except ValueError as error:
        raise not_found(str(error)) from None
