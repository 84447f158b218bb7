"""Randomness at the door: a seed becomes a Generator, one spawned child per run."""

from __future__ import annotations

import numpy as np

from gbb._support.checks import input_error

Seed = int | np.random.SeedSequence | np.random.Generator | None


def generator(seed: Seed) -> np.random.Generator:
    """Return a Generator from an int, a SeedSequence, a Generator (as it is) or None."""
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(sequence(seed))


def sequence(seed: Seed) -> np.random.SeedSequence:
    """Return a new SeedSequence from ``seed``; to spawn from it does not advance the caller's."""
    if isinstance(seed, np.random.Generator):
        return seed.bit_generator.seed_seq.spawn(1)[0]  # type: ignore[attr-defined,no-any-return]
    if isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence(
            seed.entropy, spawn_key=seed.spawn_key, pool_size=seed.pool_size
        )
    if isinstance(seed, bool) or (seed is not None and not isinstance(seed, int | np.integer)):
        raise input_error(
            "seed", "be a whole number, a SeedSequence, a Generator or None", repr(seed)
        )
    if seed is not None and seed < 0:
        raise input_error("seed", "be >= 0", seed)
    return np.random.SeedSequence(seed)


def spawn(seed: Seed, count: int) -> list[np.random.SeedSequence]:
    """Return ``count`` independent children of ``seed``, the same ones every time."""
    return sequence(seed).spawn(count)
