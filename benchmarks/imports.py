"""How long it takes to import a log of many rows, and to read it back.

python benchmarks/imports.py [ROWS] [ROWS PER ROUND]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import gbb
from gbb.controller import Controller

ROWS, EACH = 10**6, 20


def make_log(path: Path, problem: gbb.Problem, rows: int, each: int) -> None:
    """A log in long form: ``each`` different links a round."""
    rng = np.random.default_rng(0)
    rounds = np.repeat(np.arange(rows // each), each)
    first = rng.integers(problem.m, size=rows // each)
    edges = problem.graph.edges[(np.repeat(first, each) + np.arange(rounds.size)) % problem.m]
    played = rng.integers(problem.K, size=(rows // each, problem.n))
    columns = {
        "key": rounds,
        "source": edges[:, 0],
        "target": edges[:, 1],
        "source_arm": played[rounds, edges[:, 0]],
        "target_arm": played[rounds, edges[:, 1]],
        "reward": rng.normal(size=rounds.size),
    }
    pd.DataFrame(columns).to_csv(path, index=False)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    each = int(sys.argv[2]) if len(sys.argv) > 2 else EACH
    problem = gbb.Problem(gbb.Graph.complete(5), np.eye(5), S=4.0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_log(folder / "log.csv", problem, rows, each)
        steps = {
            "import": lambda made: made.import_rounds(folder / "log.csv").new,
            "import again": lambda made: made.import_rounds(folder / "log.csv").new,
            "export": lambda made: len(made.export_rounds()[1]),
            "backup": lambda made: made.backup(folder / "log.jsonl"),
        }
        with Controller.create(f"sqlite:///{folder / 'log.db'}", problem) as made:
            for step, do in steps.items():
                wall, core = time.perf_counter(), time.process_time()
                done = do(made)
                wall, core = time.perf_counter() - wall, time.process_time() - core
                print(f"{step}: {done:,}, {wall:.1f} s, {core:.1f} s of one core")


if __name__ == "__main__":
    main()
