"""Compiled kernels called straight, where their arguments have the same types every time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Straight:
    """A kernel of ``*given`` that is called again and again, by one owner, in one and the same way.

    Numba looks at the types of all arguments in every call, which takes a hundred times as long as a
    small kernel runs when they are tuples of many arrays. Here it looks once for each list of classes:
    where a tuple takes the place of None it looks anew. Arrays are all of one class, so that only those
    may use it who make their arrays themselves, alike every time: others would be misread.

    Parameters
    ----------
    kernel
        A compiled kernel, or the plain function where nothing is compiled.
    """

    def __init__(self, kernel: Callable[..., Any]) -> None:
        self._kernel = kernel
        self._entries: dict[tuple[type, ...], Callable[..., Any]] = {}

    def __call__(self, *given: Any) -> Any:
        """What the kernel returns."""
        classes = tuple(map(type, given))
        if (entry := self._entries.get(classes)) is not None:
            return entry(given)
        found = self._kernel(*given)
        if (entry := _entry_of(self._kernel, given)) is not None:
            self._entries[classes] = entry
        return found

    def __reduce__(self) -> tuple[type[Straight], tuple[Callable[..., Any]]]:
        return Straight, (self._kernel,)  # machine code does not travel


def _entry_of(kernel: Any, given: tuple[Any, ...]) -> Callable[..., Any] | None:
    """The machine code that a compiled kernel has for these arguments; None where there is none."""
    if not hasattr(kernel, "overloads"):
        return None
    from numba import typeof

    kind: Any = typeof(given)  # type: ignore[no-untyped-call]
    found = [code for types, code in kernel.overloads.items() if types[0].types == kind.types]
    return found[0].entry_point if len(found) == 1 else None
