"""How much one caller may ask for: bytes, values and requests a second."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from typing import NamedTuple

from starlette.requests import ClientDisconnect, Request

from gbb.serve.errors import Refused, unreadable

MOST_CALLERS = 10_000
"""Of how many callers it is kept how much they asked lately."""

DRAINED = 4
"""Up to so many times the largest body is let pass unread: most callers hear nothing before they end."""


class Limits(NamedTuple):
    """What a request, and a caller, may ask for.

    Attributes
    ----------
    bytes
        The largest body.
    values
        The most numbers, texts and lists in a body.
    rate
        Requests a second of one caller, in the long run; twice as many at once.
    failures
        Wrong tokens a second from one address.
    seconds
        For how long a body may take to arrive.
    waiting
        How many requests may wait for a thread.
    listeners
        How many may listen to events.
    """

    bytes: int = 1 << 25
    values: int = 1 << 21
    rate: float = 2000.0
    failures: float = 5.0
    seconds: float = 60.0
    waiting: int = 512
    listeners: int = 1000


class Rate:
    """Counts what callers do: a bucket for each, that fills at a rate and never over twice of it."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def left(self, caller: str) -> float:
        """What ``caller`` has left."""
        left, then = self._left.get(caller, (2.0 * self.rate, 0.0))
        return min(2.0 * self.rate, left + (time.monotonic() - then) * self.rate)

    def take(self, caller: str) -> bool:
        """Count one; False where none was left."""
        left = self.left(caller)
        self._left[caller] = (max(0.0, left - 1.0), time.monotonic())
        self._left.move_to_end(caller)
        if len(self._left) > MOST_CALLERS:
            self._left.popitem(last=False)
        return left >= 1.0


async def read_body(request: Request, limits: Limits) -> bytes:
    """The whole body, unless it is too large or too slow."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > DRAINED * limits.bytes:
        raise _too_large(limits)
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(limits.seconds):
            async for chunk in request.stream():
                size += len(chunk)
                if size > DRAINED * limits.bytes:
                    raise _too_large(limits)
                if size <= limits.bytes:
                    chunks.append(chunk)
    except TimeoutError:
        raise Refused(408, f"The body took longer than {limits.seconds:g} s to arrive.") from None
    except ClientDisconnect:
        raise unreadable("The body ended before it was whole.") from None
    if size > limits.bytes:
        raise _too_large(limits)
    body = b"".join(chunks)
    if sum(body.count(mark) for mark in (b",", b"[", b"{")) > limits.values:
        raise Refused(413, f"A request may hold at most {limits.values:,} values.")
    return body


def _too_large(limits: Limits) -> Refused:
    return Refused(413, f"A body may have at most {limits.bytes:,} bytes.", Connection="close")
