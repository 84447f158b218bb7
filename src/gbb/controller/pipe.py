"""One line of JSON in, one answer out, whatever the line says."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from gbb._support import checks
from gbb._support.checks import InputError
from gbb._support.json_text import parse_json
from gbb.controller.base import BaseController
from gbb.controller.messages import REQUESTS

Answer = dict[str, Any]

MOST_BYTES = 1 << 26
"""The longest line that is read."""


def serve_line(controller: BaseController, line: bytes) -> Answer:
    """Answer a line; what goes wrong is an answer as well: ``{"error": "the one line"}``.

    The request's ``id`` comes back with it. What was warned of stands in ``warnings``: those of the
    whole process, so answer one line at a time.
    """
    about: Answer = {}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            request = _read(line)
            about = _id_of(request)
            found = respond(controller, request)
        except InputError as error:
            found = {"error": _one_line(error)}
        except MemoryError as error:
            found = {"error": _one_line(f"Not enough memory. {error}")}
        except OSError as error:
            found = {"error": _one_line(error.strerror or type(error).__name__)}
        except Exception as error:  # the pipe must go on, and its other end must hear of it
            text = f"gbb could not answer this ({type(error).__name__}: {error}); please report it."
            found = {"error": _one_line(text)}
    texts = list(dict.fromkeys(_one_line(each.message) for each in said))
    return {**about, **found, **({"warnings": texts} if texts else {})}


def respond(controller: BaseController, fields: Mapping[str, Any]) -> Answer:
    """Do what ``{"do": verb, field: value, ...}`` says; an error names the field."""
    fields = dict(fields)
    verb = checks.choice("do", fields.pop("do", None), REQUESTS)
    return controller.execute(REQUESTS[verb].from_json(fields)).to_json()


def too_long() -> Answer:
    """The answer to a line that was not read."""
    rule = f"have at most {MOST_BYTES:,} bytes"
    return {"error": str(checks.input_error("line", rule, "more"))}


def _read(line: bytes) -> dict[str, Any]:
    """The request that a line holds."""
    try:
        request = parse_json(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise InputError("Cannot read this line: it is not text in UTF-8.") from None
    except ValueError as error:
        raise InputError(f"Cannot read this line: {error}.") from None
    if not isinstance(request, dict):
        cure = 'Write {"do": "ask"}.'
        raise checks.input_error("line", "be an object", type(request).__name__, cure)
    return request


def _id_of(request: dict[str, Any]) -> Answer:
    """Take the request's ``id``, which is echoed, out of it."""
    if "id" not in request:
        return {}
    id = request.pop("id")
    if isinstance(id, bool) or not isinstance(id, str | int | float | None):
        raise checks.input_error("id", "be text or a number", type(id).__name__)
    return {"id": id}


def _one_line(text: object) -> str:
    return " ".join(str(text).split())
