"""``gbb cut`` and ``gbb optimum``: the two hard sub-problems, and what is proven of the answers."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import typer

from gbb import cuts
from gbb import optimum as solvers
from gbb._cli import options as opt
from gbb._cli.given.graphs import GraphOptions, graph_of
from gbb._cli.given.instance import Files, environment
from gbb._cli.given.outputs import check_output
from gbb._cli.show import as_json, console, number, pairs
from gbb._support import checks
from gbb._support.budget import Budget
from gbb._support.files import atomic
from gbb.cuts import Cut
from gbb.cuts.annealing import best_within
from gbb.cuts.exact import exact_sides
from gbb.graph import Graph

FIELDS = ("value", "upper_bound", "gap", "proven", "method", "bound_method", "seconds")
"""What ``optimum --json`` holds beside the allocation."""

SEARCH = "The search"
SECONDS = 10.0
BOUND_SHARE = 0.2
"""The part of a cut's time limit that its upper bound may take."""


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """What both searches are told beside the graph."""

    panel: ClassVar[str] = SEARCH

    seconds: Annotated[float, opt.option("Time limit.", int(SECONDS))] = SECONDS
    out: Annotated[
        Path | None, opt.option("Write what each agent gets (.csv).", metavar="FILE")
    ] = None

    def check(self, graph: str) -> None:
        """Refuse a time limit or an output file that cannot be meant."""
        checks.real("--seconds", self.seconds, low=0.0, low_open=True)
        check_output("--out", self.out, (".csv",))
        if self.out is None or not (self.out.exists() and Path(graph).exists()):
            return
        if self.out.samefile(graph):
            raise checks.input_error("--out", "name another file than GRAPH", repr(str(self.out)))

    def write(self, heading: str, graph: Graph, values: Iterable[str]) -> None:
        """A row for each agent: its name or number, and its value."""
        if self.out is None:
            return
        with atomic(self.out) as temporary, temporary.open("w", encoding="utf-8", newline="") as f:
            writer = csv.writer(f, lineterminator="\n")
            writer.writerow(("agent", heading))
            writer.writerows(zip(graph.labels, values, strict=True))


def cut(
    graph: opt.GraphSpec,
    *,
    method: Annotated[
        str, opt.option(f"Cut method: {', '.join(cuts.methods())}.", "best", panel=SEARCH)
    ] = "best",
    k: Annotated[int, opt.option("Number of parts.", 2, panel=SEARCH)] = 2,
    search: SearchOptions,
    json: opt.Json = False,
    options: GraphOptions,
) -> None:
    """Cut a graph in parts so that many edges run between them.

    A line says what is proven: at most so many edges can be cut. Ctrl-C shows the
    best cut so far, within a second and with no proof.
    """
    search.check(graph)
    if k != 2 and method != "best":
        raise checks.conflict("`--method` can only be combined with `--k 2`.")
    seconds, seed = search.seconds, options.seed
    built = graph_of(graph, options)
    if built.m == 0:
        raise checks.input_error("GRAPH", "have at least one edge", "none")
    with _show_spinner(f"cutting, at most {seconds:g} s"):
        data = _two(built, method, seconds, seed) if k == 2 else _many(built, k, seconds, seed)
    parts = data.pop("parts")
    search.write("part", built, map(str, parts))
    if json:
        typer.echo(as_json(data))
        return
    rows = [
        ("agents n", number(built.n)),
        ("undirected edges", number(built.m // 2)),
        ("cut", f"{number(data['cut'])} of them"),
        ("cut rho", number(data["rho"])),
    ]
    console.print(pairs(f"Cut of {graph} in {k} ({data['method']})", rows))
    console.print(data["proof"])


def _two(graph: Graph, method: str, seconds: float, seed: int) -> dict[str, Any]:
    chosen, search = cuts.find(method, argument="--method"), Budget(seconds * (1 - BOUND_SHARE))
    found = best_within(graph, search, seed=seed) if method == "best" else chosen(graph, seed=seed)
    size = found.m12
    try:
        if search.interrupted:
            raise KeyboardInterrupt
        whole = _most(graph, size, seconds * BOUND_SHARE, seed)
        proof = f"proven: no cut has more than {number(whole)} edges"
        proof += "; this one is maximal" if size == whole else f"; gap {1 - size / whole:.2%}"
    except KeyboardInterrupt:  # the best so far, and nothing that takes longer
        whole, proof = graph.m // 2, "not proven: it was interrupted"
    return {
        "method": method,
        "cut": size,
        "rho": found.rho,
        "upper_bound": whole,
        "proven": size == whole,
        "proof": proof,
        "parts": found.sides,
    }


def _most(graph: Graph, size: int, seconds: float, seed: int) -> int:
    """So many edges, and not more, can be cut for all that is proven."""
    bound = cuts.upper_bound(graph, seconds=seconds, seed=seed).edges
    whole = max(size, int(np.floor(bound + 1e-6)))
    sides = exact_sides(graph, quick=True) if size < whole else None
    return size if sides is not None and Cut.of(graph, sides).m12 == size else whole


def _many(graph: Graph, k: int, seconds: float, seed: int) -> dict[str, Any]:
    found = cuts.kcut(graph, k, seconds=seconds, seed=seed)
    share = 1 - 1 / k
    return {
        "method": "annealing",
        "cut": round(found.rho * graph.m / 2),
        "rho": found.rho,
        "counts": found.counts.tolist(),
        "proof": (
            "proven: all edges are cut"
            if found.rho == 1.0
            else f"guaranteed: at least {share:.4g} of the edges; no upper bound"
        ),
        "parts": found.parts,
    }


def optimum(
    graph: opt.GraphSpec,
    *,
    files: Files,
    method: Annotated[
        str | None,
        opt.option(f"Solver: {', '.join(solvers.solvers())}.", "picked by itself", panel=SEARCH),
    ] = None,
    search: SearchOptions,
    json: opt.Json = False,
    options: GraphOptions,
) -> None:
    """Find the best allocation for a known matrix, and say what is proven of it.

    Ctrl-C shows the best allocation so far.
    """
    search.check(graph)
    seconds, seed = search.seconds, options.seed
    built = graph_of(graph, options)
    env = environment(built, files)
    with _show_spinner(f"solving, at most {seconds:g} s"):
        found = solvers.solve(env.problem, env.M_star, method=method, seconds=seconds, seed=seed)
    names = env.problem.arm_names or tuple(map(str, range(env.problem.K)))
    search.write("arm", built, (names[arm] for arm in found.allocation))
    played = np.bincount(found.allocation, minlength=env.problem.K)
    counts = {name: int(count) for name, count in zip(names, played, strict=True) if count}
    proof = f"proven optimal by {found.method}"
    if not found.proven:
        proof = f"not proven: at most {number(found.upper_bound)} (bound by {found.bound_method})"
        proof += f", gap {found.gap:.2%}"
    if json:
        data = {key: getattr(found, key) for key in FIELDS}
        typer.echo(as_json(data | {"allocation": found.allocation.tolist()}))
        return
    rows = [
        ("value", number(found.value)),
        ("found by", found.method),
        ("time", f"{found.seconds:.2f} s"),
        ("agents on each arm", ", ".join(f"{name}: {count:,}" for name, count in counts.items())),
    ]
    console.print(pairs(f"Best allocation on {graph}", rows))
    console.print(proof)


@contextmanager
def _show_spinner(text: str) -> Iterator[None]:
    """A spinner and a clock on standard error while a terminal is there to see them."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn("line"), TextColumn(text), TimeElapsedColumn())
    shown = sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not shown) as bar:
        bar.add_task(text, total=None)
        yield
