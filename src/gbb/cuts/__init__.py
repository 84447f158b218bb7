"""Cuts: the agents split in two or more parts so that many edges run between the parts.

:func:`methods` lists the methods, each a :class:`~gbb.cuts.CutMethod`: those of gbb and those that
installed packages offer as entry points of the group ``gbb.cuts``.
"""

from __future__ import annotations

from gbb._support import plugins
from gbb.cuts.annealing import annealing, best, kcut, refine
from gbb.cuts.cut import Cut, CutMethod, check_cut
from gbb.cuts.exact import exact
from gbb.cuts.goemans_williamson import CutBound, goemans_williamson, upper_bound
from gbb.cuts.greedy import edwards_erdos, greedy, local_search

__all__ = [
    "Cut",
    "CutBound",
    "CutMethod",
    "annealing",
    "best",
    "check_cut",
    "edwards_erdos",
    "exact",
    "find",
    "goemans_williamson",
    "greedy",
    "kcut",
    "local_search",
    "methods",
    "refine",
    "upper_bound",
]


_METHODS: dict[str, CutMethod] = {
    method.__name__: method
    for method in (annealing, best, edwards_erdos, goemans_williamson, greedy, local_search)
}


def methods() -> dict[str, CutMethod]:
    """Return all cut methods by name, including those of installed packages."""
    return plugins.members("gbb.cuts", _METHODS)


def find(name: str, *, argument: str = "method") -> CutMethod:
    """Return a cut method by name or as ``package.module:function``; errors call it ``argument``."""
    return plugins.load("gbb.cuts", name, _METHODS, argument=argument)
