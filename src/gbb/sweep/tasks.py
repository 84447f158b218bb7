"""The work in tasks: batches that the declaration alone decides, named by what they compute."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import gbb
from gbb import policies
from gbb.graph import FAMILIES
from gbb.simulation.cuda.runs import ON_THREADS
from gbb.sweep.axes import Cell
from gbb.sweep.instances import make_graph
from gbb.sweep.spec import NUMERICS, Sweep

SOLVING = 0.02
"""About how many seconds an optimum takes, and a hundredth of that for each edge on top."""


DEVICE = 300.0
"""About how many cores a GPU is worth."""

PART = 1 << 24
"""About the most bytes that a task leaves."""

BLOCK = 1 << 20
"""About the most bytes that a block leaves, which is what is read at once."""


class Block(NamedTuple):
    """Some instances of one cell: the cell's number, and the first matrix and the one after the last."""

    cell: int
    start: int
    stop: int


class Task(NamedTuple):
    """What is done at once and kept in one file.

    Attributes
    ----------
    kind
        ``play``, or ``optima``.
    name
        A digest of all that decides its result.
    blocks
        The instances.
    policies
        The names of the policies that are played.
    seconds
        About how long it takes.
    """

    kind: str
    name: str
    blocks: tuple[Block, ...]
    policies: tuple[str, ...]
    seconds: float


def plan(sweep: Sweep) -> list[Task]:
    """All tasks, the optima first. Every instance's optimum is in one, its runs in one or more."""
    sizes = [make_graph(sweep, cell, 0).m for cell in sweep.cells]
    solving = [SOLVING * (1.0 + m / 100.0) for m in sizes]
    tasks = list(_batch(sweep, "optima", solving, tuple(sweep.names)))
    largest = max(zip(sweep.cells, sizes, strict=True), key=lambda each: each[1])
    for names in _split_policies(sweep, *largest):
        costs = [seconds_of(sweep, *each, names) for each in zip(sweep.cells, sizes, strict=True)]
        tasks += _batch(sweep, "play", costs, names)
    return tasks


def seconds_of(sweep: Sweep, cell: Cell, m: int, names: Sequence[str]) -> float:
    """About how long all runs of these policies on one instance take on one core."""
    normal = cell["arms"] == "normal"
    arms = (cell["K"] or cell["d"]) if normal else cell["d"]
    total = 0.0
    for spec in sweep.policies:
        if spec["name"] in names:
            compiled, searches, hard = _traits(spec["kind"])
            if not compiled:
                micros = 400.0 + 2.0 * m
            elif searches:
                micros = 4.0 + 0.003 * arms * m * (5.0 if hard and normal else 1.0)
            else:
                micros = 2.0 + 0.003 * m
            on_device = sweep.method == "cuda" and policies.find(spec["kind"]) not in ON_THREADS
            total += micros / (DEVICE if on_device else 1.0)
    return total * 1e-6 * sweep.rounds * sweep.runs


UNCOMPILED = {
    policies.BernoulliThompson,
    policies.Conservative,
    policies.DiscountedOFUL,
    policies.ExponentialWeights,
    policies.PhasedExploration,
    policies.SlidingWindowOFUL,
}
"""Those of gbb's policies that the reference loop plays, as it does those of others."""


@cache
def _traits(kind: str) -> tuple[bool, bool, bool]:
    """Whether a policy is compiled, searches over whole allocations, and does so optimistically."""
    found = policies.find(kind)
    searches = "starts" in policies.setting_names(kind)
    compiled = found.__module__.startswith("gbb.") and found not in UNCOMPILED
    return compiled, searches, issubclass(found, policies.JointOFUL)


def _split_policies(sweep: Sweep, cell: Cell, m: int) -> list[tuple[str, ...]]:
    """Policies that are played together: all, unless an instance of this cell is more than a task."""
    groups: list[list[str]] = [[]]
    for name in sweep.names:
        together = [*groups[-1], name]
        seconds = seconds_of(sweep, cell, m, together)
        if groups[-1] and _fill(sweep, "play", seconds, together) > 1.0:
            groups.append([name])
        else:
            groups[-1] = together
    return [tuple(names) for names in groups]


def _fill(sweep: Sweep, kind: str, seconds: float, names: Sequence[str]) -> float:
    """What share of a task an instance is, by its time or by what it leaves."""
    return max(seconds / sweep.task_seconds, _size(sweep, kind, names) / PART)


def _size(sweep: Sweep, kind: str, names: Sequence[str]) -> int:
    """How many bytes are left of an instance: rewards and their totals, or little."""
    return 16 * len(names) * (sweep.runs * len(sweep.recorded) if kind == "play" else 1)


def _batch(sweep: Sweep, kind: str, costs: list[float], names: tuple[str, ...]) -> Iterator[Task]:
    """Blocks of instances in order, as many as fill a task."""
    blocks: list[Block] = []
    filled = seconds = 0.0
    most = max(1, BLOCK // _size(sweep, kind, names))
    for cell, cost in enumerate(costs):
        start, share = 0, _fill(sweep, kind, cost, names)
        while start < sweep.matrices:
            if filled >= 1.0:
                yield _task(sweep, kind, blocks, names, seconds)
                blocks, filled, seconds = [], 0.0, 0.0
            room = min(most, max(1, int((1.0 - filled) / share)))
            stop = min(sweep.matrices, start + room)
            blocks.append(Block(cell, start, stop))
            filled += share * (stop - start)
            seconds += cost * (stop - start)
            start = stop
    yield _task(sweep, kind, blocks, names, seconds)


def _task(
    sweep: Sweep, kind: str, blocks: list[Block], names: tuple[str, ...], seconds: float
) -> Task:
    about = {
        "kind": kind,
        "cells": [[_plain(sweep.cells[b.cell]), b.start, b.stop] for b in blocks],
        "policies": [spec for spec in sweep.policies if spec["name"] in names],
        "rounds": sweep.rounds,
        "runs": sweep.runs,
        "record": sweep.record,
        "seed": sweep.seed,
        "version": [gbb.__version__, NUMERICS],
    }
    if kind == "play":
        about["cut"] = sweep.cut
        if sweep.method != "engine":
            about["method"] = sweep.method
    text = json.dumps(about, sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return Task(kind, f"{kind}-{digest}", tuple(blocks), names, seconds)


def _plain(cell: Cell) -> Cell:
    """The values that a cell has, and what its graph file holds.

    An axis that is added some day does not rename the tasks without it.
    """
    plain = {name: value for name, value in cell.items() if value is not None}
    if cell["graph"] not in FAMILIES:
        plain["graph"] = hashlib.sha256(Path(cell["graph"]).read_bytes()).hexdigest()
    return plain
