"""Optima and cuts: what is proven how fast, and how good the heuristics are. Prints Markdown.

python benchmarks/solvers.py optima [--seconds 60] [--draws 10]
python benchmarks/solvers.py cuts [FOLDER] [--large]     beside dwave-samplers

FOLDER has Gset files (default: ../shared/data/gset); `--large` adds 10^6 agents and 10^7 links. `cuts`
takes the extra `bench`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import gbb
from studies import table

CLOSE = 1e-3
"""A heuristic value this close to the proven optimum, relatively, counts as found."""

BEST_KNOWN = {"G1": 11_624, "G22": 13_359, "G43": 6660}


def matrix(K: int, seed: int, diagonal: str) -> np.ndarray:
    """Absolute normals; the best couple's diagonal entries zero, or the whole diagonal."""
    M = gbb.instances.absolute_normal(K, seed=seed, distinct_couple=True, zeta=0.0)
    if diagonal == "diag0":
        np.fill_diagonal(M, 0.0)
    return M


def triangles(width: int, height: int) -> gbb.Graph:
    """A lattice of triangles: a grid with one diagonal in every square."""
    agents = np.arange(width * height).reshape(width, height)
    steps = (
        (agents[:, :-1], agents[:, 1:]),
        (agents[:-1], agents[1:]),
        (agents[:-1, :-1], agents[1:, 1:]),
    )
    edges = np.concatenate([np.column_stack((a.ravel(), b.ravel())) for a, b in steps])
    return gbb.Graph.from_edges(edges, undirected=True)


class Member(NamedTuple):
    """A problem of the family of 200, and where it comes from."""

    kind: str
    name: str
    problem: gbb.Problem
    M: np.ndarray


def family() -> Iterator[Member]:
    """Five kinds of graphs in twenty sizes, with 3, 5 or 10 arms and two diagonals."""
    for r in range(20):
        K = (3, 5, 10)[r % 3]
        graphs = {
            "complete": gbb.Graph.complete(8 + 2 * r),
            "random": gbb.Graph.random(10 + r, 0.6, seed=r),
            "regular": gbb.Graph.random_regular(20 + 4 * r, 3 if r % 2 else 4, seed=r),
            "circle": gbb.Graph.circle(11 + 10 * r),
            "triangles": triangles(3 + r % 3, 5 + r),
        }
        for diagonal in ("zeta0", "diag0"):
            for kind, graph in graphs.items():
                name = f"{kind} n={graph.n} K={K} {diagonal}"
                problem = gbb.Problem(graph, np.eye(K))
                yield Member(kind, name, problem, matrix(K, 1000 + r, diagonal))


def optima(limit: float, draws: int) -> None:
    warm = gbb.Problem(gbb.Graph.random(12, 0.6, seed=0), np.eye(3))
    gbb.optimum.solve(warm, matrix(3, 0, "diag0"), method="sdp")
    for graph in (gbb.Graph.complete(5), gbb.Graph.circle(5)):
        gbb.optimum.solve(gbb.Problem(graph, np.eye(3)), matrix(3, 0, "diag0"))
    head = "limit | proven | largest gap | median time | longest | proof or bound by"
    table(f"K = 10 | {head}", of_named(draws))
    kinds: dict[str, list[tuple[bool, float, float]]] = {}
    misses = []
    for member in family():
        start = time.process_time()  # it uses one thread; other work may share the cores
        quick = gbb.optimum.solve(member.problem, member.M, method="heuristic", seconds=60.0)
        seconds = time.process_time() - start
        best = gbb.optimum.solve(member.problem, member.M, seconds=limit)
        short = 1 - quick.value / max(best.value, quick.value)
        kinds.setdefault(member.kind, []).append((best.proven, short, seconds))
        if best.proven and short > CLOSE:
            misses.append((member.name, f"{best.value:.4f}", f"{quick.value:.4f}", f"{short:.2%}"))
    kinds["all"] = [item for items in kinds.values() for item in items]
    rows = []
    for kind, items in kinds.items():
        shorts = [short for proven, short, _ in items if proven]
        found, times = sum(short <= CLOSE for short in shorts), [item[2] for item in items]
        share = f"{found} ({found / max(1, len(shorts)):.1%})"
        took = (f"{np.mean(times):.3f} s", f"{max(times):.3f} s")
        rows.append((kind, len(items), len(shorts), share, *took))
    table("kind | problems | proven | heuristic within 0.1 % | mean processor time | longest", rows)
    table("problem | optimum | heuristic | short by", misses)


