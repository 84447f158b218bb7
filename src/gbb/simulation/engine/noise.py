"""Noise in blocks of rounds: sums over many edges, drawn without every edge where the law allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gbb._kernels.normals import fill_normals, fill_normals_single
from gbb._support.arrays import WIDTH, aligned_zeros, padded
from gbb._support.checks import FloatArray, IntArray
from gbb.cuts import Cut
from gbb.environment import NOISES, Environment, Noise

ROUNDS = 4096
"""The longest block of rounds. It is part of the law: a block's last normal may stay unused."""

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
        Called with the number of rounds of each finished block; may raise to stop the run.
    """

    env: Environment
    rng: np.random.Generator
    edge_noise: bool = False
    on_rounds: Callable[[int], None] | None = None

    def sizes(self, rounds: int, *, width: int = 1) -> Iterator[int]:
        """Yield lengths of the blocks that make up ``rounds``, at most :data:`DRAWS` numbers each."""
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
        """Return unit noise of every number of the report, in the paper of every edge, a row a round."""
        size = self.env.problem.observations
        return self.env.law(self.rng, rounds * size).reshape(rounds, size)

    def sums(self, counts: IntArray, rounds: int) -> FloatArray:
        """Return the sum of ``counts[k]`` unit draws for every round and class k."""
        return draw_sums(self.env.law, self.rng, counts, rounds)


def draw_sums(law: Noise, rng: np.random.Generator, counts: IntArray, rounds: int) -> FloatArray:
    """Return the sum of ``counts[k]`` draws for every round and class k; all are drawn if need be."""
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


def noise_of(cut: Cut, blocks: Blocks) -> Callable[[int], FloatArray]:
    """Return what draws so many rounds' noise, summed over the edges 12, 21, 11 and 22 (rounds x 4)."""
    if not blocks.edge_noise:
        return lambda rounds: blocks.sums(np.array(cut.weights, dtype=np.int64), rounds)
    source, target = cut.sides[cut.graph.sources], cut.sides[cut.graph.indices]
    classes = np.eye(4)[np.array([[2, 0], [1, 3]])[source, target]]

    def sum_classes(rounds: int) -> FloatArray:
        sums: FloatArray = blocks.report(rounds) @ classes
        return sums

    return sum_classes


class GaussianNoise:
    """Sums of Gaussian noise across, inside V1 and inside V2, from a generator for each lane.

    Attributes
    ----------
    scales
        What the three are multiplied by.
    """

    def __init__(
        self, cut: Cut, sigma: float, seeds: Sequence[np.random.SeedSequence], lanes: int
    ) -> None:
        words = [seed.generate_state(4, np.uint64) for seed in seeds]
        words += [words[-1]] * (lanes - len(seeds))  # the last run is in all lanes that are left
        self._state = np.stack(words, axis=1).astype(np.uint64)
        self._lanes, self._out = lanes, aligned_zeros(0)
        self._bits, self._block = np.zeros((2, 0), dtype=np.uint64), np.zeros((2, WIDTH))
        self.scales: FloatArray = sigma * np.sqrt([2.0 * cut.m12, cut.m1, cut.m2])

    def draw(self, rounds: int) -> FloatArray:
        """Return unit noise of the next rounds (rounds x 3 x lanes, flat)."""
        pairs = -(-3 * rounds // 2)  # normals come in pairs: an odd one is dropped with its block
        size = 2 * pairs * self._lanes
        if self._out.size < size:
            self._out = aligned_zeros(size)
            self._bits = np.zeros((2, padded(pairs)), dtype=np.uint64)
        if self._lanes == 1:
            state = self._state.reshape(-1)
            fill_normals_single(state, self._out, pairs, self._bits, self._block)
        else:
            fill_normals(self._state, self._out, pairs)
        return self._out


class SharedNoise:
    """Noise of any law, drawn run by run as a run of another loop draws it."""

    def __init__(self, cut: Cut, blocks: Sequence[Blocks], lanes: int) -> None:
        self._draw = [noise_of(cut, each) for each in blocks]
        self._lanes = np.minimum(np.arange(lanes), len(blocks) - 1)
        self.scales = np.full(3, blocks[0].env.problem.sigma)

    def draw(self, rounds: int) -> FloatArray:
        """As of :class:`GaussianNoise`."""
        noise = np.stack([draw(rounds) for draw in self._draw], axis=2)[:, :, self._lanes]
        return np.stack([noise[:, 0] + noise[:, 1], noise[:, 2], noise[:, 3]], axis=1).ravel()
