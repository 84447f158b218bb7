"""A graph from what the command line says: a file, or a family and its size."""

from __future__ import annotations

import re
from pathlib import Path

from gbb import cuts
from gbb._support import checks
from gbb._support.checks import InputError
from gbb.cuts import Cut
from gbb.graph import Graph

# Two letters at least, so that a Windows drive is no family.
FAMILY = re.compile(r"([A-Za-z_]{2,}):(.*)")
SIZE = re.compile(r"[0-9]+")
GRID = re.compile(r"([0-9]+)[xX]([0-9]+)")
MOST_AGENTS = 10**9
CURE = "Write a family as FAMILY:SIZE (complete:5, grid:4x6) or give a graph file."


def graph_of(
    spec: str, *, p: float | None, degree: int | None, undirected: bool, seed: int
) -> Graph:
    """The graph that ``spec`` names."""
    match = FAMILY.fullmatch(spec)
    if Path(spec).is_dir():
        raise checks.input_error(
            "GRAPH", "be a file or FAMILY:SIZE", f"the directory {spec!r}", CURE
        )
    if match is None or Path(spec).exists():
        for name, value in (("--p", p), ("--degree", degree)):
            if value is not None:
                raise checks.input_error(name, "go with a family of graphs", "a file", CURE)
        if "." not in Path(spec).name and not Path(spec).exists():
            raise checks.input_error("GRAPH", "be a file or FAMILY:SIZE", repr(spec), CURE)
        return _read(spec, undirected=undirected)
    if undirected:
        raise checks.input_error("--undirected", "go with a graph file", f"the family {spec!r}")
    family = checks.choice("family", match[1].lower(), Graph.families())
    options: dict[str, float | int] = {"seed": seed}
    for name, value, owner in (("p", p, "random"), ("degree", degree, "regular")):
        if value is not None and family != owner:
            raise checks.input_error(f"--{name}", f"go with the family '{owner}'", f"{spec!r}")
        if value is not None:
            options[name] = value
    if family == "regular" and degree is None:
        raise checks.input_error("--degree", "be given for the family 'regular'", "nothing")
    size = match[2]
    if family == "grid" and (sides := GRID.fullmatch(size)):
        options |= {"rows": int(sides[1]), "cols": int(sides[2])}
        size = str(int(sides[1]) * int(sides[2]))
    if not SIZE.fullmatch(size):
        rule = f"give the number of agents after '{family}:'"
        raise checks.input_error("GRAPH", rule, repr(size), CURE)
    return Graph.family(family, checks.integer("GRAPH", int(size), high=MOST_AGENTS), **options)


def _read(path: str, *, undirected: bool) -> Graph:
    try:
        return Graph.read(path, undirected=undirected)
    except InputError as error:
        raise InputError(str(error).replace("`path`", "`GRAPH`")) from None


def cut_of(graph: Graph, method: str, seed: int) -> Cut:
    """The graph's cut by the named method."""
    known = cuts.methods()
    return known[checks.choice("cut", method, known)](graph, seed=seed)
