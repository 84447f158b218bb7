"""Allocations, rewards and generator states as bytes: the bulk of a log, kept small."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gbb._support.checks import FloatArray, IntArray

RNG_SIZE = 21
"""Bytes of a packed generator state: 16 of the state, 1 flag, 4 of the spare half."""


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