def of_named(draws: int) -> Iterator[Sequence[Any]]:
    graphs = {
        "complete n=10": (gbb.Graph.complete(10), ("zeta0", "diag0"), 5.0),
        "complete n=100": (gbb.Graph.complete(100), ("diag0",), 5.0),
        "circle n=1,000,001": (gbb.Graph.circle(1_000_001), ("diag0",), 5.0),
        "random p=.6 n=20": (gbb.Graph.random(20, 0.6, seed=1), ("zeta0",), 5.0),
        "3-regular n=50": (gbb.Graph.random_regular(50, 3, seed=1), ("zeta0", "diag0"), 5.0),
        "random p=.6 n=100": (gbb.Graph.random(100, 0.6, seed=1), ("zeta0", "diag0"), 60.0),
        "random p=.6 n=1000": (gbb.Graph.random(1000, 0.6, seed=1), ("diag0",), 60.0),
    }
    for name, (graph, diagonals, limit) in graphs.items():
        for diagonal in diagonals:
            count = draws if limit < 60 else min(3, draws)
            matrices = (matrix(10, seed, diagonal) for seed in range(count))
            problem = gbb.Problem(graph, np.eye(10))
            found = [gbb.optimum.solve(problem, M, seconds=limit) for M in matrices]
            seconds = [each.seconds for each in found]
            proven = f"{sum(each.proven for each in found)} of {count}"
            methods = {each.method if each.proven else each.bound_method for each in found}
            numbers = (f"{max(each.gap for each in found):.2%}", f"{np.median(seconds):.3f} s")
            longest = f"{max(seconds):.3f} s"
            by = ", ".join(sorted(methods))
            yield f"{name} {diagonal}", f"{limit:g} s", proven, *numbers, longest, by


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start


def annealed_by_dwave(graph: gbb.Graph) -> int:
    from dwave.samplers import SimulatedAnnealingSampler  # noqa: PLC0415

    edges = graph.edges[graph.sources < graph.indices]
    J = {(int(i), int(j)): 1.0 for i, j in edges}
    sampler = SimulatedAnnealingSampler()
    result = sampler.sample_ising({}, J, num_sweeps=2000, num_reads=10, seed=0)
    spins = np.array([result.first.sample[i] for i in range(graph.n)])
    return gbb.Cut.of(graph, (spins < 0).astype(int)).m12


def of_gset(folder: Path) -> Iterator[Sequence[str]]:
    for path in sorted(folder.glob("G*.txt")):
        graph = gbb.Graph.read(path)
        own: list[Callable[[], gbb.Cut]] = [
            partial(gbb.cuts.greedy, graph),
            partial(gbb.cuts.local_search, graph),
            partial(gbb.cuts.goemans_williamson, graph, seed=0),
            *(partial(gbb.cuts.best, graph, seconds=limit, seed=0) for limit in (1.0, 9.0)),
        ]
        cells = [f"{cut.m12:,} in {seconds:.2f} s" for cut, seconds in map(timed, own)]
        size, seconds = timed(partial(annealed_by_dwave, graph))
        dwave = f"{size:,} in {seconds:.2f} s"
        name = f"{path.stem} (best known {BEST_KNOWN.get(path.stem, 0):,})"
        yield name, *cells, f"{gbb.cuts.upper_bound(graph).edges:,.1f}", dwave


