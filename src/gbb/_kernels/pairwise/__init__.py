"""Kernels of pair problems."""

from typing import TYPE_CHECKING

from gbb._kernels import load_on_use

if TYPE_CHECKING:
    from gbb._kernels.pairwise import circle, enumeration, flips, forest, lagrangian, moves

__all__ = ["circle", "enumeration", "flips", "forest", "lagrangian", "moves"]

__getattr__ = load_on_use(__name__)
