"""The answer that never ends: server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gbb.serve.live.events import Hub, Listener

QUIET = 15.0
"""Seconds after which a comment says that the connection still stands."""

Read = Callable[[int], Any]


class EventStream(Response):
    """Sends events, from the one after ``after`` on, until one of the two ends is gone.

    Parameters
    ----------
    hub, name
        Where events come from.
    head
        The number of the last event there is.
    after
        The last one that the listener knows.
    read
        Reads past events in a thread: the number of the last, and their text.
    known
        Whether the listener may still hear more.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        hub: Hub,
        name: str,
        head: int,
        after: int,
        read: Read,
        *,
        known: Callable[[], bool],
    ) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self.hub, self.name, self.after, self.read, self.known = hub, name, after, read, known
        self.listener, self.head = hub.join(name, head)

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Send until somebody leaves."""
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_until_gone(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.hub.leave(self.name, self.listener)
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send(self, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        await _chunk(send, b"retry: 1000\n\n")
        after = self.after
        while after < self.head and self.known():  # what happened before the listener came
            seq, text = await self.read(after)
            if seq == after:  # there is another log in its place
                break
            after = seq
            await _chunk(send, text)
        await self._pass_on(send, self.listener, after)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _pass_on(self, send: Send, listener: Listener, after: int) -> None:
        while True:
            try:
                async with asyncio.timeout(QUIET):
                    text = await listener.waiting.get()
                text = None if text is None else _after(text, after)
            except TimeoutError:
                text = b": still here\n\n"
            if text is None or not self.known():
                return
            await _chunk(send, text)


def _after(text: bytes, seq: int) -> bytes:
    """What is new of a delivery to someone who has read up to ``seq``."""
    first = int(text[4 : text.index(b"\n")])
    if first > seq:
        return text
    parts = text.split(b"\n\n")
    return b"".join(
        part + b"\n\n" for part in parts if part and int(part[4 : part.index(b"\n")]) > seq
    )


async def _chunk(send: Send, text: bytes) -> None:
    if text:
        await send({"type": "http.response.body", "body": text, "more_body": True})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