def of_large(graph: gbb.Graph) -> Iterator[Sequence[str]]:
    names = ("greedy", "edwards_erdos", "local_search")
    runs: dict[str, Callable[[], gbb.Cut]] = {
        name: partial(gbb.cuts.methods()[name], graph) for name in names
    }
    for name in ("goemans_williamson", "best"):
        method = getattr(gbb.cuts, name)
        runs[f"{name}, 15 s"] = partial(method, graph, seed=0, seconds=15.0)
    for k in (3, 4):
        runs[f"kcut, k = {k}, 20 s"] = partial(gbb.cuts.kcut, graph, k, seconds=20.0, seed=0)
    for name, run in runs.items():
        cut, seconds = timed(run)
        yield name, f"{cut.rho:.4f}", f"{seconds:.1f} s"


def of_alphas(folder: Path) -> Iterator[Sequence[str]]:
    """alpha_2 with the paper's cut and the best one, as a mean over five matrices."""
    graphs = {
        "random p=.6 n=20": gbb.Graph.random(20, 0.6, seed=1),
        "random p=.6 n=100": gbb.Graph.random(100, 0.6, seed=1),
        "random, mean degree 5, n=1000": gbb.Graph.random(1000, 5 / 999, seed=1),
        "3-regular n=100": gbb.Graph.random_regular(100, 3, seed=1),
        "3-regular n=1000": gbb.Graph.random_regular(1000, 3, seed=1),
        "lattice of triangles 5 x 20": triangles(5, 20),
        "lattice of triangles 30 x 30": triangles(30, 30),
    } | {path.stem: gbb.Graph.read(path) for path in sorted(folder.glob("G*.txt"))}
    for name, graph in graphs.items():
        cuts = (gbb.cuts.greedy(graph), gbb.cuts.best(graph, seconds=3.0, seed=0))
        found, proven, problem = [], 0, gbb.Problem(graph, np.eye(5))
        for seed in range(5):
            env = gbb.Environment(problem, matrix(5, seed, "zeta0"))
            best = gbb.optimum.solve(problem, env.M_star, seconds=5.0)
            proven += best.proven
            reports = [gbb.theory.report(env, cut=cut, optimum=best) for cut in cuts]
            found.append([report.alpha_2 for report in reports])
        before, after = np.mean(found, axis=0)
        cells = (f"{x:.3f}" for x in (cuts[0].rho, cuts[1].rho, before, after))
        yield name, *cells, f"{after - before:+.3f}", f"{proven} of 5"


def cuts(folder: Path, large: bool) -> None:
    warm = gbb.Graph.random(40, 0.3, seed=0)
    for method in gbb.cuts.methods().values():
        method(warm, seed=0)
    gbb.cuts.upper_bound(warm)
    gbb.cuts.kcut(warm, 3)
    own = "the paper's greedy | local search | Goemans-Williamson | best, 1 s | best, 9 s"
    others = "SDP bound | dwave-samplers 2000 x 10"
    table(f"graph | {own} | {others}", of_gset(folder))
    if large:
        graph = gbb.Graph.random(10**6, p=2e7 / (10**6 * (10**6 - 1)), seed=0)
        head = f"n = {graph.n:,}, {graph.m // 2:,} undirected edges | cut | time"
        table(head, of_large(graph))
    heads = "rho, paper's cut | rho, best cut | alpha_2 | alpha_2 | gain | optima proven"
    table(f"graph | {heads}", of_alphas(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["optima", "cuts"])
    parser.add_argument("folder", type=Path, nargs="?", default=Path("../shared/data/gset"))
    parser.add_argument("--large", action="store_true", help="also 10^6 agents, 10^7 links")
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of each proof")
    parser.add_argument("--draws", type=int, default=10, help="matrices of each named problem")
    options = parser.parse_args()
    if options.what == "optima":
        optima(options.seconds, options.draws)
    else:
        cuts(options.folder, options.large)


if __name__ == "__main__":
    main()
