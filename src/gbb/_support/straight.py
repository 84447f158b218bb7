"""Compiled kernels called straight, where their arguments have the same types every time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Straight:
    """A kernel of ``*given`` that is called again and again, by one owner, in one and the same way.

    Numba looks at the types of all arguments in every call, which takes a hundred times as long as a
    small kernel runs when they are tuples of many arrays. Here it looks once.

    Parameters
    ----------
    kernel
        A compiled kernel, or the plain function where nothing is compiled.
    """

    def __init__(self, kernel: Callable[..., Any]) -> None:
        self._kernel = kernel
        self._entry: Callable[..., Any] | None = None

    def __call__(self, *given: Any) -> Any:
        """What the kernel returns; ``given`` must be of the types of the first call."""
        if self._entry is not None:
            return self._entry(given)
        found = self._kernel(*given)
        self._entry = _entry_of(self._kernel, given)
        return found

    def __reduce__(self) -> tuple[type[Straight], tuple[Callable[..., Any]]]:
        return Straight, (self._kernel,)  # machine code does not travel


def _entry_of(kernel: Any, given: tuple[Any, ...]) -> Callable[..., Any] | None:
    """The machine code that a compiled kernel has for these arguments; None where there is none."""
    if not hasattr(kernel, "overloads"):
        return None
    kind = kernel.typeof_pyval(given)
    kernel._types_active_call.clear()
    found = [code for types, code in kernel.overloads.items() if types[0].types == kind.types]
    return found[0].entry_point if len(found) == 1 else None
