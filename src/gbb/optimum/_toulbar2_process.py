"""toulbar2 in a process of its own: a crash, a hang or Ctrl-C there cannot take this one down."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from gbb._support.checks import IntArray
from gbb.optimum._optimum import Optimum
from gbb.pairwise import PairProblem

SCRIPT = Path(__file__).with_name("_toulbar2_worker.py")

UNITS = 1e9
"""Cost of the widest difference that one edge can make: costs are whole numbers."""

ENTRIES = 20_000_000
"""The largest number of table entries handed over."""

CALM = 0.9
"""The part of the remaining time after which toulbar2 is asked to stop and say what it knows."""

STOP = getattr(signal, "SIGVTALRM", signal.SIGTERM)
"""The signal of toulbar2's own timer, which counts processor time: sent at the wall-clock limit."""


class Toulbar2Process:
    """A toulbar2 run on one problem, started by ``with`` and ended with it.

    Costs are what an edge pays below the most it could, rounded *down* to whole units, so that a
    lower bound on costs is an upper bound on values as it stands.

    Parameters
    ----------
    pairs
        The problem.
    incumbent
        An allocation; the search looks for one at least as good.
    seconds
        The time limit, which toulbar2 counts in whole seconds of processor time.
    """

    def __init__(self, pairs: PairProblem, incumbent: IntArray, seconds: float) -> None:
        self.pairs = pairs
        self.incumbent = incumbent
        self.seconds = seconds
        tables = pairs.tables
        tops = tables.max(axis=(1, 2))
        self._unit = max(float((tops[:, None, None] - tables).max()) / UNITS, 1e-300)
        self._costs = np.floor((tops[:, None, None] - tables) / self._unit)
        self._most = float(tops[pairs.types[pairs.once]].sum())

    @staticmethod
    def fits(pairs: PairProblem) -> bool:
        """Whether the problem is small enough to hand over."""
        return pairs.graph.m // 2 * pairs.K**2 <= ENTRIES

    def __enter__(self) -> Toulbar2Process:
        pairs, graph = self.pairs, self.pairs.graph
        self._folder = tempfile.TemporaryDirectory(prefix="gbb-", ignore_cleanup_errors=True)
        folder = Path(self._folder.name)
        edges = graph.edges[pairs.once].astype(np.int64)
        types = pairs.types[pairs.once]
        ends = self.incumbent[edges]
        top = self._costs[types, ends[:, 0], ends[:, 1]].sum() + 1
        np.savez(
            folder / "problem.npz",
            edges=edges,
            costs=self._costs[types],
            forbidden=~pairs.allowed,
            top=np.int64(top),
        )
        self._top = float(top)
        self._process = subprocess.Popen(
            [sys.executable, str(SCRIPT), str(folder), str(self.seconds)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # the terminal's Ctrl-C is for the parent, which ends the child
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()

    @property
    def running(self) -> bool:
        """Whether the search is still on."""
        return self._process.poll() is None

    def _ended(self, timeout: float) -> bool:
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return False
        return True

    def answer(self, timeout: float) -> Optimum | None:
        """What was found, waiting at most ``timeout`` seconds; None when there is no answer."""
        if not self._ended(CALM * timeout):
            self._process.send_signal(STOP)
            if not self._ended((1 - CALM) * timeout):
                return None
        try:
            text = (Path(self._folder.name) / "answer.json").read_text()
        except FileNotFoundError:
            return None
        found: dict[str, Any] = json.loads(text)
        arms = self.incumbent if found["arms"] is None else np.array(found["arms"], dtype=np.int64)
        lowest = min(found["bound"], self._top)
        # Rounding in the division may put a cost a hair above its table's true difference.
        bound = self._most - lowest * self._unit * (1 - 1e-12) + 1e-3 * self.pairs.rounding
        return Optimum.of(self.pairs, arms, "toulbar2", bound=bound)
