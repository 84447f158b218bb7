"""Connections: who keeps a server waiting is let go."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
import uvicorn

from gbb.serve import protocol
from gbb.serve.run import bind

PARTS = {
    "nothing": b"",
    "half a head": b"GET / HTTP/1.1\r\nHost: x\r\nX: ",
    "half a second head": b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HT",
    "a body after the answer": (
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"
    ),
}


async def answer(scope, _receive, send) -> None:
    size = 1 << 24 if scope["path"] == "/large" else 2
    head = [(b"content-length", str(size).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": b"x" * size})


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[int]:
    config = uvicorn.Config(answer, http=protocol.Protocol, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    with contextlib.closing(bind("127.0.0.1", 0)) as listening:
        task = asyncio.create_task(server.serve([listening]))
        yield listening.getsockname()[1]
        server.should_exit = True
        await task


@pytest.mark.parametrize("part", PARTS)
def test_a_request_that_never_begins(monkeypatch, part):
    monkeypatch.setattr(protocol, "HEAD", 0.3)

    async def act() -> None:
        async with serving() as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(PARTS[part])
            with contextlib.suppress(ConnectionError):
                async with asyncio.timeout(20):
                    for _ in range(200):  # a byte now and then, so that it looks alive
                        if part != "nothing":
                            writer.write(b"1\r\na\r\n" if "body" in part else b"a")
                        await writer.drain()
                        await asyncio.sleep(0.05)
                        if reader.at_eof():
                            break
                    while await reader.read(1 << 16):
                        pass
            writer.close()

    asyncio.run(act())


def test_an_answer_that_nobody_takes(monkeypatch):
    monkeypatch.setattr(protocol, "STUCK", 0.3)

    async def act() -> int:
        async with serving() as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
            writer.write(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
            await asyncio.sleep(1.5)
            got = 0
            with contextlib.suppress(ConnectionError):
                async with asyncio.timeout(20):
                    while some := await reader.read(1 << 16):
                        got += len(some)
            writer.close()
            return got

    assert asyncio.run(act()) < 1 << 24


def test_an_answer_that_is_taken_slowly(monkeypatch):
    monkeypatch.setattr(protocol, "STUCK", 0.3)

    async def act() -> int:
        async with serving() as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
            writer.write(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            got = 0
            while some := await reader.read(1 << 18):
                got += len(some)
                await asyncio.sleep(0.002)
            writer.close()
            return got

    assert asyncio.run(act()) > 1 << 24
