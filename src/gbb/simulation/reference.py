"""The plain, readable loop: any policy, every edge, every round."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gbb._support.checks import IntArray
from gbb.environment import Environment
from gbb.policies import AnyPolicy
from gbb.simulation._trace import Trace


def run_reference(
    env: Environment,
    policy: AnyPolicy,
    rounds: int,
    recorded: IntArray,
    seed: np.random.SeedSequence,
    *,
    keep_allocations: bool = False,
    on_rounds: Callable[[int], None] | None = None,
) -> Trace:
    """One run of one policy, edge by edge.

    The run's seed is split in two: the first child draws the noise, the second the policy's own
    randomness, so that two policies with the same seed face the same noise.
    """
    noise_rng, policy_rng = map(np.random.default_rng, seed.spawn(2))
    size = len(recorded)
    reward, cumulative = np.zeros(size), np.zeros(size)
    couple = np.full((size, 2), -1, dtype=np.int64)
    allocation = np.zeros((size, env.problem.n), dtype=np.int64) if keep_allocations else None
    state = policy.init()
    total, kept = 0.0, 0
    for t in range(1, rounds + 1):
        choice = policy.select(state, policy_rng)
        rewards = env.draw(choice.allocation, noise_rng)
        state = policy.update(state, choice, rewards)
        expected = env.expected_reward(choice.allocation)
        total += expected
        if t == recorded[kept]:
            reward[kept], cumulative[kept] = expected, total
            if choice.couple is not None:
                couple[kept] = choice.couple
            if allocation is not None:
                allocation[kept] = choice.allocation
            kept = min(kept + 1, size - 1)
        if on_rounds is not None:
            on_rounds(1)
    return Trace(reward, cumulative, couple, allocation, policy.record_of(state))
