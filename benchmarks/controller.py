"""What the controller costs: ask + tell, a long log opened and corrected, and the size of its file.

``python benchmarks/controller.py`` prints one line per claim. The last digits depend on the disk:
every ask and every tell waits until it is safe there (one ``fsync`` each).
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np

import gbb
from gbb.controller import Controller
from gbb.controller.commands.trials import append_ask, tell
from gbb.controller.log.database import Connection, Sqlite

ROUNDS = 100_000
"""Rounds of the long log."""


def ask_and_tell(n: int, degree: int, rounds: int, folder: Path) -> list[float]:
    """Seconds of ask + tell, round by round, on a random regular graph."""
    graph = gbb.Graph.random_regular(n, degree, seed=0)
    problem = gbb.Problem(graph, np.eye(5), S=4.0)
    env = gbb.Environment(problem, gbb.instances.absolute_normal(5, seed=0))
    rng = np.random.default_rng(0)
    seconds = []
    with Controller.create(f"sqlite:///{folder / f'{n}.db'}", problem) as controller:
        for _ in range(rounds):
            start = time.perf_counter()
            trial = controller.ask()
            asked = time.perf_counter() - start
            rewards = env.draw(1, trial.arms, rng)
            start = time.perf_counter()
            controller.tell(trial, rewards)
            seconds.append(asked + time.perf_counter() - start)
    return seconds


def long_log(url: str, rounds: int) -> None:
    """A log at the paper's Figure 2 sizes, written many rounds to a transaction to save time."""
    problem = gbb.Problem(gbb.Graph.complete(5), np.eye(5), S=4.0)
    env = gbb.Environment(problem, gbb.instances.absolute_normal(5, seed=0))
    rng = np.random.default_rng(0)
    with Controller.create(url, problem) as controller:
        for _ in range(0, rounds, 1000):
            with controller._log.write() as turn:
                for _ in range(1000):
                    event = append_ask(turn)
                    arms = turn.state.open[event.trial].allocation
                    tell(turn, event.trial, env.draw(1, arms, rng))


def time_retraction(url: str, trial: int) -> tuple[float, float]:
    """Seconds of a retraction, and how many of them other writers had to wait."""
    held, writing = [], Sqlite.write

    @contextmanager
    def timed(database: Sqlite, study: int | None = None) -> Iterator[Connection]:
        with writing(database, study) as connection:
            start = time.perf_counter()
            yield connection
        held.append(time.perf_counter() - start)

    with Controller.open(url) as controller, patch.object(Sqlite, "write", timed):
        start = time.perf_counter()
        controller.retract(trial)
        return time.perf_counter() - start, max(held)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = ask_and_tell(1000, 10, 300, folder)
        print(f"ask + tell, n=1,000, m=10,000: median {1e3 * statistics.median(small):.1f} ms")
        large = ask_and_tell(100_000, 10, 5, folder)
        print(f"ask + tell, n=100,000, m=1,000,000: most {max(large):.2f} s")
        path = folder / "long.db"
        url = f"sqlite:///{path}"
        rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
        long_log(url, rounds)
        size = path.stat().st_size / 1e6
        print(f"{rounds:,} rounds at n=5, m=20, K=5: {size:.1f} MB")
        start = time.perf_counter()
        with Controller.open(url) as controller:
            opened = time.perf_counter() - start
            controller.ask()
        print(f"opening it: {opened:.2f} s")
        whole, held = time_retraction(url, rounds // 2)
        print(f"retracting a round of it: {whole:.1f} s, of which others wait {held:.3f} s")


if __name__ == "__main__":
    main()
