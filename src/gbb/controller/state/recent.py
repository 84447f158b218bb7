"""The last rounds told, apart from all before them: where drift is looked for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from gbb._support.checks import FloatArray
from gbb.learning import AnyRecord, empty
from gbb.learning.record import from_dict
from gbb.problem import Problem

BLOCK = 50
"""Rounds in a block."""

BLOCKS = 2
"""How many finished blocks are recent."""

LARGEST = 100_000
"""Numbers in a record beyond which none is kept of single blocks: snapshots write them out."""


class Block(NamedTuple):
    """Rounds that were told one after the other.

    Attributes
    ----------
    record
        What was seen in them; None where records are too large to keep several.
    squares, rewards
        The sum of the squares of their rewards, and how many there were.
    rounds, far
        How many rounds there were, and how many told rewards far outside the declared bounds.
    excess_steps
        The sum of the squares of how far a round's :func:`excess` was from that of the round before:
        noise that the rewards of a round share shows here, and a change hardly does.
    """

    record: AnyRecord | None
    squares: float = 0.0
    rewards: int = 0
    rounds: int = 0
    far: int = 0
    excess_steps: float = 0.0

    def plus(self, other: Block) -> Block:
        """Both as one."""
        one, two = self.record, other.record
        return Block(
            None if one is None or two is None else one.merge(two),
            self.squares + other.squares,
            self.rewards + other.rewards,
            self.rounds + other.rounds,
            self.far + other.far,
            self.excess_steps + other.excess_steps,
        )


class RecentRounds(NamedTuple):
    """The last blocks.

    Attributes
    ----------
    blocks
        Those that are finished, the oldest first.
    current
        The one that is being filled.
    finished
        How many were ever finished, and so how often drift was looked for.
    last
        The excess of the last round; None before the first.
    """

    blocks: tuple[Block, ...]
    current: Block
    finished: int = 0
    last: float | None = None

    @classmethod
    def begin(cls, problem: Problem, finished: int = 0) -> RecentRounds:
        """No round is recent yet."""
        return cls((), _blank(problem), finished)

    def plus(
        self, problem: Problem, before: AnyRecord, seen: AnyRecord, rewards: FloatArray
    ) -> RecentRounds:
        """With one round more, told after everything in ``before``."""
        kept, new = (None, 0.0) if self.current.record is None else (seen, excess(before, seen))
        step = 0.0 if self.last is None else (new - self.last) ** 2
        told = Block(kept, float(rewards @ rewards), rewards.size, 1, 0, step)
        current = self.current.plus(told)
        if current.rounds < BLOCK:
            return self._replace(current=current, last=new)
        blocks = (*self.blocks, current)[-BLOCKS:]
        return RecentRounds(blocks, _blank(problem), self.finished + 1, new)

    def flag(self) -> RecentRounds:
        """With the last round told far outside the declared bounds."""
        if self.current.rounds or not self.blocks:
            return self._replace(current=self.current._replace(far=self.current.far + 1))
        *before, last = self.blocks
        return self._replace(blocks=(*before, last._replace(far=last.far + 1)))

    @property
    def whole(self) -> Block:
        """All of it as one block."""
        return reduce(Block.plus, self.blocks, self.current)

    def to_dict(self) -> dict[str, Any]:
        """As plain values and arrays."""
        rows = [[_encode(each.record), *each[1:]] for each in (*self.blocks, self.current)]
        return {"blocks": rows, "finished": self.finished, "last": self.last}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> RecentRounds:
        """What :meth:`to_dict` made."""
        *blocks, current = _decode(content["blocks"])
        return cls(tuple(blocks), current, content["finished"], content["last"])


def excess(before: AnyRecord, seen: AnyRecord) -> float:
    """How much more a round paid in all than the means before it say; 0 where rewards are sums."""
    if before.tables is None or seen.tables is None:
        return 0.0
    (N, Y), (n, y) = before.tables, seen.tables
    known = N > 0
    means = np.divide(Y, N, out=np.zeros_like(Y), where=known)
    return float(np.where(known, y - n * means, 0.0).sum())


def _blank(problem: Problem) -> Block:
    size = problem.types * problem.K**2 if problem.tabular else problem.parameters**2
    return Block(empty(problem) if size <= LARGEST else None)


def _encode(record: AnyRecord | None) -> dict[str, Any] | None:
    return None if record is None else record.to_dict()


def _decode(rows: Iterable[list[Any]]) -> list[Block]:
    return [Block(None if record is None else from_dict(record), *rest) for record, *rest in rows]
