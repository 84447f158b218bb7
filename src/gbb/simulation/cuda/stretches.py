"""What all launches share: rounds in stretches, runs in lots, keys from seeds, radii without repeats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._support.checks import FloatArray, IntArray
from gbb.policies._compiled import CompiledPolicy

STRETCH = 1 << 16
"""Rounds of one launch. What runs play does not depend on how many there are, nor on the device."""

SHARE = 0.7
"""How much of the free memory a lot of runs may take."""

Keys = NDArray[np.uint32]


class Stretch(NamedTuple):
    """Some rounds: how many came before, how many they are, and which recorded rounds are theirs."""

    first: int
    size: int
    kept: slice


def stretches(recorded: IntArray, length: int = STRETCH) -> Iterator[Stretch]:
    """All rounds up to the last recorded one."""
    rounds = int(recorded[-1])
    for first in range(0, rounds, length):
        size = min(length, rounds - first)
        begin, end = np.searchsorted(recorded, [first + 1, first + size + 1])
        yield Stretch(first, size, slice(int(begin), int(end)))


def most_kept(recorded: IntArray, length: int = STRETCH) -> int:
    """The most recorded rounds of a stretch."""
    return max(int(each.kept.stop - each.kept.start) for each in stretches(recorded, length))


def lots(runs: int, bytes_each: int, memory: int) -> Iterator[slice]:
    """All runs, as many at once as fit into the device."""
    most = max(1, min(runs, int(SHARE * memory) // max(1, bytes_each)))
    for start in range(0, runs, most):
        yield slice(start, min(start + most, runs))


def keys_of(seeds: Sequence[np.random.SeedSequence]) -> Keys:
    """The 128 bits of every seed that its random numbers follow from."""
    return np.array([seed.generate_state(4) for seed in seeds], dtype=np.uint32).reshape(-1, 4)


class Schedules:
    """The radii of many policies; those that depend on the same numbers are computed once."""

    def __init__(self, policies: Sequence[CompiledPolicy]) -> None:
        known: dict[Any, int] = {}
        self._distinct: list[CompiledPolicy] = []
        self.of = np.zeros(len(policies))
        for j, policy in enumerate(policies):
            key = _numbers(policy)
            if key not in known:
                known[key] = len(known)
                self._distinct.append(policy)
            self.of[j] = known[key]

    def radii(self, stretch: Stretch) -> FloatArray:
        """A row for each schedule, a column for each round."""
        rounds = np.arange(stretch.first, stretch.first + stretch.size, dtype=np.float64)
        return np.stack([policy.radii(rounds) for policy in self._distinct])


def _numbers(policy: CompiledPolicy) -> Any:
    """All that the radii of a policy depend on."""
    if policy.adaptive:
        return "none"
    if callable(policy.radius):
        return id(policy)
    if policy.radius is None:
        return "none"
    p = policy.problem
    about = (p.sigma, p.parameters, p.gram_growth_per_round, p.L, p.norm, p.d, p.S)
    return (policy.radius, policy.lam, policy.delta, *about)


def numbered(
    keys: Sequence[Any], make: Callable[[int], FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Each key's number among the distinct ones, and what ``make(j)`` makes of the first with it."""
    known: dict[Any, int] = {}
    made: list[FloatArray] = []
    numbers = np.zeros(len(keys))
    for j, key in enumerate(keys):
        if key not in known:
            known[key] = len(known)
            made.append(make(j))
        numbers[j] = known[key]
    return numbers, np.stack(made)
