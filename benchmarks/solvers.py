"""Optima: what is proven how fast, how good the heuristic is, and how wide gaps remain.

Run ``python benchmarks/solvers.py`` (``--seconds`` limits each proof); it prints Markdown tables.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable

import numpy as np

import gbb
from _family import family, matrix

CLOSE = 1e-3
"""A heuristic value this close to the proven optimum, relatively, counts as found."""


def table(head: str, rows: Iterable[str]) -> str:
    columns = head.count("|") - 1
    return "\n".join([head, "|" + " --- |" * columns, *rows])


def say(text: str) -> None:
    print(text, end="\n\n", flush=True)


def named() -> list[tuple[str, gbb.Graph, int, str, float]]:
    """The problems that the issue of solvers is judged by: name, graph, K, diagonal, time limit."""
    return [
        ("complete n=10", gbb.Graph.complete(10), 10, "zeta0", 5.0),
        ("complete n=10", gbb.Graph.complete(10), 10, "diag0", 5.0),
        ("complete n=100", gbb.Graph.complete(100), 10, "diag0", 5.0),
        ("circle n=1,000,001", gbb.Graph.circle(1_000_001), 10, "diag0", 5.0),
        ("random p=.6 n=20", gbb.Graph.random(20, 0.6, seed=1), 10, "zeta0", 5.0),
        ("3-regular n=50", gbb.Graph.random_regular(50, 3, seed=1), 10, "zeta0", 5.0),
        ("3-regular n=50", gbb.Graph.random_regular(50, 3, seed=1), 10, "diag0", 5.0),
        ("random p=.6 n=100", gbb.Graph.random(100, 0.6, seed=1), 10, "zeta0", 60.0),
        ("random p=.6 n=100", gbb.Graph.random(100, 0.6, seed=1), 10, "diag0", 60.0),
        ("random p=.6 n=1000", gbb.Graph.random(1000, 0.6, seed=1), 10, "diag0", 60.0),
    ]


def judge_named(draws: int) -> str:
    rows = []
    for name, graph, K, diagonal, limit in named():
        problem = gbb.Problem(graph, np.eye(K))
        seconds, gaps, proven, methods = [], [], 0, set()
        for seed in range(draws if limit < 60 else 3):
            found = gbb.optimum.solve(problem, matrix(K, seed, diagonal), seconds=limit)
            seconds.append(found.seconds)
            gaps.append(found.gap)
            proven += found.proven
            methods.add(found.method if found.proven else found.bound_method)
        rows.append(
            f"| {name} {diagonal} | {limit:g} s | {proven} of {len(gaps)} | {max(gaps):.2%} "
            f"| {np.median(seconds):.3f} s | {max(seconds):.3f} s | {', '.join(sorted(methods))} |"
        )
    head = "| K = 10 | limit | proven | largest gap | median time | longest | proof or bound by |"
    return table(head, rows)


def judge_family(limit: float) -> tuple[str, str]:
    members = family()
    gbb.optimum.solve(members[0].problem, members[0].M, method="heuristic")
    kinds: dict[str, list[tuple[bool, float, float]]] = {}
    misses = []
    for member in members:
        start = time.process_time()  # it uses one thread; other work may share the cores
        quick = gbb.optimum.solve(member.problem, member.M, method="heuristic", seconds=60.0)
        seconds = time.process_time() - start
        best = gbb.optimum.solve(member.problem, member.M, seconds=limit)
        short = 1 - quick.value / max(best.value, quick.value)
        kinds.setdefault(member.kind, []).append((best.proven, short, seconds))
        if best.proven and short > CLOSE:
            misses.append(f"| {member.name} | {best.value:.4f} | {quick.value:.4f} | {short:.2%} |")
        print(member.name, best.proven, f"{short:.3%}", f"{best.seconds:.1f}", file=sys.stderr)
    kinds["all"] = [item for items in list(kinds.values()) for item in items]
    rows = []
    for kind, items in kinds.items():
        shorts = [short for proven, short, _ in items if proven]
        times = [seconds for _, _, seconds in items]
        found = sum(short <= CLOSE for short in shorts)
        rows.append(
            f"| {kind} | {len(items)} | {len(shorts)} | {found} ({found / len(shorts):.1%}) "
            f"| {np.mean(times):.3f} s | {max(times):.3f} s |"
        )
    head = "| kind | problems | proven | heuristic within 0.1 % | mean processor time | longest |"
    return table(head, rows), table("| problem | optimum | heuristic | short by |", misses)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of each proof")
    parser.add_argument("--draws", type=int, default=10, help="matrices of each named problem")
    options = parser.parse_args()
    warm = gbb.Problem(gbb.Graph.random(12, 0.6, seed=0), np.eye(3))
    gbb.optimum.solve(warm, matrix(3, 0, "diag0"), method="sdp")
    gbb.optimum.solve(gbb.Problem(gbb.Graph.complete(5), np.eye(3)), matrix(3, 0, "diag0"))
    gbb.optimum.solve(gbb.Problem(gbb.Graph.circle(5), np.eye(3)), matrix(3, 0, "diag0"))
    say(judge_named(options.draws))
    for text in judge_family(options.seconds):
        say(text)


if __name__ == "__main__":
    main()
