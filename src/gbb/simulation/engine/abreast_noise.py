"""The noise of runs side by side: drawn in lanes where it is Gaussian, else as for one run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gbb._kernels.normals import fill_normals, fill_normals_single
from gbb._kernels.simd import U64Array as WholeArray
from gbb._support.arrays import WIDTH, aligned_zeros, padded
from gbb._support.checks import FloatArray, IntArray
from gbb.cuts import Cut
from gbb.environment import NOISES
from gbb.simulation.engine.batch import Batch
from gbb.simulation.engine.couples import noise_of
from gbb.simulation.engine.noise import ROUNDS

Seeds = Sequence[np.random.SeedSequence]


def noise_abreast(cut: Cut, batch: Batch, seeds: Seeds, lanes: int) -> DrawnNoise | GivenNoise:
    """The noise of runs with these seeds; the last is in all lanes that are left."""
    seeds = [*seeds, *[seeds[-1]] * (lanes - len(seeds))]
    if batch.env.law is NOISES["gaussian"] and not batch.edge_noise:
        return DrawnNoise(cut, batch.env.problem.sigma, seeds)
    return GivenNoise(cut, batch, seeds)


class DrawnNoise:
    """Gaussian noise from generators of the lanes' own.

    Across the cut only the sum of both directions is drawn. Their difference is independent of it and is
    drawn once for each couple when all is over.

    Attributes
    ----------
    scales
        What the sums across, inside V1 and inside V2 are multiplied by.
    rows
        For how many rounds couples must be kept.
    """

    rows = 0

    def __init__(self, cut: Cut, sigma: float, seeds: Seeds) -> None:
        words = [seed.generate_state(4, np.uint64) for seed in seeds]
        self._state: WholeArray = np.stack(words, axis=1).astype(np.uint64)
        self._lanes, self._m12 = len(seeds), cut.m12
        self._room = aligned_zeros(0)
        self.scales = sigma * np.sqrt([2.0 * cut.m12, cut.m1, cut.m2])

    def next(self, rounds: int) -> FloatArray:
        """Unit noise of the next rounds (rounds x 3 x lanes, flat)."""
        return self._normals(3 * rounds)

    def hear(self, every: IntArray, weights: FloatArray | float = 1.0) -> None:
        """These couples were played (rounds x lanes), counted through all regimes; noise is weighed."""

    def apart(self, plays: IntArray) -> FloatArray:
        """Unit noise from V1 to V2 less that back, N(0, 2 m12) a round (regimes x K^2 x lanes)."""
        drawn = self.units(plays.size // self._lanes).reshape(plays.shape)
        spread: FloatArray = np.sqrt(2.0 * self._m12 * plays)
        return drawn * spread

    def units(self, rows: int) -> FloatArray:
        """So many unit normals for each lane (rows x lanes, flat)."""
        return self._normals(rows)[: rows * self._lanes]

    def _normals(self, rows: int) -> FloatArray:
        pairs = -(-rows // 2)
        size = 2 * pairs * self._lanes
        if self._room.size < size:
            self._room = aligned_zeros(size)
        if self._lanes == 1:
            bits = np.zeros((2, padded(pairs)), dtype=np.uint64)
            fill_normals_single(self._state.ravel(), self._room, pairs, bits, np.zeros((2, WIDTH)))
        else:
            fill_normals(self._state, self._room, pairs)
        return self._room


class GivenNoise:
    """Noise of any law, drawn run by run as one run draws it; attributes as of :class:`DrawnNoise`.

    Attributes
    ----------
    heard
        Noise from V1 to V2 less that back, summed by couple (regimes x K^2, lanes).
    """

    rows = ROUNDS

    def __init__(self, cut: Cut, batch: Batch, seeds: Seeds) -> None:
        own = dict.fromkeys(seeds)
        self._draw = [noise_of(cut, batch.blocks(seed)) for seed in own]
        self._lane = [list(own).index(seed) for seed in seeds]
        problem = batch.env.problem
        self.heard = np.zeros((problem.types * problem.K**2, len(seeds)))
        self.scales = np.full(3, problem.sigma)

    def next(self, rounds: int) -> FloatArray:
        """As of :class:`DrawnNoise`."""
        noise = np.stack([draw(rounds) for draw in self._draw], axis=2)[:, :, self._lane]
        self._difference = noise[:, 0] - noise[:, 1]
        return np.stack([noise[:, 0] + noise[:, 1], noise[:, 2], noise[:, 3]], axis=1).ravel()

    def hear(self, every: IntArray, weights: FloatArray | float = 1.0) -> None:
        """As of :class:`DrawnNoise`."""
        np.add.at(self.heard, (every, np.arange(every.shape[1])), weights * self._difference)

    def apart(self, plays: IntArray) -> FloatArray:  # noqa: ARG002
        """As of :class:`DrawnNoise`."""
        return self.heard
