"""Kernels that only kernels call, made callable from Python for tests of their own."""

from collections.abc import Callable
from typing import Any

from numba import njit


def from_python(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an inner kernel in one that Python can call; it has no such wrapper of its own."""

    def call(*args: Any) -> Any:
        return kernel(*args)

    return njit(nogil=True, error_model="numpy")(call)
