"""What events hold: plain values as JSON that round-trips exactly, bulky arrays as bytes; no pickle."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np

from gbb._support.checks import FloatArray, IntArray

Kinds = Mapping[str, type]
"""The named tuples and dataclasses a text may hold, by class name."""

TAGS = {"float", "array", "tuple", "named", "dict"}

RNG_SIZE = 21
"""Bytes of a packed generator state: 16 of the state, 1 flag, 4 of the spare half."""


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


class Observed(NamedTuple):
    """What was told of one round.

    Attributes
    ----------
    positions
        Of the edges (in the graph's edge order) or agents that were seen, increasing; None when all
        were.
    values
        Their rewards.
    """

    positions: IntArray | None
    values: FloatArray

    def spread(self, count: int) -> FloatArray:
        """All ``count`` numbers of the round, NaN for those that were not told."""
        if self.positions is None:
            return self.values
        numbers = np.full(count, np.nan)
        numbers[self.positions] = self.values
        return numbers


def pack_allocation(allocation: IntArray, K: int) -> bytes:
    """The arm indices in the fewest whole bytes each."""
    return allocation.astype(_arm_type(K)).tobytes()


def unpack_allocation(data: bytes, n: int, K: int) -> IntArray:
    """The first ``n`` arm indices of ``data``."""
    arms = np.frombuffer(data, dtype=_arm_type(K), count=n).astype(np.int64)
    arms.flags.writeable = False
    return arms


def allocation_size(n: int, K: int) -> int:
    """How many bytes a packed allocation has."""
    return n * _arm_type(K).itemsize


def pack_played(arms: IntArray, K: int) -> bytes:
    """The arms of a round that was played in part, -1 for those that nobody knows.

    A bit for each agent, then the arms that are known.
    """
    known = arms >= 0
    return np.packbits(known).tobytes() + pack_allocation(arms[known], K)


def unpack_played(data: bytes, n: int, K: int, known: int) -> IntArray:
    """What :func:`pack_played` was given, of which ``known`` arms are known."""
    size = (n + 7) // 8
    bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8, count=size), count=n)
    arms = np.full(n, -1, dtype=np.int64)
    arms[np.flatnonzero(bits)] = unpack_allocation(data[size:], known, K)
    arms.flags.writeable = False
    return arms


def played_size(n: int, K: int, known: int) -> int:
    """How many bytes :func:`pack_played` makes of ``n`` arms."""
    return (n + 7) // 8 + allocation_size(known, K)


def pack_rewards(observed: Observed, count: int) -> bytes:
    """The rewards as doubles, after a bit for each of ``count`` when some are missing."""
    values = observed.values.astype("<f8").tobytes()
    if observed.positions is None:
        return values
    seen = np.zeros(count, dtype=bool)
    seen[observed.positions] = True
    return np.packbits(seen).tobytes() + values


def unpack_rewards(data: bytes, count: int, *, partial: bool) -> Observed:
    """What :func:`pack_rewards` was given."""
    if not partial:
        return Observed(None, np.frombuffer(data, dtype="<f8", count=count).astype(np.float64))
    size = (count + 7) // 8
    bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8, count=size), count=count)
    values = np.frombuffer(data, dtype="<f8", offset=size).astype(np.float64)
    return Observed(np.flatnonzero(bits), values)


def pack_rng(rng: np.random.Generator) -> bytes:
    """Where a generator stands on its stream; which stream it is, the seed says."""
    state: dict[str, Any] = dict(rng.bit_generator.state)
    place = int(state["state"]["state"]).to_bytes(16, "little")
    spare = bytes([state["has_uint32"]]) + int(state["uinteger"]).to_bytes(4, "little")
    return place + spare


def unpack_rng(seed: np.random.SeedSequence, data: bytes) -> np.random.Generator:
    """A generator of ``seed``'s stream that stands where ``data`` says."""
    bits = np.random.PCG64(seed)
    state: Any = dict(bits.state)
    state["state"] = state["state"] | {"state": int.from_bytes(data[:16], "little")}
    state["has_uint32"] = data[16]
    state["uinteger"] = int.from_bytes(data[17:RNG_SIZE], "little")
    bits.state = state
    return np.random.Generator(bits)


def _arm_type(K: int) -> np.dtype[Any]:
    return np.dtype(np.min_scalar_type(K - 1)).newbyteorder("<")
