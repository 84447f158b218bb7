"""JSON as others may read it: nothing twice, nothing that is no number."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any, NoReturn


def as_json(data: Any, indent: int | None = None) -> str:
    """JSON text on one line, or indented; numbers that are not finite become null.

    >>> as_json({"low": float("-inf"), "high": 2.5})
    '{"low": null, "high": 2.5}'
    """
    try:
        return json.dumps(data, indent=indent, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(data), indent=indent, allow_nan=False)


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data


def parse_json(text: str) -> Any:
    """What JSON text says; a ValueError says why it cannot be read.

    A name that comes twice in one object, and NaN or Infinity, which are no JSON, are refused.
    """
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)
    except _TwiceError:
        raise
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is not JSON ({error})") from None


class _TwiceError(ValueError):
    """A name comes twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        again = next(name for name, count in counts.items() if count > 1)
        raise _TwiceError(f"it has {again!r} twice")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")
