"""What a query, or a body, says, by the fields of an operation."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from gbb._support import checks
from gbb._support.checks import InputError
from gbb._support.json_text import parse_json
from gbb.controller.types import show
from gbb.serve import fields as f
from gbb.serve.errors import unreadable
from gbb.serve.fields import Field

WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
HALF = re.compile(rb"\\u[dD][89a-fA-F]")
"""Half of a character, which may be one of two."""


def parse_body(body: bytes) -> dict[str, Any]:
    """The object that a body is; an empty one is one without fields."""
    if not body:
        return {}
    try:
        data = parse_json(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise unreadable("Cannot read the body: it is not text in UTF-8.") from None
    except ValueError as error:
        raise unreadable(f"Cannot read the body: {error}.") from None
    if HALF.search(body) is not None and not _is_text(data):
        raise unreadable("Cannot read the body: it has half a character, which is no text.")
    if not isinstance(data, dict):
        raise unreadable(f"The body must be a JSON object, but it is {show(data)}.")
    return data


def _is_text(data: Any) -> bool:
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def parse_query(fields: Mapping[str, Field], items: list[tuple[str, str]]) -> dict[str, Any]:
    """What a query says, as JSON would say it."""
    found: dict[str, Any] = {}
    for name, text in items:
        field = fields.get(name)
        if field is not None and field.what in (f.TEXTS.what, f.LABELS.what):
            found.setdefault(name, []).append(text)
        elif name in found:
            raise InputError(f"{name!r} comes twice in the query.")
        else:
            found[name] = text if field is None else _read(field, text)
    return found


def _read(field: Field, text: str) -> Any:
    """A value as JSON has it; the field itself refuses what it is not."""
    kind = field.schema.get("type")
    if kind == "integer" and WHOLE.fullmatch(text):
        return int(text)
    if kind == "number" and (number := checks.number_in(text)) is not None:
        return number
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    if field.what == f.CONTEXT.what:
        return _context(text)
    return text


def _context(text: str) -> Any:
    """A context: JSON, or else a name."""
    try:
        return parse_json(text)
    except ValueError:
        return text
