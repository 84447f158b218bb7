"""Types of the fields of requests: what is of another kind is refused in one line, not converted.

Python gives objects (arrays, tables, trials, contexts of any form); a line of JSON gives lists, numbers
and text, which are read more strictly: :data:`JSON` says which of the two a request is built from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationError, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from gbb._support import checks
from gbb._support.checks import InputError
from gbb.contexts.base import from_json
from gbb.controller.state.report import Label

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    Rewards = ArrayLike | Mapping[Any, float | None] | pd.DataFrame | str | Path
    """Rewards by order or by name, as :meth:`gbb.Controller.tell` takes them."""

Names = Label | Iterable[Label] | None
"""One name, several, or None for all."""

Allocation = ArrayLike | Mapping[Any, Any]
Read = Callable[[str, Any], Any]
Schema = dict[str, Any]

JSON = {"json": True}
"""The validation context of requests that come as JSON."""

SHOWN = 60

MAX_ASKED = 1000
"""Trials that are asked for at once: others wait meanwhile, and all of them take memory."""

INTEGER = {"type": "integer"}
REAL = {"type": "number"}
STRING = {"type": "string"}
NAME = {"type": ["string", "integer"]}


@dataclass(frozen=True, eq=False)
class Kind:
    """What a field may be.

    Attributes
    ----------
    what
        In a word or two.
    schema
        As a JSON schema.
    read
        Checks a value, called by the field's name.
    python
        The same of a value that Python gives; as it is if None, to be checked where it is used.
    """

    what: str
    schema: Schema
    read: Read
    python: Read | None = None

    def __get_pydantic_core_schema__(self, source: Any, _: GetCoreSchemaHandler) -> CoreSchema:
        """Validate by our own checks, whose errors are those of the whole library."""
        return core_schema.with_info_plain_validator_function(self._validate)

    def __get_pydantic_json_schema__(self, _core: CoreSchema, _handler: Any) -> Schema:
        """Return what the field may be, for the documentation of the service."""
        return dict(self.schema)

    def _validate(self, value: Any, info: ValidationInfo) -> Any:
        read = self.read if info.context == JSON else self.python
        return value if read is None else read(info.field_name or "", value)


class JsonRewards(NamedTuple):
    """Rewards as JSON has them, which are read once it is known what a round reports."""

    data: Any


class Fields(BaseModel):
    """Fields that are checked; an error is one line that names the field."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    @classmethod
    def read(cls, what: str, fields: Mapping[str, Any], context: Any = None) -> Self:
        """Read the fields of ``what``; None stands for one that is left out."""
        known = cls.model_fields
        given = {
            name: value
            for name, value in fields.items()
            if value is not None or name not in known or known[name].is_required()
        }
        try:
            return cls.model_validate(given, context=context)
        except ValidationError as error:
            raise InputError(error_line(what, cls, error)) from None

    @property
    def given(self) -> dict[str, Any]:
        """The fields that were given."""
        return {name: getattr(self, name) for name in sorted(self.model_fields_set)}


def error_line(what: str, model: type[BaseModel], error: ValidationError) -> str:
    """Return what is wrong with the fields of ``what``, in one line."""
    fields, errors = model.model_fields, error.errors(include_url=False)
    unknown = next((each for each in errors if each["type"] == "extra_forbidden"), None)
    if unknown is not None:
        name, known = str(unknown["loc"][-1]), ", ".join(fields) or "none"
        text = f"{what!r} has no field {show(name)}; it has {known}."
        return f"{text} {checks.suggest(name, fields)}".rstrip()
    first = errors[0]
    if first["type"] == "missing":
        name = str(first["loc"][-1])
        kind = next((each for each in fields[name].metadata if isinstance(each, Kind)), None)
        return f"{what!r} needs the field {name!r} ({kind.what if kind else 'a value'})."
    return str(first.get("ctx", {}).get("error", first["msg"]))


def show(value: Any) -> str:
    """Return a value as a message shows it, or what kind it is if that would be long."""
    shown = repr(value)
    if len(shown) <= SHOWN:
        return shown
    return f"a {type(value).__name__} of {len(shown)} characters"


def _integer(name: str, value: Any) -> int:
    return checks.integer(name, value)


def _positive(name: str, value: Any) -> int:
    return checks.integer(name, value, low=1)


def read_count(name: str, value: Any) -> int:
    """Check how many trials are asked for at once."""
    return checks.integer(name, value, low=1, high=MAX_ASKED)


def _number(name: str, value: Any) -> float:
    if isinstance(value, str):
        raise checks.input_error(name, "be a finite number", show(value))
    return checks.real(name, value)


def _real(**limits: Any) -> Kind:
    """Return the kind of a number within limits; JSON has no numbers in text."""

    def python(name: str, value: Any) -> float:
        return checks.real(name, value, **limits)

    return Kind("number", REAL, lambda name, value: python(name, _number(name, value)), python)


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
        shown = ascii(value)[:SHOWN]
        raise checks.input_error(name, "be text that UTF-8 can hold", shown) from None
    return value


