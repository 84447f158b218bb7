"""The keys of attached rounds: a mapping that grows by one at a time, at a constant cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping


class Keys(Mapping[str, int]):
    """The events of attached rounds by key; never changes.

    All mappings that grew from one another share a dictionary, of which each sees the events up to its
    own last one. What a turn added that was then given up lies beyond it, and is copied away from when
    the mapping next grows.
    """

    def __init__(self, pairs: Iterable[tuple[str, int]] = ()) -> None:
        self._shared = dict(pairs)
        self._count = len(self._shared)
        self._last = max(self._shared.values(), default=0)

    def plus(self, key: str, seq: int) -> Keys:
        """The same mapping with one key more, whose event comes after all others."""
        grown = Keys.__new__(Keys)
        own = len(self._shared) == self._count and key not in self._shared
        grown._shared = self._shared if own else dict(self.items())
        grown._shared[key] = seq
        grown._count, grown._last = len(grown._shared), seq
        return grown

    def minus(self, seq: int) -> Keys:
        """The same mapping without the key of event ``seq``, if it has one."""
        left = [(key, place) for key, place in self.items() if place != seq]
        return self if len(left) == len(self) else Keys(left)

    def __getitem__(self, key: str) -> int:
        seq = self._shared[key]
        if seq > self._last:
            raise KeyError(key)
        return seq

    def __iter__(self) -> Iterator[str]:
        return (key for key, seq in self._shared.items() if seq <= self._last)

    def __len__(self) -> int:
        return self._count
