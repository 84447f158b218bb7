"""How many rounds a second ``gbb control run`` does, beside what the disk itself allows.

``python benchmarks/pipe.py [ROUNDS [FOLDER]]`` plays ask + tell, then next, on complete:5 over a pipe,
each round safe on disk before it is answered. The disk's own limit is measured in the same folder in
the same run: ``fsync`` after a write of a page, and commits of one row by SQLite alone, set as here.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import gbb
from gbb.controller import Controller
from gbb.controller.log.database import CHECKPOINT

ROUNDS = 2000
WARM = 100
PAGE = 4096


class Pipe:
    """A controller in a process of its own."""

    def __init__(self, url: str) -> None:
        command = [sys.executable, "-c", "import gbb.cli; gbb.cli.main()", "control", "run", url]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def say(self, **request: Any) -> dict[str, Any]:
        """The answer to a request."""
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        """End its input, and wait."""
        self.process.communicate()


def rounds_per_second(folder: Path, rounds: int, *, both: bool) -> float:
    """Rounds of ask + tell, or of next if ``both`` at once, after a few to warm up."""
    problem = gbb.Problem(gbb.Graph.complete(5), np.eye(5), S=4.0)
    url = f"sqlite:///{folder / f'{both}.db'}"
    Controller.create(url, problem).close()
    rewards = np.random.default_rng(0).normal(size=(rounds + WARM, problem.m)).tolist()
    pipe = Pipe(url)
    trial = pipe.say(do="ask")["trial"]
    for place, told in enumerate(rewards):
        if place == WARM:
            start = time.perf_counter()
        if both:
            trial = pipe.say(do="next", trial=trial, rewards=told)["trial"]
        else:
            pipe.say(do="tell", trial=trial, rewards=told)
            trial = pipe.say(do="ask")["trial"]
    seconds = time.perf_counter() - start
    pipe.close()
    return rounds / seconds


def syncs_per_second(folder: Path, count: int) -> float:
    """Writes of one page at the end of a file, each with its ``fsync``."""
    with (folder / "page").open("wb", buffering=0) as file:
        start = time.perf_counter()
        for _ in range(count):
            file.write(bytes(PAGE))
            os.fsync(file.fileno())
        return count / (time.perf_counter() - start)


def commits_per_second(folder: Path, count: int) -> float:
    """Commits of one row of 200 bytes by SQLite alone, as safe as the controller's."""
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT}")
    connection.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, data BLOB)")
    start = time.perf_counter()
    for _ in range(count):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO rows (data) VALUES (?)", (bytes(200),))
        connection.execute("COMMIT")
    seconds = time.perf_counter() - start
    connection.close()
    return count / seconds


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    place = sys.argv[2] if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = Path(name)
        synced = syncs_per_second(folder, rounds)
        committed = commits_per_second(folder, rounds)
        one = rounds_per_second(folder, rounds, both=False)
        both = rounds_per_second(folder, rounds, both=True)
        again = syncs_per_second(folder, rounds)
    print(f"fsync of a page: {synced:,.0f} a second before, {again:,.0f} after")
    print(f"commits of one row by SQLite alone: {committed:,.0f} a second")
    print(f"ask + tell over the pipe, complete:5: {one:,.0f} rounds a second, two commits each")
    print(f"next over the pipe, complete:5: {both:,.0f} rounds a second, one commit each")


if __name__ == "__main__":
    main()
