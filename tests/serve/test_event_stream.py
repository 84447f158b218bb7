"""Server-sent events: all of them, each once, in order, whoever wrote them and whatever breaks."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from test_service import PROBLEM, REWARDS

from control import small
from gbb.client import Client
from gbb.controller import Controller


class Stream:
    """A listener."""

    def __init__(self, server, path: str, last: int | None = None, query: str = "") -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        headers = {} if last is None else {"Last-Event-ID": str(last)}
        self._connection.request("GET", f"{path}/events{query}", headers=headers)
        self.answer = self._connection.getresponse()

    def __iter__(self) -> Iterator[dict]:
        about: dict = {}
        for line in self.answer:
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name:
                about[name] = value
            elif "data" in about:
                data = json.loads(about["data"])
                assert about["id"] == str(data["seq"])
                assert about["event"] == data["kind"]
                yield data
                about = {}

    def take(self, count: int) -> list[dict]:
        each = iter(self)
        return [next(each) for _ in range(count)]

    def close(self) -> None:
        self.answer.close()
        self._connection.close()


@pytest.fixture
def farm(forks, tmp_path):
    """A server of its own, the URL of its storage, and a controller's path."""
    url = f"sqlite:///{tmp_path / 'farm.db'}"
    with forks.serving(url) as server:
        server.post("/v1/controllers", {"name": "farm", "problem": PROBLEM})
        yield server, url, "/v1/controllers/farm"


def test_events_come_as_they_happen(farm):
    server, url, place = farm
    with contextlib.closing(Stream(server, place)) as stream:
        assert stream.answer.getheader("content-type").startswith("text/event-stream")
        server.post(f"{place}/ask")
        start = time.monotonic()
        server.post(f"{place}/tell", {"trial": 1, "rewards": REWARDS})
        asked, told = stream.take(2)
        assert time.monotonic() - start < 5.0
        assert (asked["seq"], asked["kind"], asked["trial"]) == (2, "ask", 1)
        assert (told["seq"], told["kind"], told["by"]) == (3, "tell", "local")
        assert told["reward"] == pytest.approx(1.0)
        assert (told["rounds"], told["open"]) == (1, 0)
        assert "allocation" not in asked
        with Controller.open(url) as other:  # another process's write
            other.discount(0.5)
        (discount,) = stream.take(1)
        assert (discount["kind"], discount["by"]) == ("discount", None)


@pytest.mark.parametrize("how", ["header", "query"])
def test_a_listener_goes_on_after_the_last_event_it_heard(farm, how):
    server, _, place = farm
    for _ in range(6):
        server.post(f"{place}/ask")
    given = {"last": 4} if how == "header" else {"query": "?after=4"}
    with contextlib.closing(Stream(server, place, **given)) as stream:
        assert [event["seq"] for event in stream.take(3)] == [5, 6, 7]
        server.post(f"{place}/ask")
        assert [event["seq"] for event in stream.take(1)] == [8]


def test_every_event_once_and_in_order_through_a_server_that_is_killed(forks, tmp_path):
    url = f"sqlite:///{tmp_path / 'farm.db'}"
    server = forks.start(url)
    heard: list[int] = [0]
    place, last = "/v1/controllers/farm", 61

    def listen() -> None:
        until = time.monotonic() + 100
        while heard[-1] < last and time.monotonic() < until:
            with (
                contextlib.suppress(OSError, http.client.HTTPException),
                contextlib.closing(Stream(server, place, heard[-1])) as stream,
            ):
                for event in stream:
                    heard.append(event["seq"])
                    if event["seq"] == last:
                        return
            time.sleep(0.02)

    listener = threading.Thread(target=listen)
    try:
        with Client.create(server.url, small(), name="farm", patience=100.0) as client:
            listener.start()
            for number in range(30):
                trial = client.ask()
                client.fail(trial)
                if number in (8, 20):
                    server.kill()
                    server = forks.start(url, server.port)
            listener.join(120)
    finally:
        server.stop()
    assert heard == list(range(last + 1))


def test_a_listener_that_does_not_read_is_let_go_and_others_are_not(farm):
    server, _, place = farm
    slow = socket.create_connection(("127.0.0.1", server.port))
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    with contextlib.closing(slow):
        slow.sendall(f"GET {place}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        with contextlib.closing(Stream(server, place)) as stream:
            for _ in range(4):
                server.post(f"{place}/ask", {"count": 100})
            heard = [event["seq"] for event in stream.take(400)]
    assert heard == list(range(2, 402))


def test_there_is_nothing_to_hear_of_what_is_not_there(farm):
    server, _, _ = farm
    assert server.get("/v1/controllers/nobody/events").status == 404


def test_a_server_that_is_told_to_stop_lets_listeners_go(forks, tmp_path):
    server = forks.start(f"sqlite:///{tmp_path / 'farm.db'}")
    server.post("/v1/controllers", {"name": "farm", "problem": PROBLEM})
    with contextlib.closing(Stream(server, "/v1/controllers/farm")) as stream:
        start = time.monotonic()
        server.stop()
        assert list(stream) == []
    assert time.monotonic() - start < 8.0


def test_no_more_listeners_than_there_may_be(forks, tmp_path):
    limits = {"listeners": 2}
    with forks.serving(f"sqlite:///{tmp_path / 'farm.db'}", limits=limits) as server:
        server.post("/v1/controllers", {"name": "farm", "problem": PROBLEM})
        place = "/v1/controllers/farm"
        streams = [Stream(server, place) for _ in range(2)]
        refused = server.get(f"{place}/events")
        assert (refused.status, refused.headers["retry-after"]) == (503, "10")
        for stream in streams:
            stream.close()
        until = time.monotonic() + 20
        while b"gbb_listeners 0.0" not in server.get("/metrics").body:
            assert time.monotonic() < until
            time.sleep(0.05)
