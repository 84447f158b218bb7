"""How large and how small the numbers of a problem may be, and how much of it is kept."""

from __future__ import annotations

from gbb._support import checks

LARGEST = 1e100
"""The largest reward, and the largest that is to be expected; sigma, S, L and lam have it as their limit
too. Squares of these, and sums of squares, stay finite."""

SMALLEST = 1e-100
"""The smallest S, and the smallest squared norm that the largest arm may have."""

UNITS = "Measure in other units."

ROUNDS_KEPT = 64
EDGES_KEPT = 1_000_000
"""How many rounds' problems are kept for contexts that come again, and how many edges they may have
together: policies lay out some hundred bytes for each."""


def rounds_kept(edges: int) -> int:
    """How many rounds with so many edges are kept."""
    return max(2, min(ROUNDS_KEPT, EDGES_KEPT // edges))


def check_lam(lam: float) -> float:
    """A ridge regulariser: > 0, and no larger than what it is added to may be."""
    return checks.real("lam", lam, low=0.0, low_open=True, high=LARGEST)
