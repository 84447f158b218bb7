"""The best tuple of arms over the parts for given pairs, and local search from it and the next best."""

from __future__ import annotations

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.choice.choose import first_best, pick
from gbb._kernels.choice.joint_linear import ascend_linear, pays_of
from gbb._kernels.choice.joint_orthogonal import (
    ascend_orthogonal,
    count_pairs,
    couple_values,
    tuple_values_orthogonal,
)
from gbb._kernels.choice.tuples import fill_digits, next_start
from gbb._support.checks import FloatArray, IntArray


@compiled()
def climb(
    indptr: IntArray,
    indices: IntArray,
    parts: IntArray,
    counts: IntArray,
    pairs: FloatArray,
    layer: int,
    radius: float,
    values: FloatArray,
    degrees: FloatArray,
    around: FloatArray,
    spare: IntArray,
    chosen: IntArray,
    ends: IntArray,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float]:
    """Fill ``arms`` with the best allocation found for pairs worth ``pairs[layer]``.

    Their variances ``pairs[VAR]`` count when radius > 0. The other arguments are those of
    :class:`~gbb._kernels.choice.joint.Rule` and :class:`~gbb._kernels.choice.work.Work`. Returns the
    number of the tuple that is played, -1 for another allocation, and its value.
    """
    K, k = pairs.shape[1], counts.shape[0]
    if k == 2:
        couple_values(pairs, layer, radius, counts, values)
    else:
        tuple_values_orthogonal(pairs, layer, radius, counts, values)
    start, ties = first_best(values)
    if ties > 1:
        start = pick(values, rng)
    best, value = start, values[start]
    fill_digits(start, K, chosen)
    for i in range(arms.size):
        arms[i] = chosen[parts[i]]
    for found in range(ends.shape[0]):
        if found > 0:
            start = next_start(values, start, K, k)
            if start < 0:
                break
            fill_digits(start, K, chosen)
        for i in range(arms.size):
            ends[found, i] = chosen[parts[i]]
        if radius == 0.0:
            pays_of(degrees, pairs, layer, chosen, around)
            reached = ascend_linear(indptr, indices, pairs, layer, around, ends, found)
        else:
            count_pairs(degrees, counts, chosen, pairs, around)
            reached = ascend_orthogonal(
                indptr, indices, pairs, layer, radius, around, spare, ends, found
            )
        if reached > value:
            best, value = -1, reached
            for i in range(arms.size):
                arms[i] = ends[found, i]
    return best, value
