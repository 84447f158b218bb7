"""Cuts: the agents split in two so that many edges run between the parts.

Every public module of this folder offers one method under its own name, a
:class:`~gbb.cuts._cut.CutMethod`; :func:`methods` finds them, and those that other packages offer as
entry points of the group ``gbb.cuts``.
"""

from __future__ import annotations

from gbb._support import discover
from gbb.cuts._bound import CutBound, upper_bound
from gbb.cuts._cut import Cut, CutMethod, check_cut
from gbb.cuts._exact import exact, largest_if_quick
from gbb.cuts._kcut import KCut, kcut, refine
from gbb.cuts.annealing import annealing
from gbb.cuts.best import best
from gbb.cuts.edwards_erdos import edwards_erdos
from gbb.cuts.goemans_williamson import goemans_williamson
from gbb.cuts.greedy import greedy
from gbb.cuts.local_search import local_search

__all__ = [
    "Cut",
    "CutBound",
    "CutMethod",
    "KCut",
    "annealing",
    "best",
    "check_cut",
    "edwards_erdos",
    "exact",
    "find",
    "goemans_williamson",
    "greedy",
    "kcut",
    "largest_if_quick",
    "local_search",
    "methods",
    "refine",
    "upper_bound",
]


_METHODS: discover.Family[CutMethod] = discover.Family(
    "gbb.cuts", "method", "be a function of a graph that cuts it", callable
)
methods, find = _METHODS.members, _METHODS.find
