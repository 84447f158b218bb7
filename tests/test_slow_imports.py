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
