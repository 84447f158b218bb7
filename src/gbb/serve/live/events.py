"""Events as they happen: one watcher for each controller, and all who listen to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor
from datetime import UTC, datetime
from typing import Any

from gbb._support.json_text import as_json
from gbb.controller import Controller
from gbb.controller.log.events import Event
from gbb.controller.log.log import Transaction
from gbb.controller.queries.history import asked_at
from gbb.controller.state.fold import read_told
from gbb.controller.state.replay import problem_at
from gbb.serve.errors import busy

LOOK = 0.1
"""Seconds between looks for what other processes wrote, and between two deliveries."""

FEW = 500
"""Events that are read at once."""

BEHIND = 64
"""Deliveries that a listener may be behind; a slower one is let go, and may come again."""


class Listener:
    """Someone who listens: what is still to be sent, and the last event that was."""

    def __init__(self) -> None:
        self.waiting: asyncio.Queue[bytes | None] = asyncio.Queue(BEHIND)
        self.gone = False

    def send(self, text: bytes | None) -> None:
        """Deliver, or let a listener go that does not keep up; None is the end."""
        if self.gone:
            return
        if self.waiting.full():
            self.gone = True
            self.waiting.get_nowait()
            text = None
        self.waiting.put_nowait(text)


class Watcher:
    """Looks at a controller while somebody listens."""

    def __init__(self, find: Callable[[], Controller], threads: Executor, seq: int) -> None:
        self.find, self.threads, self.seq = find, threads, seq
        self.listeners: set[Listener] = set()
        self.news = asyncio.Event()
        self.task = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                async with asyncio.timeout(LOOK):
                    await self.news.wait()
            except TimeoutError:
                pass
            self.news.clear()
            start = time.monotonic()
            try:
                seq, text = await loop.run_in_executor(self.threads, read_news, self.find, self.seq)
            except (
                Exception
            ):  # deleted, called otherwise now, or unreadable: who comes again is told
                self.end()
                return
            if seq > self.seq:
                self.seq = seq
                for listener in self.listeners:
                    listener.send(text)
                pause = max(LOOK, len(self.listeners) / 1000) - (time.monotonic() - start)
                await asyncio.sleep(max(0.0, pause))

    def end(self) -> None:
        """Let everybody go."""
        for listener in self.listeners:
            listener.send(None)


class Hub:
    """All watchers, by the names of their controllers."""

    def __init__(self, find: Callable[[str], Controller], threads: Executor, most: int) -> None:
        self._find, self._threads, self._most = find, threads, most
        self._watchers: dict[str, Watcher] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    @property
    def listening(self) -> int:
        """How many listen."""
        return sum(len(each.listeners) for each in self._watchers.values())

    def join(self, name: str, seq: int) -> tuple[Listener, int]:
        """Listen to a controller whose last event is ``seq``; from which one on is delivered."""
        self._loop = asyncio.get_running_loop()
        if self._closed or self.listening >= self._most:
            raise busy("As many listen as may. Try again later.", 10)
        watcher = self._watchers.get(name)
        if watcher is None or watcher.task.done():
            watcher = Watcher(lambda: self._find(name), self._threads, seq)
            self._watchers[name] = watcher
        listener = Listener()
        watcher.listeners.add(listener)
        return listener, watcher.seq

    def leave(self, name: str, listener: Listener) -> None:
        """Listen no more; the last one ends the watch."""
        listener.gone = True
        watcher = self._watchers.get(name)
        if watcher is None:
            return
        watcher.listeners.discard(listener)
        if not watcher.listeners:
            watcher.task.cancel()
            self._watchers.pop(name, None)

    def wake(self, name: str) -> None:
        """Look at once: this process wrote something. May be called from any thread."""
        watcher, loop = self._watchers.get(name), self._loop
        if watcher is not None and loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(watcher.news.set)

    def close(self) -> None:
        """Let everybody go, for good. May be called from any thread."""
        self._closed = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        for watcher in self._watchers.values():
            watcher.end()
            watcher.task.cancel()


def read_news(find: Callable[[], Controller], after: int) -> tuple[int, bytes]:
    """The last event's number, and those after one as they are sent; some of them, if they are many."""
    controller = find()
    if controller.refresh().seq <= after:
        return after, b""
    return read_events(controller, after)


def read_events(controller: Controller, after: int, most: int = FEW) -> tuple[int, bytes]:
    """Events after one, as they are sent, and the number of the last of them."""
    with controller._log.read() as view:
        events = view.study.page(most, after=after)
        asked = asked_at(view, events)
        text = b"".join(_format(view, event, asked) for event in events)
    return (events[-1].seq if events else after), text


def _format(view: Transaction, event: Event, asked: dict[int | None, int]) -> bytes:
    said = describe(view, event, asked)
    return f"id: {event.seq}\nevent: {event.kind}\ndata: {as_json(said)}\n\n".encode()


def describe(view: Transaction, event: Event, asked: dict[int | None, int]) -> dict[str, Any]:
    """An event in short: never what all agents play."""
    about: dict[str, Any] = {
        "seq": event.seq,
        "time": datetime.fromtimestamp(event.time, UTC).isoformat(),
        "kind": event.kind,
        "trial": event.trial,
        "by": event.by,
    }
    if event.kind in ("tell", "attach"):
        seen = read_told(event, problem_at(view, asked.get(event.trial, event.seq)))
        about["reward"] = float(seen.values.sum())
    return {**about, "rounds": view.state.rounds, "open": len(view.state.open)}
