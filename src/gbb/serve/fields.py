"""The fields of a request, each of one kind: what is of another is refused, not converted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, get_args

from pydantic.fields import FieldInfo

from gbb._support import checks
from gbb.contexts.base import from_json
from gbb.controller.state.report import Label
from gbb.controller.types import Fields, Kind

Read = Callable[[str, Any], Any]
Schema = Mapping[str, Any]


class Field(NamedTuple):
    """A field of a request.

    Attributes
    ----------
    read
        Checks its value, called by the field's name.
    what
        What its value is, in a word or two.
    schema
        The same as a JSON schema.
    needed
        Whether it must be there; others may also be null, which is as leaving them out.
    """

    read: Read
    what: str
    schema: Schema
    needed: bool = False

    @property
    def must(self) -> Field:
        """The same field where it must be there."""
        return self._replace(needed=True)


def read_fields(what: str, fields: Mapping[str, Field], given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the fields of ``what``, each checked; an error names the field."""
    for name in given.keys() - fields.keys():
        known = ", ".join(fields) or "none"
        text = f"{what!r} has no field {show(name)}; it has {known}."
        raise checks.conflict(f"{text} {checks.suggest(name, fields)}".rstrip())
    values = {}
    for name, field in fields.items():
        if name in given and (field.needed or given[name] is not None):
            values[name] = field.read(name, given[name])
        elif field.needed:
            raise checks.conflict(f"{what!r} needs the field {name!r} ({field.what}).")
    return values


def _whole(name: str, value: Any) -> int:
    return checks.integer(name, value)


def _number(name: str, value: Any) -> float:
    if isinstance(value, str):
        raise checks.input_error(name, "be a finite number", show(value))
    return checks.real(name, value)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise checks.input_error(name, "be true or false", repr(value))
    return value


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise checks.input_error(name, "be text", show(value))
    try:
        value.encode()
    except UnicodeEncodeError:
        raise checks.input_error(name, "be text that UTF-8 can hold", ascii(value)[:60]) from None
    return value


def _texts(name: str, value: Any) -> list[str]:
    return [_text(name, each) for each in (value if isinstance(value, list) else [value])]


def _label(name: str, value: Any) -> Label:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise checks.input_error(name, "be a name or a number", show(value))
    return value


def _labels(name: str, value: Any) -> list[Label] | None:
    if value is None:
        return None
    return [_label(name, each) for each in (value if isinstance(value, list) else [value])]


def _allocation(name: str, value: Any) -> dict[str, Label] | list[Label]:
    if isinstance(value, dict):
        return {agent: _label(name, arm) for agent, arm in value.items()}
    if isinstance(value, list) and all(type(arm) is int for arm in value):
        return list(value)
    cure = 'Write {"agent": "arm"}, or a list of arm numbers in agent order.'
    raise checks.input_error(name, "be an arm for every agent", show(value), cure)


def _pairs(name: str, value: Any) -> list[tuple[Label, Label]]:
    if not isinstance(value, list) or not all(isinstance(p, list) and len(p) == 2 for p in value):
        cure = 'Write [["agent", "agent"], ...].'
        raise checks.input_error(name, "be a list of pairs", show(value), cure)
    return [(_label(name, one), _label(name, other)) for one, other in value]


def _numbers(name: str, value: Any) -> list[float]:
    if not isinstance(value, list):
        raise checks.input_error(name, "be a list of numbers", show(value))
    for each in value:
        _number(name, each)
    return value


def _matrix(name: str, value: Any) -> list[list[float]]:
    if not isinstance(value, list):
        raise checks.input_error(name, "be a list of lists of numbers", show(value))
    return [_numbers(name, row) for row in value]


def _object(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise checks.input_error(name, "be an object", show(value))
    return value


def _context(name: str, value: Any) -> Any:
    """A name or number; numbers in order or by name; or types of edges, with weights or without."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | list | dict):
        raise checks.input_error(name, "be what is known before the round", show(value))
    return from_json(name, value)


def _contexts(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise checks.input_error(name, "be a list of contexts", show(value))
    return [_context(name, each) for each in value]


def _anything(_name: str, value: Any) -> Any:
    return value


def show(value: Any) -> str:
    """A value as a message shows it, or what kind it is where that would be long."""
    shown = repr(value)
    return shown if len(shown) <= 60 else f"a {type(value).__name__} of {len(shown)} characters"


INTEGER = {"type": "integer"}
REAL = {"type": "number"}
STRING = {"type": "string"}
NAME = {"type": ["string", "integer"]}
OPEN = {"type": "object"}


def list_of(items: Schema, **more: Any) -> dict[str, Any]:
    """The schema of a list."""
    return {"type": "array", "items": items, **more}


def _either(*kinds: Schema) -> Schema:
    return {"anyOf": list(kinds)}


PAIR = list_of(NAME, minItems=2, maxItems=2)
BY_AGENT = {"type": "object", "additionalProperties": NAME}
KNOWN = {"type": ["string", "number", "array", "object"]}
PAID = {"type": ["array", "object", "number"]}

WHOLE = Field(_whole, "whole number", INTEGER)
NUMBER = Field(_number, "number", REAL)
FLAG = Field(_flag, "true or false", {"type": "boolean"})
TEXT = Field(_text, "text", STRING)
TEXTS = Field(_texts, "text, or a list of texts", _either(STRING, list_of(STRING)))
LABEL = Field(_label, "name or number", NAME)
LABELS = Field(
    _labels,
    "name, number, a list of them, or null for all",
    _either(NAME, list_of(NAME), {"type": "null"}),
)
ALLOCATION = Field(_allocation, "object agent: arm", _either(BY_AGENT, list_of(INTEGER)))
PAIRS = Field(_pairs, "list of pairs of agents", list_of(PAIR))
NUMBERS = Field(_numbers, "list of numbers", list_of(REAL))
MATRIX = Field(_matrix, "list of lists of numbers", list_of(list_of(REAL)))
OBJECT = Field(_object, "object", OPEN)
CONTEXT = Field(_context, "what is known before the round", KNOWN)
CONTEXTS = Field(_contexts, "list of contexts", list_of(KNOWN))
REWARDS = Field(_anything, "rewards", PAID)


def fields_of(model: type[Fields]) -> dict[str, Field]:
    """Return the fields of a request, which the request itself will check."""
    found = {}
    for name, field in model.model_fields.items():
        kind = next(each for each in _metadata(field) if isinstance(each, Kind))
        found[name] = Field(_anything, kind.what, kind.schema, field.is_required())
    return found


def _metadata(field: FieldInfo) -> Iterator[Any]:
    """What a field is annotated with, also where it may be left out."""
    yield from field.metadata
    for part in get_args(field.annotation):
        yield from getattr(part, "__metadata__", ())
