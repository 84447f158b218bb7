"""What an operation answers with, worked out in a thread."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

from starlette.responses import Response

from gbb._support.json_text import as_json
from gbb.serve.access.foreign import refuse_foreign
from gbb.serve.api.operations import File, Given, Operation
from gbb.serve.api.query import parse_body, parse_query
from gbb.serve.fields import read_fields
from gbb.serve.moment import desk_of

JSON = "application/json"
PROBLEM = "gbb-problem"
"""The header that says which problem an answer is about."""

SCOPE = "gbb-scope"
"""The header that says what the caller may do."""

Items = list[tuple[str, str]]


def answer(operation: Operation, given: Given, items: Items, known: str) -> Response:
    """The answer, unless the caller already has it, as the tags that it knows say."""
    tag = _tag(operation, given, items)
    if tag and tag in known:
        return Response(status_code=304, headers={"etag": tag})
    posted = operation.method == "POST"
    said = parse_body(given.body) if posted else parse_query(operation.fields, items)
    values = read_fields(operation.id, operation.fields, said)
    refuse_foreign(values)
    found = operation.run(replace(given, values=values))
    headers = {"etag": tag} if tag else {}
    if "name" in given.path:
        headers[PROBLEM] = desk_of(given.controller).problem_tag()
    if isinstance(found, File):
        if found.name:
            headers["content-disposition"] = f'attachment; filename="{found.name}"'
        return Response(found.content, operation.status, headers, found.kind)
    if operation.status == 201:
        headers["location"] = f"/v1/controllers/{quote(found['name'], safe='')}"
    return Response(as_json(found), operation.status, headers, JSON)


def _tag(operation: Operation, given: Given, items: Items) -> str:
    """What changes whenever the answer does; what is recommended may be found a little later."""
    if not operation.tagged or ("of", "recommended") in items:
        return ""
    desk = desk_of(given.controller)
    if operation.tagged == "problem":
        desk.now()
        return desk.problem_tag()
    return desk.tag()
