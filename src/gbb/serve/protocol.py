"""HTTP itself: what cannot be read as a request is refused, and who keeps us waiting is let go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from gbb.serve.errors import PROBLEM, problem

HEAD = 30.0
"""Seconds in which a request must have begun: its headers must be there, and the last body whole."""

STUCK = 60.0
"""Seconds after which someone who takes nothing of an answer is let go."""


class Timer:
    """Does something after a while, unless it is stopped."""

    def __init__(self) -> None:
        self._handle: asyncio.TimerHandle | None = None

    def start(self, seconds: float, act: Callable[[], None]) -> None:
        """Start it, unless it runs."""
        if self._handle is None:
            self._handle = asyncio.get_running_loop().call_later(seconds, act)

    def stop(self) -> None:
        """Stop it, if it runs."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None


class Protocol(H11Protocol):
    """A connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request, but not for ever."""
        super().connection_made(transport)
        self._beginning, self._stuck, self._left = Timer(), Timer(), 0
        self._beginning.start(HEAD, self.transport.abort)

    def data_received(self, data: bytes) -> None:
        """Read on; who sends a byte now and then gets no longer for it."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE or self.conn.our_state is h11.DONE:
            self._beginning.start(HEAD, self.transport.abort)
        else:
            self._beginning.stop()

    def pause_writing(self) -> None:
        """Stop sending until something was taken."""
        super().pause_writing()
        self._look_again()

    def resume_writing(self) -> None:
        """Send again."""
        self._stuck.stop()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._beginning.stop()
        self._stuck.stop()
        super().connection_lost(exc)

    def _look_again(self) -> None:
        self._left = self.transport.get_write_buffer_size()
        self._stuck.stop()
        self._stuck.start(STUCK, self._let_go)

    def _let_go(self) -> None:
        """Hang up, unless some of what was left has been taken."""
        if self.transport.get_write_buffer_size() < self._left:
            self._look_again()
        else:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, and hang up."""
        said = problem(400, f"This is no HTTP that can be read: {msg.rstrip('.')}.").body
        headers = [(b"content-type", PROBLEM.encode()), (b"connection", b"close")]
        start = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
        for event in (start, h11.Data(data=bytes(said)), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
