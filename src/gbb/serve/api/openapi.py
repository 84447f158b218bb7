"""The OpenAPI document, from the table of operations."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

import gbb
from gbb.serve.api import schemas as s
from gbb.serve.api.operations import Operation, Schema
from gbb.serve.errors import PROBLEM
from gbb.serve.fields import Field

KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A request that comes again under its key gets the first answer.",
    "schema": {"type": "string", "pattern": "^[!-~]{1,200}$"},
}
TAG = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "An ETag: 304 if nothing has changed since.",
    "schema": {"type": "string", "pattern": "^[ -~]{1,200}$"},
}
LAST = {
    "name": "Last-Event-ID",
    "in": "header",
    "required": False,
    "description": "The number of the last event that was heard.",
    "schema": {"type": "string", "pattern": "^[0-9]{1,18}$"},
}
ABOUT = (
    "Controllers of one storage: ask what each agent should do next, tell what the links paid. "
    "Names in paths are percent-encoded. Errors are problem+json with one line in `detail`."
)
REFUSALS = {
    400: "The request cannot be read.",
    401: "A token is needed, or this one is not known.",
    403: "The token does not allow this.",
    404: "There is no such thing.",
    408: "The body took too long.",
    409: "The key was used for another request.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    421: "Without tokens only localhost is answered.",
    422: "What was asked for breaks a rule of the library, which `detail` says.",
    429: "Too many requests.",
    503: "The service is busy: try again.",
}
POSTED = {408, 413, 415}


def route_extras(operation: Operation) -> dict[str, Any]:
    """What the framework documents of a route."""
    return {
        "summary": operation.about,
        "status_code": operation.status,
        "responses": _responses(operation),
        "openapi_extra": _extra(operation),
    }


def document(app: FastAPI, *, secured: bool) -> dict[str, Any]:
    """The whole document; of tokens only where there are any."""
    found = app.openapi()
    found["info"] = {"title": "gbb", "version": gbb.__version__, "description": ABOUT}
    if secured:
        bearer = {"type": "http", "scheme": "bearer"}
        found.setdefault("components", {})["securitySchemes"] = {"token": bearer}
        return found
    for item in found["paths"].values():
        for operation in item.values():
            operation.pop("security", None)
    return found


def _extra(operation: Operation) -> dict[str, Any]:
    extra: dict[str, Any] = {"parameters": _parameters(operation), "x-scope": operation.scope}
    if operation.method == "POST":
        content = {"application/json": {"schema": _body(operation)}}
        extra["requestBody"] = {"required": True, "content": content}
    if operation.scope is not None:
        extra["security"] = [{"token": []}, {}]
    return extra


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    text = {"type": "string", "minLength": 1}
    found: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": text} for name in operation.names
    ]
    if operation.method == "GET":
        found += [_query(name, field) for name, field in operation.fields.items()]
    more = {"writes": KEY, "tagged": TAG}
    found += [each for name, each in more.items() if getattr(operation, name)]
    return found + ([LAST] if operation.id == "events" else [])


def _query(name: str, field: Field) -> dict[str, Any]:
    return {
        "name": name,
        "in": "query",
        "required": field.needed,
        "description": field.what,
        "schema": dict(field.schema),
    }


def _body(operation: Operation) -> Schema:
    fields = operation.fields
    properties = {
        name: {**_body_field(field), "description": field.what} for name, field in fields.items()
    }
    needed = [name for name, field in fields.items() if field.needed]
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        **({"required": needed} if needed else {}),
    }


def _body_field(field: Field) -> Schema:
    """What a field may be; null is as leaving it out."""
    if field.needed or "anyOf" in field.schema or "enum" in field.schema:
        return dict(field.schema)
    return {"anyOf": [dict(field.schema), {"type": "null"}]}


def _responses(operation: Operation) -> dict[int | str, dict[str, Any]]:
    if operation.answer is None:
        kind: dict[str, Any] = {operation.kind: {"schema": {"type": "string"}}}
    else:
        kind = {operation.kind: {"schema": operation.answer}}
    found: dict[int | str, dict[str, Any]] = {
        operation.status: {"description": operation.about, "content": kind}
    }
    if operation.tagged:
        found[304] = {"description": "Nothing has changed."}
    for status, text in REFUSALS.items():
        if status in POSTED and operation.method != "POST":
            continue
        if status == 409 and not operation.writes:
            continue
        found[status] = {"description": text, "content": {PROBLEM: {"schema": s.PROBLEM}}}
    return found
