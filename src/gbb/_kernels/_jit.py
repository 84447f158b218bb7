"""How kernels are compiled: cached, without the interpreter's lock, divisions as in numpy."""

from __future__ import annotations

from functools import partial

from numba import njit

compiled = partial(njit, cache=True, nogil=True, error_model="numpy")
