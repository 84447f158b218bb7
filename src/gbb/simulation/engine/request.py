"""What a compiled loop is asked for, and what the loops over tuples of arms share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gbb._kernels.rounds.rounds import Block
from gbb._support.checks import FloatArray, IntArray
from gbb.learning.record import AnyRecord
from gbb.policies._compiled import CompiledPolicy
from gbb.simulation._trace import Trace, couples_of
from gbb.simulation.engine.noise import Blocks

PlayBlock = Callable[[Block, np.random.Generator], None]
"""Plays the rounds of a block."""


class Request(NamedTuple):
    """What a compiled loop is asked for, beside the environment and the policy.

    Attributes
    ----------
    rounds
        How many to play.
    recorded
        Which of them to keep, counted from 1.
    blocks
        The rounds in blocks, with their noise.
    rng
        Where the policy's randomness comes from.
    keep_allocations
        Whether to keep the allocations as well.
    done, seen
        How many rounds came before, and their record.
    """

    rounds: int
    recorded: IntArray
    blocks: Blocks
    rng: np.random.Generator
    keep_allocations: bool = False
    done: int = 0
    seen: AnyRecord | None = None

    def play(
        self,
        radii: Callable[[FloatArray], FloatArray],
        noise: Callable[[int], FloatArray],
        play: PlayBlock,
        *,
        width: int = 1,
    ) -> None:
        """Play all rounds, block by block, with the ``noise`` of each, ``width`` numbers a round.

        ``radii`` are those after so many rounds.
        """
        done = self.done
        for size in self.blocks.sizes(self.rounds, width=width):
            given = radii(np.arange(done, done + size, dtype=np.float64))
            play(Block(done + 1, noise(size), given, self.recorded), self.rng)
            done += size

    def book(self, n: int) -> dict[str, Any]:
        """Empty pages for the recorded rounds of a loop over tuples of arms, by name."""
        size = len(self.recorded)
        return {
            "total": np.zeros(1),
            "kept": np.zeros(1, dtype=np.int64),
            "reward": np.zeros(size),
            "cumulative": np.zeros(size),
            "tuples": np.zeros(size, dtype=np.int64),
            "allocations": np.zeros((size if self.keep_allocations else 0, n), dtype=np.int64),
        }

    def trace(self, policy: CompiledPolicy, book: Any, record: AnyRecord) -> Trace:
        """What such a loop left in its ``book``."""
        return Trace(
            reward=book.reward,
            cumulative=book.cumulative,
            couple=couples_of(book.tuples, policy.problem.K, policy.cut.k),
            allocation=book.allocations if self.keep_allocations else None,
            record=record,
        )
