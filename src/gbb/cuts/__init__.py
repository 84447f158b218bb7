"""Cuts: the agents split in two so that many edges run between the parts.

Every public module of this folder offers one method under its own name, a
:class:`~gbb.cuts._cut.CutMethod`; :func:`methods` finds them.
"""

from __future__ import annotations

import sys
from typing import cast

from gbb import _discover
from gbb.cuts._cut import Cut, CutMethod, check_cut
from gbb.cuts._parts import KCut, k_cut
from gbb.cuts.greedy import greedy

__all__ = ["Cut", "CutMethod", "KCut", "check_cut", "greedy", "k_cut", "methods"]


def methods() -> dict[str, CutMethod]:
    """All cut methods by name."""
    package = sys.modules[__name__]
    return {
        name: cast(CutMethod, getattr(module, name)) for name, module in _discover.modules(package)
    }
