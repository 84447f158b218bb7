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
from typing import NamedTuple, Self
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
"""Seconds after which a round that should take one is given up; so many for each hour of a day."""


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


class Flow(NamedTuple):
    """Vehicles an hour, at random, along a way, from one second to another."""

    way: Sequence[str]
    rate: float
    begin: int = 0
    end: int = 86400


class Counted(NamedTuple):
    """What SUMO counted: for every directed edge (i, j), and vehicle-seconds lost on all streets."""

    lost: FloatArray
    passed: FloatArray
    everywhere: float


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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the files."""
        self._folder.cleanup()

    def run(self, offsets: ArrayLike, seed: int) -> Measured:
        """One round with ``offsets`` in seconds, one per signal, and traffic drawn from ``seed``."""
        counted = self.simulate("demand", self.shift(offsets), 60 * self.grid.minutes, seed)[0]
        rewards: FloatArray = 1.0 - counted.lost / np.maximum(counted.passed, 1.0) / 60.0
        return Measured(rewards, counted.everywhere / 3600.0, float(counted.lost.sum()) / 3600.0)

    def shift(self, offsets: ArrayLike) -> list[str]:
        """Rows of a SUMO file that give the signals their offsets."""
        shifts = zip(self.grid.signals, np.asarray(offsets).tolist(), strict=True)
        return [f'<tlLogic id="{s}" programID="0" offset="{shift}"/>' for s, shift in shifts]

    def simulate(
        self, demand: str, rows: Sequence[str], seconds: int, seed: int, *, times: int = 1
    ) -> list[Counted]:
        """Run SUMO with the demand of that name; what is counted ``times`` times in ``seconds`` each."""
        end = WARM_UP + times * seconds
        with TemporaryDirectory(dir=self._place) as folder:
            extra, out = Path(folder) / "extra.xml", Path(folder) / "edges.xml"
            often = f' freq="{seconds}"' if times > 1 else ""
            data = f'<edgeData id="loss" file="{out}" begin="{WARM_UP}" end="{end}"{often}/>'
            extra.write_text(_xml("additional", [*rows, data]), encoding="utf-8")
            options = {"n": "net.xml", "r": f"{demand}.xml"}
            files = [part for key, name in options.items() for part in (f"-{key}", name)]
            self._call(
                "sumo", *files, "-a", extra, "--begin", 0, "--end", end, "--seed", seed,
                "--time-to-teleport", -1, "--xml-validation", "never", "--no-step-log", "true",
                timeout=TIMEOUT * times,
            )  # fmt: skip
            spans = ElementTree.parse(out).getroot().findall("interval")
        return [self._count({str(edge.get("id")): edge for edge in span}) for span in spans]

    def _count(self, found: dict[str, ElementTree.Element]) -> Counted:
        def number(edge: ElementTree.Element | None, key: str) -> float:
            return 0.0 if edge is None else float(edge.get(key, 0.0))

        names, pairs = self.grid.signals, self.grid.graph.edges.tolist()
        streets = [found.get(f"{names[j]}:{names[i]}") for i, j in pairs]
        lost = np.array([number(street, "timeLoss") for street in streets])
        passed = np.array([number(street, "left") for street in streets])
        everywhere = sum(number(edge, "timeLoss") for edge in found.values())
        return Counted(lost, passed, everywhere)

    def write_demand(self, name: str, flows: Sequence[Flow]) -> None:
        """Keep a demand under a name."""
        rows = [
            f'<flow id="f{k}" begin="{flow.begin}" end="{flow.end}" '
            f'period="exp({flow.rate / 3600.0:.8f})" '
            f'departSpeed="max"><route edges="{_streets(flow.way)}"/></flow>'
            for k, flow in enumerate(flows)
            if flow.rate > 0.0
        ]
        (self._place / f"{name}.xml").write_text(_xml("routes", rows), encoding="utf-8")

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
        for name, kind, rows in (("nodes", "nodes", nodes), ("edges", "edges", edges)):
            (self._place / f"{name}.xml").write_text(_xml(kind, rows), encoding="utf-8")
        through = [Flow(way, self.grid.through) for way in straight]
        self.write_demand("demand", [*through, *(Flow(way, self.grid.turning) for way in turns)])
        self._call(
            "netconvert", "-n", "nodes.xml", "-e", "edges.xml", "-o", "net.xml",
            "--tls.cycle.time", CYCLE, "--tls.default-type", "static", "--no-turnarounds", "true",
        )  # fmt: skip

    def programs(self) -> dict[str, list[str]]:
        """The phases of every signal, as rows of a SUMO file."""
        signals = ElementTree.parse(self._place / "net.xml").getroot().iter("tlLogic")
        return {
            str(signal.get("id")): [
                ElementTree.tostring(phase, encoding="unicode").strip() for phase in signal
            ]
            for signal in signals
        }

    def _call(self, program: str, *options: object, timeout: float = TIMEOUT) -> None:
        command = [str(self._bin / program), *map(str, options)]
        try:
            done = subprocess.run(
                command, cwd=self._place, env=self._environment, timeout=timeout, check=False,
                capture_output=True, text=True, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise InputError(f"SUMO's {program} did not end within {timeout:g} s.") from None
        except OSError as error:
            raise InputError(f"SUMO's {program} cannot be started: {error.strerror}.") from None
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
            raise InputError(f"SUMO's {program} failed with exit code {done.returncode}: {said[0]}")


def _streets(way: Sequence[str]) -> str:
    return " ".join(f"{a}:{b}" for a, b in pairwise(way))


def _xml(kind: str, rows: Sequence[str]) -> str:
    return "\n".join([f"<{kind}>", *rows, f"</{kind}>", ""])
