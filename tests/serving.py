"""Servers for tests: each is a process of its own, forked from one that has imported everything."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

ROOT = Path(__file__).parents[1]


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)

    @property
    def detail(self) -> str:
        """The one line that an error is."""
        assert self.headers["content-type"] == "application/problem+json", self
        said = self.data
        assert said["status"] == self.status
        assert "\n" not in said["detail"]
        return said["detail"]


class Server:
    """A server process."""

    def __init__(self, pid: int, url: str) -> None:
        self.pid, self.url = pid, url
        self.port = urlsplit(url).port

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        """One request, on a connection of its own."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            given.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, body, given)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, found, answer.read())

    def get(self, path: str, **headers: str) -> Reply:
        return self.request("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Reply:
        return self.request("POST", path, {} if body is None else body, **headers)

    def kill(self) -> None:
        """End it at once, whatever it is doing."""
        os.kill(self.pid, signal.SIGKILL)
        self.wait()

    def stop(self) -> None:
        """Tell it to stop, and wait until it has."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)
        self.wait()

    def wait(self) -> None:
        until = time.monotonic() + 30
        with contextlib.suppress(ProcessLookupError):
            while time.monotonic() < until:
                os.kill(self.pid, 0)
                time.sleep(0.01)
            raise AssertionError("the server did not end")


class Forks:
    """Starts servers."""

    def __init__(self, process: subprocess.Popen[bytes], errors: Path) -> None:
        self._process, self.errors = process, errors
        self._lock = threading.Lock()

    def start(self, url: str, port: int = 0, **options: Any) -> Server:
        """A server for a storage; ``options`` are its file of tokens, and limits."""
        line = json.dumps({"url": url, "port": port, **options}).encode() + b"\n"
        with self._lock:
            self._process.stdin.write(line)
            self._process.stdin.flush()
            said = json.loads(self._process.stdout.readline())
        if "error" in said:
            raise RuntimeError(said["error"])
        return Server(said["pid"], said["url"])

    @contextlib.contextmanager
    def serving(self, url: str, **options: Any) -> Iterator[Server]:
        """A server while the block lasts."""
        server = self.start(url, **options)
        try:
            yield server
        finally:
            server.stop()


@contextlib.contextmanager
def forks() -> Iterator[Forks]:
    """What starts servers, while the block lasts."""
    with tempfile.TemporaryDirectory(prefix="gbb-serve-") as folder:
        errors = Path(folder) / "errors"
        with (
            errors.open("wb") as stderr,
            subprocess.Popen(
                [sys.executable, __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
            ) as process,
        ):
            yield Forks(process, errors)
            process.stdin.close()
            process.wait(30)


def place_of(name: str) -> str:
    return f"/v1/controllers/{quote(name, safe='')}"


def _serve(told: dict[str, Any]) -> None:
    """Be a server."""
    from gbb.serve.access.limits import Limits  # noqa: PLC0415
    from gbb.serve.access.tokens import Tokens  # noqa: PLC0415
    from gbb.serve.run import serve  # noqa: PLC0415

    def say(text: str) -> None:
        if " at http" in text:
            url = text.rpartition(" at ")[2]
            os.write(1, json.dumps({"pid": os.getpid(), "url": url}).encode() + b"\n")

    try:
        tokens = Tokens(Path(told["tokens"])) if "tokens" in told else None
        limits = Limits(**told.get("limits", {}))
        serve(told["url"], port=told["port"], tokens=tokens, limits=limits, say=say)
    except Exception as error:
        os.write(1, json.dumps({"error": str(error)}).encode() + b"\n")


def _main() -> None:
    import gbb.serve.run  # noqa: F401, PLC0415
    from served import load  # noqa: PLC0415

    load()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    for line in sys.stdin.buffer:
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.close(0)
            _serve(json.loads(line))
            os._exit(0)


if __name__ == "__main__":
    _main()
