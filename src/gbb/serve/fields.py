"""The fields of a request, each of one kind: what is of another is refused, not converted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, get_args

from pydantic.fields import FieldInfo

from gbb._support import checks
from gbb.controller import types
from gbb.controller.types import Fields, Kind, show

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


def _of(annotation: Any) -> Field:
    """The field of a type of requests."""
    kind = next(each for each in get_args(annotation) if isinstance(each, Kind))
    return Field(kind.read, kind.what, kind.schema)


WHOLE = _of(types.Integer)
NUMBER = _of(types.Number)
FLAG = _of(types.Flag)
TEXT = _of(types.Text)
TEXTS = _of(types.Texts)
LABELS = _of(types.Labels)
NUMBERS = _of(types.Numbers)
MATRIX = _of(types.Matrix)
OBJECT = _of(types.Object)
CONTEXT = _of(types.Context)


def _as_is(_name: str, value: Any) -> Any:
    return value


def fields_of(model: type[Fields]) -> dict[str, Field]:
    """Return the fields of a request, which the request itself will check."""
    found = {}
    for name, field in model.model_fields.items():
        kind = next(each for each in _metadata(field) if isinstance(each, Kind))
        found[name] = Field(_as_is, kind.what, kind.schema, field.is_required())
    return found


def _metadata(field: FieldInfo) -> Iterator[Any]:
    """What a field is annotated with, also where it may be left out."""
    yield from field.metadata
    for part in get_args(field.annotation):
        yield from getattr(part, "__metadata__", ())
