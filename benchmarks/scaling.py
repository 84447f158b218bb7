"""How a round of the allocation policies grows with the graph, on one core. Prints Markdown.

python benchmarks/scaling.py [ROUNDS]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np
from threadpoolctl import threadpool_limits

import gbb
from gbb.policies import JointOFUL, ThompsonSampling
from gbb.simulation.engine import Task, run_batch

AGENTS = (250, 500, 1000, 2000, 4000)
DEGREES = (5, 10, 20, 40)
KINDS = (JointOFUL, ThompsonSampling)


def seconds(n: int, degree: int, rounds: int) -> tuple[int, list[float]]:
    """Edges, and processor seconds a round of each policy; K = 10 general arms in d = 5."""
    graph = gbb.Graph.random(n, p=degree / (n - 1), seed=1)
    rng = np.random.default_rng(0)
    arms = rng.standard_normal((10, 5))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    M = rng.standard_normal((5, 5))
    np.fill_diagonal(M, -1.0)  # like arms do not go together, so that there is much to improve
    M *= 4.0 / np.linalg.norm(M)
    env = gbb.Environment(gbb.Problem(graph, arms, S=4.0), M)
    cut = gbb.cuts.greedy(graph)
    found = []
    for kind in KINDS:
        policy = kind(env.problem, cut=cut)
        run_batch(env, policy, Task(1, np.array([1]), [np.random.SeedSequence(0)]))
        times = []
        for seed in range(3):
            start = time.process_time()
            run_batch(env, policy, Task(rounds, np.array([rounds]), [np.random.SeedSequence(seed)]))
            times.append((time.process_time() - start) / rounds)
        found.append(min(times))
    return graph.m, found


def rows(sizes: list[tuple[int, int]], rounds: int) -> Iterator[str]:
    """A row for every graph, and the exponent of m that fits them."""
    edges, times = [], []
    for n, degree in sizes:
        m, found = seconds(n, degree, rounds)
        edges.append(m)
        times.append(found)
        cells = " | ".join(f"{1e3 * s:.2f}" for s in found)
        yield f"| {n:,} | {degree} | {m:,} | {cells} |"
    slopes = np.polyfit(np.log(edges), np.log(times), 1)[0]
    yield f"| | | exponent of m | {' | '.join(f'{slope:.2f}' for slope in slopes)} |"


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(f"| n | mean degree | m | {' | '.join(f'{kind.__name__}, ms' for kind in KINDS)} |")
    print("| --- | --- | --- " + "| --- " * len(KINDS) + "|")
    for sizes in ([(n, 10) for n in AGENTS], [(1000, degree) for degree in DEGREES]):
        for row in rows(sizes, rounds):
            print(row, flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
