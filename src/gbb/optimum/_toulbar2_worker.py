"""The process that runs toulbar2: reads a problem from a file, writes the answer to another.

Run as a script, without importing gbb, so that it starts fast.
"""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np


def main(folder: Path, seconds: float) -> None:
    """Solve ``problem.npz`` of ``folder`` and leave ``answer.json`` there."""
    limit_cpu(seconds)
    with np.load(folder / "problem.npz") as data:
        answer = minimise(
            data["edges"], data["costs"], data["forbidden"], int(data["top"]), seconds
        )
    part = folder / "answer.part"
    part.write_text(json.dumps(answer))
    part.replace(folder / "answer.json")


def minimise(
    edges: np.ndarray[Any, Any],
    costs: np.ndarray[Any, Any],
    forbidden: np.ndarray[Any, Any],
    top: int,
    seconds: float,
) -> dict[str, Any]:
    """The cheapest allocation below ``top`` and a bound that no allocation below it undercuts."""
    import pytoulbar2  # noqa: PLC0415

    network = pytoulbar2.CFN(float(top), resolution=0, verbose=-1)
    n, K = forbidden.shape
    network.AddVariables(n, "x", 0, K - 1)
    for i in np.flatnonzero(forbidden.any(axis=1)).tolist():
        network.AddFunction([i], [float(top) if never else 0.0 for never in forbidden[i]])
    for (i, j), table in zip(edges.tolist(), costs, strict=True):
        network.AddFunction([i, j], table.ravel().tolist())
    found = network.Solve(timeLimit=max(1, int(seconds)))
    arms = None if found is None else [int(arm) for arm in found[0]]
    return {"arms": arms, "bound": float(network.GetDDualBound())}


def limit_cpu(seconds: float) -> None:
    """Let the system end this process if its own limit fails it."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415

        most = int(2 * seconds) + 10
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
