"""A small sweep, and running it whole, in parts and in processes that can be killed."""

import json
import os
import subprocess
import sys
from contextlib import suppress

from gbb import sweep as sweeps

SMALL = {
    "graph": ["complete", "circle"],
    "n": [4, 5],
    "d": 3,
    "zeta": [0.0, 1.0],
    "sigma": 0.5,
    "matrices": 3,
    "runs": 2,
    "rounds": 60,
    "policies": ["ImprovedOFUL", "ThompsonSampling", {"kind": "EpsilonGreedy", "epsilon": 0.1}],
}
FINE = {**SMALL, "task_seconds": 0.005}
"""The same in many small tasks."""

KILLS = int(os.environ.get("GBB_SWEEP_KILLS", "3"))
"""How often something is killed."""

LONG = {**SMALL, "rounds": 6_000, "record": [1, 100, 6_000], "task_seconds": 0.12}
LONG["matrices"] = 3 * max(1, KILLS // 8)
"""Tasks that take long enough to be killed on the way."""


def run(folder, declared=SMALL, make=None, **named):
    make = sweeps.executors.local(1, threads=True) if make is None else make
    return sweeps.run(sweeps.Sweep.of(declared), folder, make_executor=make, **named)


def bits(folder):
    """Every part as it is on disk."""
    return {path.name: path.read_bytes() for path in sorted((folder / "parts").glob("*.npz"))}


def parts_in(folder):
    with suppress(FileNotFoundError):
        return len(list((folder / "parts").glob("*.npz")))
    return 0


def command(folder, declared, *options):
    """The arguments that run a sweep from the command line."""
    spec = folder.with_suffix(".toml")
    lines = [f"{key} = {_toml(value)}" for key, value in declared.items()]
    spec.write_text("\n".join(lines))
    return [sys.executable, "-m", "gbb", "sweep", "run", spec, "--out", folder, *options]


def start(folder, declared, *options, **named):
    return subprocess.Popen(command(folder, declared, *options), **named)


def _toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


def children(pid):
    """Processes that a process started."""
    listed = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(pid)], check=False, capture_output=True, text=True
    )
    lines = [line.split(None, 1) for line in listed.stdout.splitlines()]
    return [int(pid) for pid, words in lines if "resource_tracker" not in words]


def kill(pid, signal):
    with suppress(ProcessLookupError):
        os.kill(pid, signal)
        return True
    return False
