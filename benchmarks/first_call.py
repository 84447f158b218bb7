"""CPU seconds of a first call with an empty kernel cache, and of a second process. Prints Markdown.

python benchmarks/first_call.py [--against CHECKOUT] [--rows PATTERN]

A call is a whole process as a user starts it: imports, graph, default cut, problem, environment,
optimum and `simulate` of 20 rounds. CPU seconds count all its threads, in the kernel too.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]

CALL = """
import sys
import numpy as np
import gbb

policy, kind = sys.argv[1:]
K, d = {"8 arms in 3 dimensions": (8, 3)}.get(kind, (5, 5))
arms, rng = np.eye(K, d), np.random.default_rng(0)
if kind in ("general", "8 arms in 3 dimensions", "two regimes, general"):
    arms = rng.standard_normal((K, d))
graph = gbb.Graph.complete(5)
contexts, law = {
    "two regimes": (gbb.contexts.Regimes(2), lambda rng, T: rng.integers(0, 2, T)),
    "a vector": (gbb.contexts.Vector(2), lambda rng, T: rng.random((T, 2))),
    "edge features": (gbb.contexts.EdgeFeatures(2), lambda rng, T: rng.random((T, graph.m, 2))),
}.get(kind.removesuffix(", general"), (None, None))
problem = gbb.Problem(graph, arms, S=4.0, contexts=contexts)
M = np.abs(rng.standard_normal((problem.types, d, d)))
M *= 2.0 / np.linalg.norm(M, axis=(1, 2), keepdims=True)
env = gbb.Environment(problem, M[0] if problem.types == 1 else M)
gbb.simulate(env, policy, rounds=20, contexts=law)
"""

POLICIES = (
    "OFUL",
    "ImprovedOFUL",
    "ExploreThenCommit",
    "ThompsonSampling",
    "JointOFUL",
    "EpsilonGreedy",
    "KCutOFUL",
    "GuardedThompson",
    "InformationDirected",
    "UniformRandom",
)
KINDS = (
    "one-hot",
    "general",
    "8 arms in 3 dimensions",
    "two regimes",
    "two regimes, general",
    "a vector",
    "edge features",
)


def cpu_seconds(checkout: Path, cache: str, policy: str, kind: str) -> float | None:
    """Return the CPU seconds of one process; None where the policy does not play the problem."""
    places = {"PYTHONPATH": str(checkout / "src"), "NUMBA_CACHE_DIR": cache}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CALL, policy, kind],
        env=os.environ | places | {"OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        if "InputError" not in done.stderr:
            sys.exit(done.stderr)
        return None
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, help="another checkout's folder, side by side")
    parser.add_argument("--rows", default="", help="only rows whose name has this pattern")
    given = parser.parse_args()
    checkouts = [HERE] if given.against is None else [given.against.resolve(), HERE]
    columns = [""] if given.against is None else [" there", " here"]
    heads = [f"{call}{column}" for call in ("first", "second") for column in columns]
    print(f"| policy, problem | {' | '.join(heads)} |\n| --- |{' ---: |' * len(heads)}")
    for policy in POLICIES:
        for kind in KINDS:
            if not re.search(given.rows, f"{policy}, {kind}"):
                continue
            with tempfile.TemporaryDirectory() as folder:
                caches = [f"{folder}/{number}" for number in range(len(checkouts))]
                found = [
                    cpu_seconds(checkout, cache, policy, kind)
                    for _ in ("first", "second")
                    for checkout, cache in zip(checkouts, caches, strict=True)
                ]
            cells = ["-" if seconds is None else f"{seconds:.1f}" for seconds in found]
            print(f"| {policy}, {kind} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
