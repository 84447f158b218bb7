"""Kernels of the cuts."""

from typing import TYPE_CHECKING

from gbb._kernels import load_on_use

if TYPE_CHECKING:
    from gbb._kernels.cuts import gray, greedy, mixing, stars

__all__ = ["gray", "greedy", "mixing", "stars"]

__getattr__ = load_on_use(__name__)
