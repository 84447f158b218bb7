"""Runs of one policy that a job plays, with what a compiled loop is asked for in each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gbb._support.checks import IntArray
from gbb.environment import Environment
from gbb.policies import AnyPolicy
from gbb.simulation.engine.noise import Blocks
from gbb.simulation.engine.request import Request
from gbb.simulation.trace import Trace


@dataclass(frozen=True, eq=False)
class Batch:
    """Runs of one policy.

    Attributes
    ----------
    env
        Where they are played.
    rounds, recorded, keep_allocations
        As in :class:`Request`, the same in every run.
    seeds
        One of each run: its first child draws the noise, the second the policy's own randomness.
    edge_noise, on_rounds
        As in :class:`Blocks`.
    """

    env: Environment
    rounds: int
    recorded: IntArray
    seeds: Sequence[np.random.SeedSequence]
    keep_allocations: bool = False
    edge_noise: bool = False
    on_rounds: Callable[[int], None] | None = None

    def blocks(self, seed: np.random.SeedSequence) -> Blocks:
        """The rounds of a run in blocks, with noise from ``seed``."""
        rng = np.random.default_rng(seed)
        return Blocks(self.env, rng, edge_noise=self.edge_noise, on_rounds=self.on_rounds)

    def request(self, seed: np.random.SeedSequence) -> Request:
        """What is asked of one run."""
        noise, own = seed.spawn(2)
        blocks, rng = self.blocks(noise), np.random.default_rng(own)
        return Request(self.rounds, self.recorded, blocks, rng, self.keep_allocations)

    def sizes(self, runs: int) -> Iterator[int]:
        """Lengths of the blocks that make up all rounds of so many runs at once."""

        def count(rounds: int) -> None:
            if self.on_rounds is not None:
                self.on_rounds(runs * rounds)

        blocks = replace(self.blocks(self.seeds[0]), on_rounds=count)
        yield from blocks.sizes(self.rounds)


def one_by_one(
    run: Callable[[Environment, Any, Request], Trace],
) -> Callable[[Any, Batch], list[Trace]]:
    """A loop over batches from one that plays a run."""

    def run_all(policy: AnyPolicy, batch: Batch) -> list[Trace]:
        return [run(batch.env, policy, batch.request(seed)) for seed in batch.seeds]

    return run_all


def in_batches(run: Callable[[Any, Batch], list[Trace]]) -> Callable[..., list[Trace]]:
    """A loop over tasks from one that plays a batch."""

    def run_task(env: Environment, policy: AnyPolicy, task: Any) -> list[Trace]:
        return run(policy, Batch(env, *task))

    return run_task


def by_request(
    run: Callable[[Environment, Any, Request], Trace],
) -> Callable[..., list[Trace]]:
    """A loop over tasks from one that plays a run."""
    return in_batches(one_by_one(run))
