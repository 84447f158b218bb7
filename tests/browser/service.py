"""A real ``gbb serve`` in a process of its own, and the rounds that a network would play."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

FARM = {
    "edges": [
        ["west", "north"],
        ["north", "east"],
        ["east", "south"],
        ["south", "west"],
        ["west", "east"],
    ],
    "undirected": True,
    "arms": {"straight": [1.0, 0.0], "left": [0.8, 0.6], "right": [0.8, -0.6]},
    "sigma": 0.2,
    "S": 2.0,
}


def probe(name: str) -> str:
    """A function that looks at a page from inside."""
    text = (Path(__file__).parent / "probes" / f"{name}.js").read_text()
    return text.strip().rstrip(";")  # an expression


class Service:
    """Serves a database at a port of its own, which it keeps when it is started again."""

    def __init__(self, database: Path, *options: str) -> None:
        self.database, self.options = database, options
        self.port, self.token = 0, ""
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "gbb", "serve", str(self.database)]
        self.process = subprocess.Popen(
            [*command, "--port", str(self.port), *self.options],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", said)
        assert found, f"gbb serve said {said!r}"
        self.port = int(found[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        self.process.kill()
        self._end()

    def stop(self) -> None:
        self.process.terminate()
        self._end()

    def _end(self) -> None:
        self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def call(self, path: str, body: Any = None) -> Any:
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def create(self, name: str, problem: dict[str, Any] = FARM, **more: Any) -> Network:
        self.call("/v1/controllers", {"name": name, "problem": problem, **more})
        return Network(self, name)


class Network:
    """A controller of the service, and what its links pay."""

    def __init__(self, service: Service, name: str) -> None:
        self.service, self.name = service, name
        self.path = f"/v1/controllers/{quote(name, safe='')}"
        self.rng = np.random.default_rng(0)

    @property
    def place(self) -> str:
        return f"{self.service.url}/#/c/{quote(self.name, safe='')}"

    def status(self) -> Any:
        return self.service.call(self.path)

    def ask(self) -> Any:
        return self.service.call(f"{self.path}/ask", {})

    def tell(self, trial: Any, rewards: list[float] | None = None) -> Any:
        """Tell a trial; links pay 1 or a little less, with noise."""
        if rewards is None:
            edges = self.status()["edges"]
            rewards = (1.0 - 0.2 * self.rng.random(edges)).tolist()
        body = {"trial": trial["trial"], "rewards": rewards}
        return self.service.call(f"{self.path}/tell", body)

    def play(self, rounds: int) -> None:
        for _ in range(rounds):
            self.tell(self.ask())
