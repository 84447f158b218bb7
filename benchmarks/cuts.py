"""Max-Cut side by side with networkx and dwave-samplers, and what a better cut does to alpha_2.

Run ``python benchmarks/cuts.py [FOLDER]`` with a folder of Gset files (default: ../shared/data/gset);
it prints Markdown tables. ``--large`` adds a graph of 10^6 agents and 10^7 undirected edges.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import networkx as nx
import numpy as np
from dwave.samplers import SimulatedAnnealingSampler

import gbb
from _family import matrix, triangles

BEST_KNOWN = {"G1": 11624, "G22": 13359, "G43": 6660}
PATIENCE = 20.0
"""Seconds that networkx is given."""

DRAWS = 5
"""Matrices for each graph of the alpha_2 table."""


def table(head: str, rows: Iterable[str]) -> str:
    return "\n".join([head, "|" + " --- |" * (head.count("|") - 1), *rows])


def timed(work: Callable[[], int]) -> str:
    start = time.perf_counter()
    size = work()
    return f"{size:,} in {time.perf_counter() - start:.2f} s"


def annealed_by_dwave(graph: gbb.Graph, sweeps: int, reads: int) -> int:
    once = graph.sources < graph.indices
    J = {(int(i), int(j)): 1.0 for i, j in graph.edges[once]}
    result = SimulatedAnnealingSampler().sample_ising(
        {}, J, num_sweeps=sweeps, num_reads=reads, seed=0
    )
    spins = np.array([result.first.sample[i] for i in range(graph.n)])
    return gbb.Cut.of(graph, (spins < 0).astype(int)).m12


def exchanged_by_networkx(graph: gbb.Graph) -> str:
    """Networkx's one_exchange, in a process of its own that is ended when patience is over."""
    start = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        answer = pool.apply_async(_exchange, (graph.to_networkx(),))
        try:
            return f"{answer.get(PATIENCE):,} in {time.perf_counter() - start:.1f} s"
        except multiprocessing.TimeoutError:
            return f"none in {PATIENCE:g} s"


def _exchange(graph: nx.Graph) -> int:
    return int(nx.approximation.one_exchange(graph, seed=0)[0])


def gset(folder: Path) -> str:
    rows = []
    for path in sorted(folder.glob("G*.txt")):
        graph = gbb.Graph.read(path)
        cells = [f"{path.stem} (best known {BEST_KNOWN.get(path.stem, 0):,})"]
        cells.append(timed(lambda g=graph: gbb.cuts.greedy(g).m12))
        cells.append(timed(lambda g=graph: gbb.cuts.local_search(g).m12))
        cells.append(timed(lambda g=graph: gbb.cuts.goemans_williamson(g, seed=0).m12))
        for seconds in (1.0, 9.0):
            cells.append(timed(lambda g=graph, s=seconds: gbb.cuts.best(g, seconds=s, seed=0).m12))
        cells.append(f"{gbb.cuts.upper_bound(graph).edges:,.1f}")
        cells.append(timed(lambda g=graph: annealed_by_dwave(g, 2000, 10)))
        cells.append(exchanged_by_networkx(graph))
        rows.append("| " + " | ".join(cells) + " |")
    head = (
        "| graph | the paper's greedy | local search | Goemans-Williamson | best, 1 s | best, 9 s "
        "| SDP bound | dwave-samplers 2000 x 10 | networkx one_exchange |"
    )
    return table(head, rows)


def guarantee(count: int = 2000) -> str:
    rng = np.random.default_rng(0)
    broken, slack = 0, np.inf
    for seed in range(count):
        graph = gbb.Graph.random(int(rng.integers(2, 80)), float(rng.uniform(0.02, 0.9)), seed=seed)
        least = graph.m / 4 + (graph.n - graph.components()) / 4
        size = gbb.cuts.edwards_erdos(graph).m12
        broken += size < least
        slack = min(slack, size - least)
    return (
        f"Edwards-Erdos on {count} random graphs: bound broken {broken} times, least slack {slack}."
    )


def large() -> str:
    n = 10**6
    graph = gbb.Graph.random(n, p=2e7 / (n * (n - 1)), seed=0)
    rows = []
    names = ("greedy", "edwards_erdos", "local_search")
    runs: dict[str, Callable[[], gbb.Cut]] = {
        name: lambda name=name: gbb.cuts.methods()[name](graph) for name in names
    }
    runs["goemans_williamson, 15 s"] = lambda: gbb.cuts.goemans_williamson(
        graph, seed=0, seconds=15
    )
    runs["best, 15 s"] = lambda: gbb.cuts.best(graph, seconds=15.0, seed=0)
    for name, run in runs.items():
        start = time.perf_counter()
        rho = run().rho
        rows.append(f"| {name} | {rho:.4f} | {time.perf_counter() - start:.1f} s |")
    for k in (3, 4):
        start = time.perf_counter()
        rho = gbb.cuts.kcut(graph, k, seconds=20.0, seed=0).rho
        rows.append(f"| kcut, k = {k}, 20 s | {rho:.4f} | {time.perf_counter() - start:.1f} s |")
    return table(f"| n = {n:,}, {graph.m // 2:,} undirected edges | cut | time |", rows)


def alphas(folder: Path) -> str:
    graphs = {
        "random p=.6 n=20": gbb.Graph.random(20, 0.6, seed=1),
        "random p=.6 n=100": gbb.Graph.random(100, 0.6, seed=1),
        "random, mean degree 5, n=1000": gbb.Graph.random(1000, 5 / 999, seed=1),
        "3-regular n=100": gbb.Graph.random_regular(100, 3, seed=1),
        "3-regular n=1000": gbb.Graph.random_regular(1000, 3, seed=1),
        "lattice of triangles 5 x 20": triangles(5, 20),
        "lattice of triangles 30 x 30": triangles(30, 30),
    }
    graphs |= {path.stem: gbb.Graph.read(path) for path in sorted(folder.glob("G*.txt"))}
    rows = []
    for name, graph in graphs.items():
        paper, better = gbb.cuts.greedy(graph), gbb.cuts.best(graph, seconds=3.0, seed=0)
        found, proven = [], 0
        for seed in range(DRAWS):
            env = gbb.Environment(gbb.Problem(graph, np.eye(5)), matrix(5, seed, "zeta0"))
            best = gbb.optimum.solve(env.problem, env.M_star, seconds=5.0)
            proven += best.proven
            reports = [gbb.theory.report(env, cut=cut, optimum=best) for cut in (paper, better)]
            found.append([report.alpha_2 for report in reports])
        before, after = np.mean(found, axis=0)
        rows.append(
            f"| {name} | {paper.rho:.3f} | {better.rho:.3f} | {before:.3f} | {after:.3f} "
            f"| {after - before:+.3f} | {proven} of {DRAWS} |"
        )
    head = "| graph | rho, paper's cut | rho, best cut | alpha_2 | alpha_2 | gain | optima proven |"
    return table(head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("../shared/data/gset"))
    parser.add_argument("--large", action="store_true", help="also 10^6 agents, 10^7 edges")
    options = parser.parse_args()
    warm = gbb.Graph.random(40, 0.3, seed=0)
    for method in gbb.cuts.methods().values():
        method(warm, seed=0)
    gbb.cuts.upper_bound(warm)
    gbb.cuts.kcut(warm, 3)
    print(gset(options.folder), end="\n\n", flush=True)
    print(guarantee(), end="\n\n", flush=True)
    print(alphas(options.folder), end="\n\n", flush=True)
    if options.large:
        print(large(), flush=True)


if __name__ == "__main__":
    main()
