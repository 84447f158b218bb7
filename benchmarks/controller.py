"""What the controller and its service cost. Every answer waits until it is safe on disk.

python benchmarks/controller.py log [ROUNDS [FOLDER]]       ask + tell, and a log of 100,000 rounds
python benchmarks/controller.py pipe [ROUNDS [FOLDER]]      `gbb control run` beside what the disk allows
python benchmarks/controller.py service [SECONDS [FOLDER]]  `gbb serve` beside the same calls in process
"""

from __future__ import annotations

import json
import multiprocessing as mp
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import gbb
from gbb.client import Client
from gbb.controller import Controller

SMALL = gbb.Problem(gbb.Graph.complete(5), np.eye(5), S=4.0)


def sparse(n: int) -> gbb.Problem:
    """Ten links for each of n agents."""
    return gbb.Problem(gbb.Graph.random_regular(n, 10, seed=0), np.eye(5), S=4.0)


def ask_and_tell(controller: Controller | Client, rounds: int) -> list[float]:
    """Seconds of each round."""
    rng, seconds = np.random.default_rng(0), []
    for _ in range(rounds):
        rewards = rng.normal(size=controller.problem.m)
        start = time.perf_counter()
        controller.tell(controller.ask(), rewards)
        seconds.append(time.perf_counter() - start)
    return seconds


def log(folder: Path, rounds: int = 100_000) -> None:
    for n, count in ((1000, 300), (100_000, 5)):
        with Controller.create(f"sqlite:///{folder / f'{n}.db'}", sparse(n)) as controller:
            seconds = ask_and_tell(controller, count)
        median, most = 1e3 * statistics.median(seconds), 1e3 * max(seconds)
        print(f"ask + tell, n = {n:,}: median {median:.1f} ms, most {most:.0f} ms")
    path = folder / "long.db"
    with Controller.create(f"sqlite:///{path}", SMALL) as controller:
        ask_and_tell(controller, rounds)
    print(f"{rounds:,} rounds at n = 5, m = 20, K = 5: {path.stat().st_size / 1e6:.1f} MB")
    start = time.perf_counter()
    with Controller.open(f"sqlite:///{path}") as controller:
        print(f"opening it: {time.perf_counter() - start:.2f} s")
        start = time.perf_counter()
        controller.retract(rounds // 2)
        print(f"retracting a round of it: {time.perf_counter() - start:.1f} s")


def per_second(work: Callable[[], Any], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        work()
    return count / (time.perf_counter() - start)


def pipe(folder: Path, rounds: int = 2000) -> None:
    with (folder / "page").open("wb", buffering=0) as file:

        def sync() -> None:
            file.write(bytes(4096))
            os.fsync(file.fileno())

        print(f"`fsync` of a page: {per_second(sync, rounds):,.0f} a second")
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
    # As safe as the controller's, and the write-ahead file is emptied as often.
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 64"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, data BLOB)")
    insert = partial(connection.execute, "INSERT INTO rows (data) VALUES (?)", (bytes(200),))
    print(f"commits of one row by SQLite alone: {per_second(insert, rounds):,.0f} a second")
    connection.close()
    for both in (False, True):
        url = f"sqlite:///{folder / f'{both}.db'}"
        Controller.create(url, SMALL).close()
        command = [sys.executable, "-m", "gbb", "control", "run", url]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        player = PipePlayer(process, both)
        for _ in range(100):
            player.play()
        name = "`next`, one commit a round" if both else "ask + tell, two commits a round"
        print(f"{name}: {per_second(player.play, rounds):,.0f} a second")
        process.communicate()


class PipePlayer:
    """Rounds over the pipe of a controller: by `next`, or by `tell` and `ask`."""

    def __init__(self, process: subprocess.Popen[bytes], both: bool) -> None:
        self.process, self.both, self.rng = process, both, np.random.default_rng(0)
        self.trial = self.say(do="ask")

    def say(self, **request: Any) -> str:
        """Send a request; the trial that the answer names."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline()).get("trial")

    def play(self) -> None:
        """One round."""
        told = {"trial": self.trial, "rewards": self.rng.normal(size=SMALL.m).tolist()}
        if self.both:
            self.trial = self.say(do="next", **told)
        else:
            self.say(do="tell", **told)
            self.trial = self.say(do="ask")


def service(folder: Path, seconds: int = 6) -> None:
    command = [sys.executable, "-m", "gbb", "serve", str(folder / "served.db")]
    command += ["--port", "0", "--rate", "1e6"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = re.search(r"http://\S+", process.stdout.readline())[0]
        Client.create(url, SMALL, name="small").close()
        large = sparse(1000)
        here = Controller.create(f"sqlite:///{folder / 'here.db'}", large)
        with here, Client.create(url, large, name="large") as there:
            pairs = [[*ask_and_tell(here, 1), *ask_and_tell(there, 1)] for _ in range(45)]
        own, served = 1e3 * np.median(pairs[5:], axis=0)
        print(f"ask + tell, n = 1,000: {own:.1f} ms in process, {served:.1f} ms by the service")
        play_clients(url, 1)
        before = resident(process.pid)
        played = play_clients(url, seconds)
        print(f"complete:5 from 8 clients: {played / seconds:.0f} rounds a second")
        after = resident(process.pid)
        print(f"memory: {before:.0f} MiB, after {played:,} rounds more {after:.0f} MiB")
        process.terminate()


def play_clients(url: str, seconds: int) -> int:
    """Rounds of eight clients together, each a process of its own."""
    played: mp.Queue[int] = mp.Queue()
    clients = [mp.Process(target=play_client, args=(url, seconds, played)) for _ in range(8)]
    for client in clients:
        client.start()
    count = sum(played.get() for _ in clients)
    for client in clients:
        client.join()
    return count


def play_client(url: str, seconds: float, played: mp.Queue[int]) -> None:
    count = 0
    with Client(url, "small", patience=60.0) as client:
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            ask_and_tell(client, 1)
            count += 1
    played.put(count)


def resident(pid: int) -> float:
    text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024


def main() -> None:
    commands: dict[str, Callable[..., None]] = {"log": log, "pipe": pipe, "service": service}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory(dir=sys.argv[3] if len(sys.argv) > 3 else None) as name:
        commands[sys.argv[1]](Path(name), *map(int, sys.argv[2:3]))


if __name__ == "__main__":
    mp.set_start_method("fork")  # clients need not import everything anew
    main()
