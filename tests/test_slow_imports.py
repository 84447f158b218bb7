"""What is slow to load is loaded by the calls that need it, not by importing a room."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import gbb

SLOW = ("numba", "scipy", "networkx", "pandas")

LOAD = """
import importlib, sys, types
package = types.ModuleType("gbb")  # without what gbb itself imports
package.__path__ = [sys.argv[1]]
sys.modules["gbb"] = package
importlib.import_module(sys.argv[2])
{then}
print(*(name for name in sys.argv[3:] if name in sys.modules))
"""


def loaded(room: str, then: str = "") -> list[str]:
    folder = str(Path(gbb.__file__).parent)
    command = [sys.executable, "-c", LOAD.format(then=then), folder, room, *SLOW]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize("room", ["gbb.graph", "gbb.pairwise", "gbb.cuts", "gbb.optimum"])
def test_importing_a_room_loads_nothing_slow(room: str) -> None:
    assert loaded(room) == []


def test_a_small_graph_needs_nothing_slow() -> None:
    then = "graph = sys.modules['gbb.graph'].Graph.circle(5); graph.reverse; graph.degrees"
    assert loaded("gbb.graph", then) == []


def test_what_is_needed_is_loaded() -> None:
    assert loaded("gbb.graph", "sys.modules['gbb.graph'].Graph.circle(5).to_networkx()") == [
        "networkx"
    ]


COORDINATE = """
import tempfile
from pathlib import Path
import numpy as np
import gbb

network = gbb.Network.of([[(0, 0, 0, 0, 1.0, 1.0, 70), (0, 1, 0, 0, 1.0, 1.0, 900)]] * 100)
for arms in (np.eye(3), np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])):
    with tempfile.TemporaryDirectory() as folder:
        problem = network.problem(arms)
        with gbb.Controller.create(f"sqlite:///{folder}/c.db", problem) as controller:
            trial = controller.ask()
            for _ in range(3):
                zeros = dict.fromkeys(range(100), (np.zeros((3, 3)), np.zeros((3, 3))))
                trial = controller.next(trial, zeros)
lines = Path("/proc/self/status").read_text().splitlines() if Path("/proc").exists() else []
peak = next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)
print(peak // 1024, *(name for name in sys.argv[1:] if name in sys.modules))
"""


def test_a_coordinator_of_shards_stays_small() -> None:
    command = [sys.executable, "-c", f"import sys{COORDINATE}", "numba", "pandas"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert found[1:] == []
    assert int(found[0]) < 100
