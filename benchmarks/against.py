"""Seconds a round here and in another checkout, side by side in one run. Prints Markdown.

python benchmarks/against.py OTHER_CHECKOUT [--rows PATTERN] [--repeats 7] [--quick]

One worker for each checkout lives through the run, both on one core with one BLAS thread; they take
turns, row by row and repeat by repeat, so that whatever else the machine does falls on both. A time is
the fastest repeat's, less that of a call with one round. A ratio above 1 says that this one is faster.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
WORKER = HERE / "benchmarks" / "_rows.py"


class Worker:
    """A process that plays rows with one checkout's gbb."""

    def __init__(self, checkout: Path) -> None:
        source = checkout / "src"
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", str(WORKER)],
            env=os.environ | {"PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        first = self.read()
        if not Path(first["gbb"]).is_relative_to(source):
            sys.exit(f"{checkout} has no gbb of its own: {first['gbb']} was imported.")
        self.names: list[str] = first["names"]

    def ask(self, **request: Any) -> dict[str, Any]:
        """The answer to one request."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self.read()

    def read(self) -> dict[str, Any]:
        """The worker's next line."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"The worker of {self.process.args[-1]} stopped; see above.")
        answer: dict[str, Any] = json.loads(line)
        return answer


def side_by_side(workers: list[Worker], row: str, scale: float, repeats: int) -> list[float]:
    """Each worker's seconds a round of ``row``, the workers taking turns."""
    rounds = [worker.ask(row=row, scale=scale)["rounds"] for worker in workers]
    found: list[list[dict[str, float]]] = [[] for _ in workers]
    for _ in range(repeats):
        for worker, times in zip(workers, found, strict=True):
            times.append(worker.ask())
    fastest = [[min(t[key] for t in times) for key in ("long", "short")] for times in found]
    return [(long - short) / n for (long, short), n in zip(fastest, rounds, strict=True)]


def show(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, help="the other checkout's folder")
    parser.add_argument("--rows", default="", help="only rows whose name has this pattern")
    parser.add_argument("--repeats", type=int, default=7, help="fastest of how many")
    parser.add_argument("--quick", action="store_true", help="a fifth of the rounds, 5 repeats")
    parser.add_argument("--here", type=Path, default=HERE, help="this checkout, or a third one")
    given = parser.parse_args()
    scale, repeats = (0.2, 5) if given.quick else (1.0, given.repeats)
    workers = [Worker(folder.resolve()) for folder in (given.other, given.here)]
    print("| row | there | here | there / here |")
    print("| --- | ---: | ---: | ---: |")
    for row in workers[0].names:
        if re.search(given.rows, row):
            there, here = side_by_side(workers, row, scale, repeats)
            print(f"| {row} | {show(there)} | {show(here)} | {there / here:.2f} |", flush=True)


if __name__ == "__main__":
    main()
