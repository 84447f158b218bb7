"""A grid of signals in SUMO: its files, and one simulated round with given offsets.

SUMO runs as a program of its own, so that a crash of it is an error message here and rounds can run
side by side.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike

from gbb._support.checks import FloatArray, InputError
from gbb.applications._require import require
from gbb.applications.traffic.streets import Grid

CYCLE = 60
"""Seconds of a signal's cycle: 27 green and 3 yellow for each of the two directions."""

SPEED = 13.89
"""The speed limit in m/s: 50 km/h."""

WARM_UP = 180
"""Seconds that fill the streets and are not measured."""

TIMEOUT = 300.0
"""Seconds after which a round that should take one is given up."""


class Measured(NamedTuple):
    """One round.

    Attributes
    ----------
    rewards
        ``1 - (time lost per vehicle from j to i in s) / 60`` for every directed edge (i, j).
    loss
        Vehicle-hours lost on all streets of the network, entrances included.
    between
        Those lost on the streets between signals.
    """

    rewards: FloatArray
    loss: float
    between: float


class Simulator:
    """The files of a :class:`Grid` in a temporary folder; close it or use it in a ``with``."""

    def __init__(self, grid: Grid) -> None:
        home = Path(str(require("traffic", "SUMO", "sumo").SUMO_HOME))
        self.grid = grid
        self._bin = home / "bin"
        self._environment = os.environ | {"SUMO_HOME": str(home)}
        self._folder = TemporaryDirectory(prefix="gbb-traffic-")
        self._place = Path(self._folder.name)
        try:
            self._build()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Simulator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the files."""
        self._folder.cleanup()

    def run(self, offsets: ArrayLike, seed: int) -> Measured:
        """One round with ``offsets`` in seconds, one per signal, and traffic drawn from ``seed``."""
        shifts = zip(self.grid.signals, np.asarray(offsets).tolist(), strict=True)
        end = WARM_UP + 60 * self.grid.minutes
        with TemporaryDirectory(dir=self._place) as folder:
            extra, out = Path(folder) / "extra.xml", Path(folder) / "edges.xml"
            logic = [f'<tlLogic id="{s}" programID="0" offset="{shift}"/>' for s, shift in shifts]
            data = f'<edgeData id="loss" file="{out}" begin="{WARM_UP}" end="{end}"/>'
            extra.write_text(_xml("additional", [*logic, data]), encoding="utf-8")
            options = {"n": "net.xml", "r": "demand.xml"}
            files = [part for key, name in options.items() for part in (f"-{key}", name)]
            self._call(
                "sumo", *files, "-a", extra, "--begin", 0, "--end", end, "--seed", seed,
                "--time-to-teleport", -1, "--xml-validation", "never", "--no-step-log", "true",
            )  # fmt: skip
            edges = ElementTree.parse(out).getroot().iter("edge")
            found = {str(edge.get("id")): edge for edge in edges}
        return self._read(found)

    def _read(self, found: dict[str, ElementTree.Element]) -> Measured:
        def number(edge: ElementTree.Element | None, key: str) -> float:
            return 0.0 if edge is None else float(edge.get(key, 0.0))

        names, pairs = self.grid.signals, self.grid.graph.edges.tolist()
        streets = [found.get(f"{names[j]}:{names[i]}") for i, j in pairs]
        lost = np.array([number(street, "timeLoss") for street in streets])
        passed = np.array([number(street, "left") for street in streets])
        rewards: FloatArray = 1.0 - lost / np.maximum(passed, 1.0) / 60.0
        everywhere = sum(number(edge, "timeLoss") for edge in found.values())
        return Measured(rewards, everywhere / 3600.0, float(lost.sum()) / 3600.0)

    def _build(self) -> None:
        """Have netconvert make the network, and write the demand."""
        places, (straight, turns) = self.grid.places(), self.grid.routes()
        ways = sorted({pair for way in straight for pair in pairwise(way)})
        kinds = {name: "traffic_light" if name[0] == "s" else "dead_end" for name in places}
        nodes = [
            f'<node id="{name}" x="{x}" y="{y}" type="{kinds[name]}"/>'
            for name, (x, y) in places.items()
        ]
        edges = [
            f'<edge id="{a}:{b}" from="{a}" to="{b}" numLanes="1" speed="{SPEED}"/>'
            for a, b in ways
        ]
        demand = [(way, self.grid.through) for way in straight]
        demand += [(way, self.grid.turning) for way in turns]
        flows = [
            f'<flow id="f{k}" begin="0" end="86400" period="exp({rate / 3600.0:.8f})" '
            f'departSpeed="max"><route edges="{_streets(way)}"/></flow>'
            for k, (way, rate) in enumerate(demand)
            if rate > 0.0
        ]
        for name, kind, rows in (("nodes", "nodes", nodes), ("edges", "edges", edges)):
            (self._place / f"{name}.xml").write_text(_xml(kind, rows), encoding="utf-8")
        (self._place / "demand.xml").write_text(_xml("routes", flows), encoding="utf-8")
        self._call(
            "netconvert", "-n", "nodes.xml", "-e", "edges.xml", "-o", "net.xml",
            "--tls.cycle.time", CYCLE, "--tls.default-type", "static", "--no-turnarounds", "true",
        )  # fmt: skip

    def _call(self, program: str, *options: object) -> None:
        command = [str(self._bin / program), *map(str, options)]
        try:
            done = subprocess.run(
                command, cwd=self._place, env=self._environment, timeout=TIMEOUT, check=False,
                capture_output=True, text=True, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise InputError(f"SUMO's {program} did not end within {TIMEOUT:g} s.") from None
        except OSError as error:
            raise InputError(f"SUMO's {program} cannot be started: {error.strerror}.") from None
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
            raise InputError(f"SUMO's {program} failed with exit code {done.returncode}: {said[0]}")


def _streets(way: Sequence[str]) -> str:
    return " ".join(f"{a}:{b}" for a, b in pairwise(way))


def _xml(kind: str, rows: Sequence[str]) -> str:
    return "\n".join([f"<{kind}>", *rows, f"</{kind}>", ""])
