"""Noise in blocks of rounds: sums over many edges, drawn without every edge where the law allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.environment import NOISES, Environment, Noise

ROUNDS = 4096
"""The longest block of rounds."""

DRAWS = 1 << 22
"""How many single numbers are held at once."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """The rounds of a run in blocks, and their noise.

    Attributes
    ----------
    env
        Where the law of the noise comes from.
    rng
        Where it is drawn from.
    edge_noise
        Draw every edge's noise, in the order of the reference loop, and sum it up.
    on_rounds
        Told how many rounds each finished block had; may raise to stop the run.
    """

    env: Environment
    rng: np.random.Generator
    edge_noise: bool = False
    on_rounds: Callable[[int], None] | None = None

    def sizes(self, rounds: int, *, width: int = 1) -> Iterator[int]:
        """Lengths of the blocks that make up ``rounds``, at most :data:`DRAWS` numbers each."""
        if self.edge_noise or self.env.law not in SUMS:  # sums are drawn edge by edge
            width = max(width, self.env.problem.m)
        longest = max(1, min(ROUNDS, DRAWS // width))
        for start in range(0, rounds, longest):
            size = min(longest, rounds - start)
            yield size
            self.report_done(size)

    def report_done(self, rounds: int) -> None:
        """Count ``rounds`` as done."""
        if self.on_rounds is not None:
            self.on_rounds(rounds)

    @property
    def gaussian(self) -> bool:
        """Whether sums of the noise are Gaussian, or none."""
        return self.env.noise in ("gaussian", "none")

    def report(self, rounds: int) -> FloatArray:
        """Unit noise of every number of the report, a row a round; of every edge, in the paper."""
        size = self.env.problem.observations
        return self.env.law(self.rng, rounds * size).reshape(rounds, size)

    def sums(self, counts: IntArray, rounds: int) -> FloatArray:
        """For every round and class k, the sum of ``counts[k]`` unit draws."""
        return draw_sums(self.env.law, self.rng, counts, rounds)


def draw_sums(law: Noise, rng: np.random.Generator, counts: IntArray, rounds: int) -> FloatArray:
    """For every round and class k, the sum of ``counts[k]`` draws, all drawn if it has no known law."""
    if law in SUMS:
        return SUMS[law](rng, counts, rounds)
    sums = np.zeros((rounds, counts.size))
    block = max(1, DRAWS // rounds)
    for k, count in enumerate(counts.tolist()):
        for start in range(0, count, block):
            size = min(block, count - start)
            sums[:, k] += law(rng, rounds * size).reshape(rounds, size).sum(axis=1)
    return sums


def _gaussian(rng: np.random.Generator, counts: IntArray, rounds: int) -> FloatArray:
    """The sum of c standard normals is N(0, c)."""
    sums: FloatArray = rng.standard_normal((rounds, counts.size))
    if (counts != 1).any():
        sums *= np.sqrt(counts)
    return sums


def _rademacher(rng: np.random.Generator, counts: IntArray, rounds: int) -> FloatArray:
    """The sum of c signs is ``2 Binomial(c, 1/2) - c``."""
    heads = rng.binomial(counts, 0.5, size=(rounds, counts.size))
    return (2 * heads - counts).astype(np.float64)


def _none(rng: np.random.Generator, counts: IntArray, rounds: int) -> FloatArray:  # noqa: ARG001
    return np.zeros((rounds, counts.size))


SUMS: dict[Noise, Callable[[np.random.Generator, IntArray, int], FloatArray]] = {
    NOISES["gaussian"]: _gaussian,
    NOISES["rademacher"]: _rademacher,
    NOISES["none"]: _none,
}
"""``SUMS[law](rng, counts, rounds)``: per round and class k, the sum of ``counts[k]`` unit draws, for
the laws whose sums have a law of their own."""
