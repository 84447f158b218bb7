"""Rounds of an index policy with a vector of context numbers: edges pay by ``sum_k c_k M_k``.

In every round this is a problem with one matrix and the edge-arms ``c (x) z`` of all parameters, so only
the numbers change from round to round, and nothing of how links lie.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels.choice.factors import Triangular, radius_triangular
from gbb._kernels.choice.narrow import narrow
from gbb._kernels.choice.numbers import Numbers
from gbb._kernels.choice.whitened import Whitened
from gbb._kernels.jit import kernel
from gbb._kernels.rounds.index import Setting, play_round
from gbb._kernels.rounds.rounds import Block
from gbb._support.checks import FloatArray


class Vectors(NamedTuple):
    """What the numbers of a round are multiplied with.

    Attributes
    ----------
    numbers
        Those of every round of the block (rounds x C).
    features, columns, objectives
        As :class:`~gbb._kernels.choice.factors.Triangular` has them, of one matrix; where the choice is
        optimistic, columns are the directions of :func:`~gbb._kernels.choice.narrow.narrow`.
    R
        What an edge of weight 1 pays by each matrix and arms (C x K x K).
    adaptive
        Whether the radius follows the estimate, and is not given.
    F
        Scratch space for :func:`~gbb._kernels.choice.narrow.narrow`.
    """

    numbers: FloatArray
    features: FloatArray
    columns: FloatArray
    objectives: FloatArray
    R: FloatArray
    adaptive: bool
    F: FloatArray


@kernel(forceinline=True)
def multiply(vectors: Vectors, t: int, R: FloatArray) -> None:
    """Write what edges pay in round t to R."""
    R[:, :, :] = 0.0
    for k in range(vectors.numbers.shape[1]):
        for a in range(R.shape[1]):
            for b in range(R.shape[2]):
                R[0, a, b] += vectors.numbers[t, k] * vectors.R[k, a, b]


@kernel(forceinline=True)
def multiply_edge_arms(vectors: Vectors, t: int, triangular: Triangular) -> None:
    """Write the edge-arms of round t to the estimate."""
    count, size = vectors.features.shape
    for k in range(vectors.numbers.shape[1]):
        c, first = vectors.numbers[t, k], k * size
        for s in range(count):
            for i in range(size):
                triangular.features[s, first + i] = c * vectors.features[s, i]
        for i in range(size):
            for x in range(vectors.columns.shape[2]):
                triangular.columns[0, first + i, x] = c * vectors.columns[0, i, x]
            for x in range(vectors.objectives.shape[2]):
                triangular.objectives[0, first + i, x] = c * vectors.objectives[0, i, x]


@kernel(allocates=True)
def play_vectors(
    vectors: Vectors, setting: Setting, block: Block, rng: np.random.Generator
) -> None:
    """Play the rounds of ``block``, each of which is as one with one matrix."""
    estimates = setting.triangular, setting.learner, setting.numbers, setting.white
    tell_rounds(vectors, setting, *estimates, block, rng)


@kernel(forceinline=True)
def tell_rounds(
    vectors: Vectors,
    setting: Setting,
    triangular: Triangular | None,
    learner: Triangular | None,
    numbers: Numbers | None,
    white: Whitened | None,
    block: Block,
    rng: np.random.Generator,
) -> None:
    """The rounds; one of ``learner`` and ``numbers`` is the estimate."""
    for t in range(block.radii.size):
        multiply(vectors, t, setting.world.R)
        if learner is not None:
            multiply_edge_arms(vectors, t, learner)
            if white is not None:
                if triangular is not None:
                    narrow(learner, vectors.F, triangular)
                if vectors.adaptive:
                    block.radii[t] = radius_triangular(setting.rule, learner)
        if numbers is not None:
            for k in range(numbers.now.size):
                numbers.now[k] = vectors.numbers[t, k]
        play_round(setting, block, t, rng)
