"""What a declaration may say: values of axes, policies, and what goes together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gbb import policies
from gbb._support import checks
from gbb.environment import noises
from gbb.graph import FAMILIES
from gbb.problem import LARGEST

ARMS = ("one-hot", "normal")
"""The kinds of arms: the unit vectors, or K standard normal vectors scaled to norm 1."""

Cell = dict[str, Any]
"""A value of every axis."""


def check_axis(name: str, given: Any) -> tuple[Any, ...]:
    """The values of an axis, plain and all different."""
    if isinstance(given, np.ndarray):
        given = given.tolist()
    several = isinstance(given, Sequence) and not isinstance(given, str)
    values = tuple(given) if several else (given,)
    if not values:
        raise checks.input_error(name, "have at least one value", "none")
    checked = tuple(_value(name, value) for value in values)
    if len(set(checked)) < len(checked):
        raise checks.input_error(name, "have different values", list(checked))
    return checked


def _value(name: str, value: Any) -> Any:
    """One value of an axis, of its kind."""
    if value is None and name in ("n", "K", "frobenius", "zeta", "degree"):
        return None
    if name in ("graph", "arms", "noise"):
        if not isinstance(value, str):
            raise checks.input_error(name, "be text", repr(value))
        if name == "graph" and value not in FAMILIES and Path(value).is_file():
            return str(Path(value).resolve())  # workers may stand in another folder
        known = {"arms": ARMS, "noise": noises()}
        return checks.choice(name, value, known[name]) if name in known else value
    if name in ("n", "d", "K", "degree"):
        return checks.integer(name, value, low=1)
    high = LARGEST if name in ("sigma", "frobenius") else 1.0
    return checks.real(name, value, low=0.0, low_open=name == "frobenius", high=high)


def check_policies(given: Any) -> tuple[dict[str, Any], ...]:
    """The policies as tables of settings, each with its kind and a name of its own."""
    listed = [given] if isinstance(given, str | Mapping) else given
    if not isinstance(listed, Sequence):
        raise checks.input_error("policies", "be a list of names and tables", repr(given))
    if not listed:
        raise checks.input_error("policies", "hold at least one policy", "none")
    specs = [_policy(each) for each in listed]
    names = [spec["name"] for spec in specs]
    if len(set(names)) < len(names):
        cure = 'Give each a name of its own, {kind = "...", name = "..."}.'
        raise checks.input_error("policies", "have different names", names, cure)
    return tuple(specs)


def _policy(given: Any) -> dict[str, Any]:
    """One policy as a table of plain values, which can be written down."""
    if not isinstance(given, str | Mapping):
        raise checks.input_error("policies", "be names or tables of settings", repr(given))
    spec = {"kind": given} if isinstance(given, str) else dict(given)
    if "kind" not in spec:
        raise checks.input_error("policies", "have a kind each", repr(spec))
    policies.find(spec["kind"])
    spec.setdefault("name", spec["kind"].rpartition(":")[2])
    if not isinstance(spec["name"], str) or not spec["name"]:
        raise checks.input_error("name", "be a text that is not empty", repr(spec["name"]))
    for name in spec.keys() - {"kind", "name"}:
        checks.known_names(spec["kind"], "setting", [name], policies.setting_names(spec["kind"]))
        spec[name] = _plain(name, spec[name])
    return dict(sorted(spec.items()))


def _plain(name: str, value: Any) -> Any:
    """The value of a setting, as JSON has it."""
    plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    try:
        return json.loads(json.dumps(plain))
    except (TypeError, ValueError):
        rule = "be a plain value: a number, text, or a list of them"
        raise checks.input_error(name, rule, f"{value!r} ({type(value).__name__})") from None


USED = {
    "n": ("graph", tuple(FAMILIES), "families of graphs"),
    "K": ("arms", ("normal",), "arms that are 'normal'"),
    "degree": ("graph", ("regular",), "the graph 'regular'"),
    "p": ("graph", ("random",), "the graph 'random'"),
}
"""Axes that say something only where another has one of these values, and what these are."""


def is_used(name: str, cell: Cell) -> bool:
    """Whether the value that a cell has on an axis changes anything there."""
    if name not in USED:
        return True
    other, values, _ = USED[name]
    return cell[other] in values


def check_use(axes: Mapping[str, tuple[Any, ...]]) -> None:
    """Refuse values of an axis that no combination would use."""
    for name, (other, values, what) in USED.items():
        given = len(axes[name]) > 1 or (name != "p" and axes[name] != (None,))  # p has a default
        if given and not set(values) & set(axes[other]):
            said = f"{', '.join(map(str, axes[name]))} with `{other}` {', '.join(axes[other])}"
            raise checks.conflict(f"`{name}` is for {what}, but got {said}.")


def check_cell(cell: Cell) -> None:
    """Refuse values that do not go together, before anything is played."""
    if cell["graph"] in FAMILIES:
        if cell["n"] is None:
            raise checks.conflict(f"The family {cell['graph']!r} needs `n`.")
        if cell["graph"] == "regular" and cell["degree"] is None:
            raise checks.conflict("The family 'regular' needs `degree`.")
    elif not Path(cell["graph"]).is_file():
        cure = checks.suggest(cell["graph"], FAMILIES)
        raise checks.input_error("graph", "be a family or a graph file", repr(cell["graph"]), cure)
    if cell["zeta"] is not None and cell["d"] < 2:
        raise checks.conflict(f"`zeta` needs two arms or more, but got `d` {cell['d']}.")
