"""What one run leaves behind, and which of its rounds are kept."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray

LOG_POINTS = 200
"""About how many rounds ``record="log"`` keeps."""


FEWER = 'Pass record="log" or a larger step, or fewer runs.'
"""The cure for results that do not fit into memory."""


class Trace(NamedTuple):
    """One run of one policy at its recorded rounds.

    Attributes
    ----------
    reward
        Expected global reward of the recorded rounds.
    cumulative
        Expected global reward summed over all rounds up to each recorded one.
    couple
        The two arms over the cut, or (-1, -1) in rounds that played something else.
    allocation
        The allocations (rounds x n), if they were asked for.
    """

    reward: FloatArray
    cumulative: FloatArray
    couple: IntArray
    allocation: IntArray | None

    def shorten(self, size: int) -> Trace:
        """Return the first ``size`` recorded rounds."""
        arms = None if self.allocation is None else self.allocation[:size]
        return Trace(self.reward[:size], self.cumulative[:size], self.couple[:size], arms)

    def followed_by(self, rest: Trace, so_far: float) -> Trace:
        """Return this trace and then ``rest``, whose totals start at ``so_far``."""
        arms = None
        if self.allocation is not None and rest.allocation is not None:
            arms = np.concatenate([self.allocation, rest.allocation])
        return Trace(
            np.concatenate([self.reward, rest.reward]),
            np.concatenate([self.cumulative, so_far + rest.cumulative]),
            np.concatenate([self.couple, rest.couple]),
            arms,
        )


def couples_of(numbers: IntArray, K: int, k: int) -> IntArray:
    """Return the couples with these numbers (rounds x 2); (-1, -1) for none and for k > 2 parts."""
    couples = np.full((len(numbers), 2), -1, dtype=np.int64)
    if k == 2:
        kept = numbers >= 0
        couples[kept] = np.stack(np.divmod(numbers[kept], K), axis=1)
    return couples


@lru_cache(maxsize=16)
def _log_rounds(rounds: int) -> IntArray:
    spaced = np.round(np.geomspace(1, rounds, LOG_POINTS)).astype(np.int64)
    return checks.frozen(np.unique(spaced))


def recorded_rounds(rounds: int, record: int | str | ArrayLike) -> IntArray:
    """Return the rounds to keep, counted from 1: all, every k-th, log-spaced, or those listed."""
    if isinstance(record, str):
        checks.choice("record", record, ["log"])
        return _log_rounds(rounds)
    if np.ndim(record) == 0:
        every = checks.integer("record", record, low=1)
        checks.require_memory("record", 8.0 * (rounds // every), cure=FEWER)
        kept = np.arange(every, rounds + 1, every, dtype=np.int64)
        return checks.frozen(np.union1d(kept, [rounds]).astype(np.int64))
    chosen = np.asarray(record)
    if chosen.ndim != 1 or chosen.size == 0 or chosen.dtype.kind not in "iu":
        rule = 'be a whole number, "log", or a list of whole numbers'
        raise checks.input_error("record", rule, repr(record))
    if (np.diff(chosen) <= 0).any() or chosen[0] < 1 or chosen[-1] > rounds:
        raise checks.input_error("record", f"rise strictly within 1..{rounds}", chosen.tolist())
    return checks.frozen(chosen.astype(np.int64))
