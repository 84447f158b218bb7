"""Exact search by toulbar2, where it is installed (``gbb[exact]``), in a process of its own.

A crash, a hang or Ctrl-C there cannot take this process down. ``python -m gbb.optimum.toulbar2 FOLDER
SECONDS`` is that process: it reads a problem from a folder and leaves the answer there.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from gbb._support.budget import Budget
from gbb._support.checks import FloatArray
from gbb.optimum.heuristic import heuristic
from gbb.optimum.optimum import Optimum
from gbb.pairwise import PairProblem

WORKER = (sys.executable, "-m", "gbb.optimum.toulbar2")
"""The command of the process; a folder and a number of seconds follow."""

UNITS = 1e9
"""Cost of the widest difference that one edge can make: costs are whole numbers."""

MAX_ENTRIES = 20_000_000
"""The largest number of table entries handed over."""

PATIENCE = 0.9
"""Fraction of the time after which toulbar2 is asked to stop and answer with what it has proven."""

STOP = getattr(signal, "SIGVTALRM", signal.SIGTERM)
"""The signal of toulbar2's own timer, which counts processor time: sent at the wall-clock limit."""


def toulbar2(pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> Optimum | None:
    """Branch and bound by toulbar2 from the heuristic's allocation, with toulbar2's own bound.

    Any edge types and forbidden arms. At the time limit the bound is what the search has proven so far.
    None if ``gbb[exact]`` is not installed or the problem too large to hand over.

    References
    ----------
    D. Allouche et al., Anytime hybrid best-first search with tree decomposition for weighted CSP,
    CP 2015. https://toulbar2.github.io/toulbar2
    """
    if not applies(pairs):
        return None
    start = heuristic(pairs, budget.part(0.3), rng, "toulbar2")
    return start if start.proven else search(pairs, start, budget)


def applies(pairs: PairProblem) -> bool:
    """Return whether toulbar2 is installed and the problem small enough to hand over."""
    small = pairs.graph.m // 2 * pairs.K**2 <= MAX_ENTRIES
    return small and importlib.util.find_spec("pytoulbar2") is not None


def search(pairs: PairProblem, start: Optimum, budget: Budget) -> Optimum:
    """Return ``start``, improved by what a process finds and proves from its allocation on."""
    costs, unit, top_value = costs_of(pairs)
    links = pairs.graph.links
    edges, types = pairs.graph.edges[links].astype(np.int64), pairs.types[links]
    arms = start.allocation[edges]
    # toulbar2 looks for what is cheaper than `top`: one unit more, so that it may confirm `start`.
    top = costs[types, arms[:, 0], arms[:, 1]].sum() + 1
    problem = {"edges": edges, "costs": costs[types], "forbidden": ~pairs.allowed}
    with tempfile.TemporaryDirectory(prefix="gbb-", ignore_cleanup_errors=True) as folder:
        np.savez(Path(folder, "problem.npz"), allow_pickle=False, top=top, **problem)
        try:
            _run_worker(folder, budget.left)
            answer: dict[str, Any] = json.loads(Path(folder, "answer.json").read_text())
        except FileNotFoundError:  # it crashed or hung
            return start
        except KeyboardInterrupt:
            budget.interrupt()
            return start
    best = start.allocation if answer["arms"] is None else np.array(answer["arms"], dtype=np.int64)
    # Rounding in the division may put a cost a hair above its table's true difference.
    bound = top_value - min(answer["bound"], top) * unit * (1 - 1e-12) + 1e-3 * pairs.rounding
    return Optimum.of(pairs, best, "toulbar2", bound=bound).merge(start, pairs)


def costs_of(pairs: PairProblem) -> tuple[FloatArray, float, float]:
    """Return the cost of each table entry in whole units, the unit, and the value at cost 0.

    A cost is how far an edge's reward lies below the largest it could be.
    """
    tops = pairs.tables.max(axis=(1, 2))
    losses = tops[:, None, None] - pairs.tables
    unit = max(float(losses.max()) / UNITS, 1e-300)
    # Rounded down, so that a lower bound on costs is an upper bound on values as it stands.
    return np.floor(losses / unit), unit, float(tops[pairs.types[pairs.graph.links]].sum())


def _run_worker(folder: str, seconds: float) -> None:
    """Run toulbar2 on the problem in ``folder`` for at most so many seconds."""
    with subprocess.Popen(
        [*WORKER, folder, str(seconds)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # the terminal's Ctrl-C is for the parent, which ends the child
    ) as process:
        try:
            process.wait(PATIENCE * seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(STOP)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait((1 - PATIENCE) * seconds)
        finally:
            process.kill()


def main(folder: Path, seconds: float) -> None:
    """Solve ``problem.npz`` of ``folder`` and leave ``answer.json`` there, complete or not at all.

    The answer is the cheapest allocation below ``top``, and a bound that no allocation undercuts.
    """
    import pytoulbar2  # noqa: PLC0415  (an extra)

    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415  (not on Windows)

        # The system ends this process if its own limit fails it and its parent is gone.
        limit = int(2 * seconds) + 10
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    with np.load(folder / "problem.npz") as data:
        edges, costs, forbidden, top = (
            data[name] for name in ("edges", "costs", "forbidden", "top")
        )
    n, K = forbidden.shape
    network = pytoulbar2.CFN(float(top), resolution=0, verbose=-1)
    network.AddVariables(n, "x", 0, K - 1)
    for i in np.flatnonzero(forbidden.any(axis=1)).tolist():
        network.AddFunction([i], [float(top) if never else 0.0 for never in forbidden[i]])
    for (i, j), table in zip(edges.tolist(), costs, strict=True):
        network.AddFunction([i, j], table.ravel().tolist())
    cheapest = network.Solve(timeLimit=max(1, int(seconds)))
    arms = None if cheapest is None else [int(arm) for arm in cheapest[0]]
    part = folder / "answer.part"
    part.write_text(json.dumps({"arms": arms, "bound": float(network.GetDDualBound())}))
    part.replace(folder / "answer.json")


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
