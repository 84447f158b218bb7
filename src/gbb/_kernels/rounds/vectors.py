"""Rounds of an index policy with a vector of context numbers: edges pay by ``sum_k c_k M_k``.

In every round this is a problem with one matrix and the edge-arms ``c (x) z`` of all parameters, so only
the numbers change from round to round, and nothing of how links lie.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.choice.factors import Triangular
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
        As :class:`~gbb._kernels.choice.factors.Triangular` has them, of one matrix.
    R
        What an edge of weight 1 pays by each matrix and arms (C x K x K).
    """

    numbers: FloatArray
    features: FloatArray
    columns: FloatArray
    objectives: FloatArray
    R: FloatArray


@compiled(forceinline=True)
def multiply(vectors: Vectors, t: int, triangular: Triangular | None, R: FloatArray) -> None:
    """Write the edge-arms of round t to the estimate, and what they pay to R."""
    if triangular is None:  # it never is
        return
    count, size = vectors.features.shape
    R[:, :, :] = 0.0
    for k in range(vectors.numbers.shape[1]):
        c, first = vectors.numbers[t, k], k * size
        for a in range(R.shape[1]):
            for b in range(R.shape[2]):
                R[0, a, b] += c * vectors.R[k, a, b]
        for s in range(count):
            for i in range(size):
                triangular.features[s, first + i] = c * vectors.features[s, i]
        for i in range(size):
            for x in range(vectors.columns.shape[2]):
                triangular.columns[0, first + i, x] = c * vectors.columns[0, i, x]
            for x in range(vectors.objectives.shape[2]):
                triangular.objectives[0, first + i, x] = c * vectors.objectives[0, i, x]


@compiled(allocates=True)
def play_vectors(*given: Any) -> None:
    """As :func:`play_all_vectors`, to be called from Python."""
    play_all_vectors(*given)


@compiled(forceinline=True)
def play_all_vectors(
    vectors: Vectors, setting: Setting, block: Block, rng: np.random.Generator
) -> None:
    """Play the rounds of ``block``, each of which is as one with one matrix."""
    for t in range(block.radii.size):
        multiply(vectors, t, setting.triangular, setting.world.R)
        play_round(setting, block, t, rng)
