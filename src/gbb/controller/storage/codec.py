"""Settings, states and tables as JSON that round-trips exactly; no pickle."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

Kinds = Mapping[str, type]
"""The named tuples and dataclasses a text may hold, by class name."""

TAGS = {"float", "array", "tuple", "named", "dict"}


def dumps(value: Any) -> str:
    """JSON text of a tree of plain values, arrays, tuples and named tuples."""
    return json.dumps(_encode(value), separators=(",", ":"), allow_nan=False)


def loads(text: str, kinds: Kinds | None = None) -> Any:
    """What :func:`dumps` was given; named tuples only of the classes in ``kinds``."""
    return _decode(json.loads(text), kinds or {})


def _encode(value: Any) -> Any:  # noqa: PLR0911
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        text = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode("ascii")
        return {"array": [value.dtype.str, list(value.shape), text]}
    if is_dataclass(value) and not isinstance(value, type):
        items = [_encode(getattr(value, each.name)) for each in fields(value) if each.init]
        return {"named": [type(value).__name__, items]}
    if isinstance(value, tuple):
        items = [_encode(item) for item in value]
        named = hasattr(value, "_fields")
        return {"named": [type(value).__name__, items]} if named else {"tuple": items}
    if isinstance(value, list):
        return [_encode(item) for item in value]
    if isinstance(value, dict):
        plain = {key: _encode(item) for key, item in value.items()}
        # A dictionary that could be mistaken for a tag is wrapped.
        return {"dict": plain} if len(plain) == 1 and TAGS & plain.keys() else plain
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")


def _decode(value: Any, kinds: Kinds) -> Any:  # noqa: PLR0911
    if isinstance(value, list):
        return [_decode(item, kinds) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1 or not TAGS & value.keys():
        return {key: _decode(item, kinds) for key, item in value.items()}
    ((tag, body),) = value.items()
    if tag == "float":
        return float(body)
    if tag == "array":
        dtype, shape, text = body
        return np.frombuffer(base64.b64decode(text), np.dtype(dtype)).reshape(shape).copy()
    if tag == "tuple":
        return tuple(_decode(item, kinds) for item in body)
    if tag == "named":
        return kinds[body[0]](*(_decode(item, kinds) for item in body[1]))
    return {key: _decode(item, kinds) for key, item in body.items()}
