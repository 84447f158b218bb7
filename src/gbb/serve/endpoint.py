"""From a request to an answer: who sent it, what it says, and what went wrong."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import unquote

from fastapi import Request
from starlette.responses import Response

from gbb._support.checks import InputError
from gbb.controller.log.events import StorageError
from gbb.controller.log.store import KeyReusedError
from gbb.serve.access.limits import read_body
from gbb.serve.answering import JSON, SCOPE, answer
from gbb.serve.api.operations import Given, Operation
from gbb.serve.api.query import parse_query
from gbb.serve.errors import Refused, busy, not_found, problem, unreadable
from gbb.serve.fields import read_fields
from gbb.serve.live.listening import listen
from gbb.serve.service import Service

KEY = re.compile(r"[\x21-\x7e]{1,200}")

log = logging.getLogger("gbb.serve")

Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]


def make_endpoint(service: Service, operation: Operation) -> Endpoint:
    """What answers the requests for an operation."""

    async def endpoint(request: Request) -> Response:
        start = time.perf_counter()
        try:
            found = await _respond(service, operation, request)
        except Exception as error:
            found = refuse(service, request, error, operation.id)
        service.metrics.observe(operation.id, found.status_code, time.perf_counter() - start)
        return found

    return endpoint


def refuse(service: Service, request: Request, error: Exception, what: str) -> Response:
    """What is said of an error: what was wrong with the request, or below; or that it is our fault."""
    if isinstance(error, Refused):
        return error.response()
    if isinstance(error, KeyReusedError):
        return problem(409, str(error))
    if isinstance(error, InputError):
        return problem(422, " ".join(str(error).split()))
    if isinstance(error, StorageError):
        return _explain(service, request, error).response()
    if isinstance(error, MemoryError | RecursionError):
        return problem(422, "This needs more memory than there is.")
    log.error("%s could not be answered", what, exc_info=error)
    said = f"gbb could not answer this ({type(error).__name__}); please report it."
    return problem(500, said)


def _explain(service: Service, request: Request, error: StorageError) -> Refused:
    """The controller is gone, or the storage does not answer now."""
    name = request.path_params.get("name")
    if name is not None:
        try:
            service.studies.check(unquote(name))
        except Refused as refused:
            return refused
        except StorageError:
            pass
        service.studies.forget(unquote(name))  # to be opened anew by the next request
    return busy(" ".join(str(error).split()))


async def _respond(service: Service, operation: Operation, request: Request) -> Response:
    """Answer a request, or refuse it."""
    path = {name: _decode(text) for name, text in request.path_params.items()}
    caller = service.guard.admit(request, operation.scope, path.get("name"))
    posted = operation.method == "POST"
    body = await read_body(request, service.limits) if posted else b""
    if posted:
        _check_kind(request, body)
    given = Given(
        service,
        caller,
        path=path,
        key=_key(request) if operation.writes else None,
        body=body,
        operation=operation.id,
    )
    items = request.query_params.multi_items()
    if posted and items:
        raise unreadable("A POST has no query: its fields go into the body.")
    if operation.id == "events":
        said = parse_query(operation.fields, items)
        values = read_fields(operation.id, operation.fields, said)
        return await listen(given, values, request.headers.get("last-event-id"))
    known = request.headers.get("if-none-match", "")
    found = await service.in_thread(
        lambda: answer(operation, given, items, known), writes=operation.writes
    )
    found.headers[SCOPE] = caller.scope
    return found


def _check_kind(request: Request, body: bytes) -> None:
    """Refuse a body that does not say that it is JSON; no form of another site can say so."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON and (body or kind):
        raise Refused(415, f"Send the body as {JSON}.", Accept=JSON)


def _key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not KEY.fullmatch(key):
        raise unreadable("An Idempotency-Key has 1 to 200 characters of ASCII and no blanks.")
    return key


def _decode(text: str) -> str:
    """A part of a path, whatever it holds."""
    try:
        found = unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise not_found("There is nothing here: the path is not text in UTF-8.") from None
    if "\x00" in found:
        raise not_found("There is nothing here.")
    return found