def _texts(name: str, value: Any) -> list[str]:
    several = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    return [_text(name, each) for each in (value if several else [value])]


def _key(name: str, value: Any) -> str:
    # A table can hold it and gives the same back: blanks around cells do not count there.
    text = _text(name, value)
    if not text or text != text.strip() or not text.isprintable():
        rule = "be a text on one line that is not empty and has no blanks around it"
        raise checks.input_error(name, rule, repr(value))
    return text


def _label(name: str, value: Any) -> Label:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise checks.input_error(name, "be a name or a number", show(value))
    return value


def _labels(name: str, value: Any) -> list[Label] | None:
    if value is None:
        return None
    return [_label(name, each) for each in (value if isinstance(value, list) else [value])]


def list_names(_name: str, names: Names) -> list[Label] | None:
    """Return a list of names; None stays None."""
    if names is None:
        return None
    if isinstance(names, np.ndarray):
        names = names.ravel().tolist()
    one = isinstance(names, str) or not isinstance(names, Iterable)
    given: list[Any] = [names] if one else list(names)  # type: ignore[arg-type]
    if isinstance(names, Set):
        given.sort(key=str)  # a set has no order, and the log should not depend on chance
    return [name.item() if isinstance(name, np.generic) else name for name in given]


def _one_name(name: str, value: Any) -> Label:
    names = list_names(name, value)
    if names is None or len(names) != 1:
        cure = "Call allow(agents) to let them play all arms again."
        raise checks.input_error(name, "be one arm", repr(value), cure)
    return names[0]


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


SETTINGS_TAKEN = ("self", "url", "problem", "policy", "seed", "name", "cut", "by", "key", "body")


def _settings(name: str, value: Any) -> dict[str, Any]:
    for taken in SETTINGS_TAKEN:
        if taken in _object(name, value):
            cure = "`cut` is a field of its own." if taken == "cut" else ""
            raise checks.conflict(f"`settings` cannot hold {taken!r} here. {cure}".rstrip())
    return dict(value)


def _context(name: str, value: Any) -> Any:
    """A name or number; numbers in order or by name; or types of edges, with weights or without."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | list | dict):
        raise checks.input_error(name, "be what is known before the round", show(value))
    return from_json(name, value)


def _contexts(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise checks.input_error(name, "be a list of contexts", show(value))
    return [_context(name, each) for each in value]


def _rewards(_name: str, value: Any) -> JsonRewards:
    return JsonRewards(value)


def list_of(items: Schema, **more: Any) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items, **more}


def _either(*kinds: Schema) -> Schema:
    return {"anyOf": list(kinds)}


PAIR = list_of(NAME, minItems=2, maxItems=2)
BY_AGENT = {"type": "object", "additionalProperties": NAME}
KNOWN = {"type": ["string", "number", "array", "object"]}
NAMES = _either(NAME, list_of(NAME), {"type": "null"})

Integer = Annotated[int, Kind("whole number", INTEGER, _integer, _integer)]
Positive = Annotated[int, Kind("whole number", INTEGER, _positive, _positive)]
Count = Annotated[int, Kind("whole number", INTEGER, read_count, read_count)]
Number = Annotated[float, _real()]
PositiveNumber = Annotated[float, _real(low=0.0, low_open=True)]
NotNegative = Annotated[float, _real(low=0.0)]
Share = Annotated[float, _real(low=0.0, low_open=True, high=1.0)]
Flag = Annotated[bool, Kind("true or false", {"type": "boolean"}, _flag, _flag)]
Text = Annotated[str, Kind("text", STRING, _text, _text)]
Texts = Annotated[
    list[str], Kind("text, or a list of texts", _either(STRING, list_of(STRING)), _texts, _texts)
]
Key = Annotated[str, Kind("text", STRING, _key, _key)]
OneName = Annotated[Label, Kind("name or number", NAME, _label, _one_name)]
Labels = Annotated[
    list[Label] | None,
    Kind("name, number, a list of them, or null for all", NAMES, _labels, list_names),
]
ByAgent = Annotated[
    Any, Kind("object agent: arm", _either(BY_AGENT, list_of(INTEGER)), _allocation)
]
Pairs = Annotated[list[tuple[Label, Label]], Kind("list of pairs of agents", list_of(PAIR), _pairs)]
Numbers = Annotated[list[float], Kind("list of numbers", list_of(REAL), _numbers)]
Matrix = Annotated[
    list[list[float]], Kind("list of lists of numbers", list_of(list_of(REAL)), _matrix)
]
Object = Annotated[dict[str, Any], Kind("object", {"type": "object"}, _object)]
Settings = Annotated[dict[str, Any], Kind("object", {"type": "object"}, _settings)]
Context = Annotated[Any, Kind("what is known before the round", KNOWN, _context)]
Contexts = Annotated[Any, Kind("list of contexts", list_of(KNOWN), _contexts)]
TrialNumber = Annotated[Any, Kind("whole number", INTEGER, _integer)]
Reported = Annotated[Any, Kind("rewards", {"type": ["array", "object", "number"]}, _rewards)]
