"""What is to be played: axes as data, from Python or a TOML file."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gbb._support import checks
from gbb._support.checks import IntArray
from gbb.simulation.trace import recorded_rounds
from gbb.sweep.axes import Cell, check_axis, check_cell, check_policies, check_use

NUMERICS = 4
"""Counts up whenever a release plays other numbers than the one before: parts of both do not mix."""

MOST = 10**15
"""The most rounds, runs or matrices: whole numbers well below 2^53, where floats still count."""


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Policies on instances: every combination of the axes, with several matrices for each.

    An axis has one value, or a list of values and then a dimension of its own in the results.

    Parameters
    ----------
    graph
        Axis: families of graphs (``complete``, ``circle``, ``grid``, ...), or graph files.
    n
        Axis: number of agents, for families.
    d
        Axis: dimension of the arms.
    arms
        Axis: ``one-hot``, the d unit vectors; or ``normal``, K random vectors of norm 1.
    K
        Axis: number of arms that are normal; d when left out.
    frobenius
        Axis: the norm that matrices are scaled to; as drawn when left out.
    zeta
        Axis: the paper's zeta construction, on matrices whose best couple has two different arms; none
        when left out.
    sigma, noise
        Axes: the noise's standard deviation, and its law by name.
    p, degree
        Axes: of random and of regular graphs.
    matrices
        How many instances each combination has: matrices, and random graphs and arms. Instance i has the
        same matrix in every combination of its dimension.
    policies
        Names of policies, or tables of settings with a ``kind``, and a ``name`` where one comes twice.
    rounds, runs, record
        As for :func:`gbb.simulate`; ``runs`` are for each instance.
    seed
        Where all randomness comes from.
    cut
        The cut that policies play over: ``best`` (:func:`gbb.cuts.best`) or the paper's, ``greedy``.
    method
        ``engine``, or ``cuda`` for a GPU, whose random numbers are others; as for :func:`gbb.simulate`.
    task_seconds
        About how long a task is to take on one core. It decides how the work is cut, not what is found.
    """

    graph: Any
    policies: Any
    rounds: int
    n: Any = None
    d: Any = 5
    K: Any = None
    arms: Any = "one-hot"
    frobenius: Any = None
    zeta: Any = None
    sigma: Any = 1.0
    noise: Any = "gaussian"
    p: Any = 0.6
    degree: Any = None
    matrices: int = 1
    runs: int = 1
    record: Any = "log"
    seed: int = 0
    cut: str = "best"
    method: str = "engine"
    task_seconds: float = 20.0

    AXES = ("graph", "n", "d", "K", "arms", "frobenius", "zeta", "sigma", "noise", "p", "degree")

    def __post_init__(self) -> None:
        for name in self.AXES:
            object.__setattr__(self, name, check_axis(name, getattr(self, name)))
        for name in ("rounds", "runs", "matrices"):
            value = checks.integer(name, getattr(self, name), low=1, high=MOST)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "seed", checks.integer("seed", self.seed, low=0))
        checks.choice("cut", self.cut, ["best", "greedy"])
        checks.choice("method", self.method, ["engine", "cuda"])
        seconds = checks.real("task_seconds", self.task_seconds, low=0.0, low_open=True)
        object.__setattr__(self, "task_seconds", seconds)
        object.__setattr__(self, "policies", check_policies(self.policies))
        if not isinstance(self.record, str) and np.ndim(self.record):
            object.__setattr__(self, "record", np.asarray(self.record).tolist())
        _ = self.recorded
        for cell in self.cells:
            check_cell(cell)
        check_use({name: getattr(self, name) for name in self.AXES})

    @classmethod
    def read(cls, path: str | Path) -> Sweep:
        """The sweep that a TOML file declares: one key for each parameter."""
        try:
            content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise checks.input_error("path", "name a TOML file", f"{path} ({reason})") from None
        return cls.of(content)

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Sweep:
        """The sweep of a table of parameters by name."""
        if not isinstance(content, Mapping):
            raise checks.input_error("content", "be a table of parameters", repr(content))
        names = [field.name for field in fields(cls)]
        for name in content:
            checks.choice("key", name, names)
        for name in ("graph", "policies", "rounds"):
            if name not in content:
                raise checks.conflict(f"A sweep needs `{name}`.")
        return cls(**content)

    def to_dict(self) -> dict[str, Any]:
        """Its parameters as plain values, from which :meth:`of` makes the same sweep."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        plain |= {name: list(plain[name]) for name in self.AXES if plain[name] != (None,)}
        plain["policies"] = [dict(spec) for spec in self.policies]
        if self.method == "engine":  # a sweep of before this parameter is the same sweep
            del plain["method"]
        return {name: value for name, value in plain.items() if value != (None,)}

    @property
    def axes(self) -> dict[str, tuple[Any, ...]]:
        """The axes with several values, in order."""
        return {n: getattr(self, n) for n in self.AXES if len(getattr(self, n)) > 1}

    @cached_property
    def cells(self) -> list[Cell]:
        """Every combination, the last axis fastest."""
        values = (getattr(self, name) for name in self.AXES)
        return [dict(zip(self.AXES, each, strict=True)) for each in itertools.product(*values)]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each of :attr:`axes` has."""
        return tuple(len(values) for values in self.axes.values())

    def place(self, cell: int) -> dict[str, int]:
        """Where a cell stands along each of :attr:`axes`, by its number."""
        return {
            name: int(i)
            for name, i in zip(self.axes, np.unravel_index(cell, self.shape or (1,)), strict=False)
        }

    @cached_property
    def recorded(self) -> IntArray:
        """The rounds that are kept."""
        return recorded_rounds(self.rounds, self.record)

    @property
    def names(self) -> list[str]:
        """What the policies are called."""
        return [spec["name"] for spec in self.policies]

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cells)
