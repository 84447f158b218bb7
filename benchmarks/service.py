"""What ``gbb serve`` costs, side by side with the same calls in process, all in one run.

``python benchmarks/service.py [ROUNDS [FOLDER]]`` prints: ask + tell through the service beside the same
in process, on 1,000 agents and 10,000 edges; rounds a second on complete:5 from 8 clients, without and
with 200 listeners; and the server's memory before and after ROUNDS rounds (20,000 unless told).
"""

from __future__ import annotations

import http.client
import multiprocessing as mp
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import gbb
from gbb.client import Client
from gbb.controller import Controller

ROUNDS = 20_000
CLIENTS = 8
LISTENERS = 200
SECONDS = 6.0
PAIRS = 40

SMALL = gbb.Problem(gbb.Graph.complete(5), np.eye(5), S=4.0)


@contextmanager
def serving(place: Path) -> Iterator[tuple[str, int]]:
    """A server of its own: its address and its process."""
    command = [sys.executable, "-m", "gbb", "serve", str(place), "--port", "0", "--rate", "1e6"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        found = re.search(r"http://\S+", process.stdout.readline())
        yield found[0], process.pid
        process.terminate()


def large() -> gbb.Problem:
    graph = gbb.Graph.random_regular(1000, 10, seed=0)
    arms = np.random.default_rng(0).normal(size=(10, 5))
    return gbb.Problem(graph, arms / np.linalg.norm(arms, axis=1)[:, None], S=4.0)


def ask_and_tell(controller: Controller | Client, rewards: np.ndarray) -> float:
    """Seconds of a round."""
    start = time.perf_counter()
    controller.tell(controller.ask(), rewards)
    return time.perf_counter() - start


def compare(folder: Path, url: str) -> None:
    problem = large()
    rng = np.random.default_rng(1)
    here = Controller.create(f"sqlite:///{folder / 'here.db'}", problem)
    there = Client.create(url, problem, name="large")
    times: list[tuple[float, float]] = []
    with here, there:
        for number in range(PAIRS + 5):
            rewards = rng.normal(size=problem.m)
            both = ask_and_tell(here, rewards), ask_and_tell(there, rewards)
            if number >= 5:
                times.append(both)
    own, served = (statistics.median(each) for each in zip(*times, strict=True))
    ratio = statistics.median(b / a for a, b in times)
    print(
        f"ask + tell, n = 1,000, m = 10,000: {1e3 * own:.1f} ms in process, "
        f"{1e3 * served:.1f} ms through the service, {ratio:.2f} times"
    )


def play(url: str, name: str, seconds: float, most: int, played: mp.Queue[int]) -> None:
    """Rounds of one client, until the time is up or as many as it may."""
    rewards = np.random.default_rng(os.getpid()).normal(size=SMALL.m)
    count = 0
    with Client(url, name, patience=60.0) as client:
        until = time.perf_counter() + seconds
        while time.perf_counter() < until and count < most:
            client.tell(client.ask(), rewards)
            count += 1
    played.put(count)


def rounds_per_second(
    url: str, name: str, seconds: float = SECONDS, most: int = 1 << 60
) -> tuple[float, int]:
    """Rounds a second of all clients together, each a process of its own; and how many there were."""
    played: mp.Queue[int] = mp.Queue()
    given = (url, name, seconds, most, played)
    clients = [mp.Process(target=play, args=given) for _ in range(CLIENTS)]
    start = time.perf_counter()
    for client in clients:
        client.start()
    count = sum(played.get() for _ in clients)
    took = time.perf_counter() - start
    for client in clients:
        client.join()
    return count / took, count


@contextmanager
def listening(url: str, name: str, count: int) -> Iterator[None]:
    """Listeners, in a process of their own that only reads what comes."""
    ready: mp.Queue[bool] = mp.Queue()
    process = mp.Process(target=_listen, args=(url, name, count, ready))
    process.start()
    ready.get()
    yield
    process.terminate()
    process.join()


def _listen(url: str, name: str, count: int, ready: mp.Queue[bool]) -> None:
    import selectors  # noqa: PLC0415

    host, _, port = url.removeprefix("http://").partition(":")
    selector, kept = selectors.DefaultSelector(), []
    for _ in range(count):
        connection = http.client.HTTPConnection(host, int(port))
        connection.request("GET", f"/v1/controllers/{name}/events")
        connection.getresponse()
        selector.register(connection.sock, selectors.EVENT_READ, connection.sock)
        kept.append(connection)
    ready.put(True)
    while True:
        for key, _ in selector.select():
            key.data.recv(1 << 16)
        time.sleep(0.05)


def memory(pid: int) -> float:
    """What a process holds, in MiB."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024


def load() -> str:
    return f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    place = sys.argv[2] if len(sys.argv) > 2 else None
    if place:
        Path(place).mkdir(parents=True, exist_ok=True)
    print(load())
    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = Path(name)
        with serving(folder / "served.db") as (url, pid):
            for each in ("small", "quiet"):
                Client.create(url, SMALL, name=each).close()
            compare(folder, url)
            rounds_per_second(url, "small", 1.0)
            found: dict[str, list[float]] = {"": [], "quiet": [], "small": []}
            for _ in range(3):
                found[""].append(rounds_per_second(url, "small")[0])
                for each in ("quiet", "small"):
                    with listening(url, each, LISTENERS):
                        found[each].append(rounds_per_second(url, "small")[0])
            alone, quiet, same = (statistics.median(each) for each in found.values())
            print(f"complete:5 from {CLIENTS} clients: {alone:.0f} rounds a second")
            print(
                f"with {LISTENERS} listeners of a quiet controller: {quiet:.0f} "
                f"({100 * (quiet / alone - 1):+.0f} %); of the same one: {same:.0f} "
                f"({100 * (same / alone - 1):+.0f} %)"
            )
            before = memory(pid)
            _, played = rounds_per_second(url, "small", 1e9, rounds // CLIENTS)
            print(f"memory: {before:.0f} MiB, after {played:,} rounds more {memory(pid):.0f} MiB")
    print(load())


if __name__ == "__main__":
    mp.set_start_method("fork")  # clients need not import everything anew
    main()
