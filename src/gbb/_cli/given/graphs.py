"""A graph from what the command line says: a file, or a family and its size."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from gbb import cuts
from gbb._cli.errors import reword
from gbb._cli.options import GRAPH, option
from gbb._support import checks
from gbb.cuts import Cut
from gbb.graph import FAMILIES, Graph

# Two letters at least, so that a Windows drive is no family.
FAMILY = re.compile(r"([A-Za-z_]{2,}):(.*)")
SIZE = re.compile(r"[0-9]+")
GRID = re.compile(r"([0-9]+)[xX]([0-9]+)")
MOST_AGENTS = 10**9
CURE = "Write a family as FAMILY:SIZE (complete:5, grid:4x6) or give a graph file."


@dataclass(frozen=True, kw_only=True)
class GraphOptions:
    """What is said of a graph beside its file or family."""

    panel: ClassVar[str] = GRAPH

    p: Annotated[float | None, option("Edge probability of a random graph.", 0.6)] = None
    degree: Annotated[int | None, option("Degree of a regular graph.")] = None
    undirected: Annotated[bool, option("Each row of the file stands for both directions.")] = False
    seed: Annotated[int, option("Where all randomness comes from.", 0)] = 0


CutName = Annotated[str, option(f"Cut method: {', '.join(cuts.methods())}.", "best", panel=GRAPH)]


def graph_of(spec: str, given: GraphOptions) -> Graph:
    """The graph that ``spec`` names."""
    match = FAMILY.fullmatch(spec)
    if Path(spec).is_dir():
        raise checks.input_error(
            "GRAPH", "be a file or FAMILY:SIZE", f"the directory {spec!r}", CURE
        )
    if match is None or Path(spec).exists():
        for name, value in (("--p", given.p), ("--degree", given.degree)):
            if value is not None:
                raise checks.conflict(
                    f"`{name}` can only be combined with a family of graphs. {CURE}"
                )
        if "." not in Path(spec).name and not Path(spec).exists():
            raise checks.input_error("GRAPH", "be a file or FAMILY:SIZE", repr(spec), CURE)
        return _read(spec, undirected=given.undirected)
    if given.undirected:
        only = "`--undirected` can only be combined with a graph file"
        raise checks.conflict(f"{only}, not with {spec!r}.")
    family = checks.choice("family", match[1].lower(), FAMILIES)
    options: dict[str, float | int] = {"seed": given.seed}
    for name, value, owner in (("p", given.p, "random"), ("degree", given.degree, "regular")):
        if value is not None and family != owner:
            only = f"`--{name}` can only be combined with the family '{owner}'"
            raise checks.conflict(f"{only}, not with {spec!r}.")
        if value is not None:
            options[name] = value
    if family == "regular" and given.degree is None:
        raise checks.conflict("The family 'regular' needs `--degree`.")
    size = match[2]
    if family == "grid" and (sides := GRID.fullmatch(size)):
        options["rows"] = int(sides[1])
        size = str(int(sides[1]) * int(sides[2]))
    if not SIZE.fullmatch(size):
        rule = f"give the number of agents after '{family}:'"
        raise checks.input_error("GRAPH", rule, repr(size), CURE)
    with reword({"`n`": "`GRAPH`"}):
        return Graph.family(family, checks.integer("n", int(size), high=MOST_AGENTS), **options)


def _read(path: str, *, undirected: bool) -> Graph:
    with reword({"`path`": "`GRAPH`"}):
        return Graph.read(path, undirected=undirected)


def cut_of(graph: Graph, method: str, seed: int) -> Cut:
    """The graph's cut by the named method."""
    return cuts.find(method, argument="cut")(graph, seed=seed)
