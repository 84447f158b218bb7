"""Best tuple and searches by pairs of arms, the fast case of :mod:`gbb._kernels.choice.climb`."""

from __future__ import annotations

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.choice.choose import first_best, pick
from gbb._kernels.choice.linear import ascend_linear, pays_of_tuple
from gbb._kernels.choice.pairs_search import ascend_pairs, count_pairs
from gbb._kernels.choice.pairs_values import couple_values, tuple_values
from gbb._kernels.choice.tuples import fill_digits, next_start
from gbb._support.checks import FloatArray, IntArray


@compiled()
def climb_pairs(
    indptr: IntArray,
    indices: IntArray,
    parts: IntArray,
    counts: IntArray,
    bundle_start: IntArray,
    bundle_part: IntArray,
    bundle_count: FloatArray,
    pairs: FloatArray,
    pay: FloatArray,
    radius: float,
    values: FloatArray,
    around: FloatArray,
    pays: FloatArray,
    scratch: IntArray,
    chosen: IntArray,
    ends: IntArray,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float]:
    """Fill ``arms`` with the best allocation found for pairs worth ``pay``, or optimistically.

    With radius > 0 the means and variances in ``pairs`` count. The other arguments are those of
    :class:`~gbb._kernels.choice.pairs.PairRule` and :class:`~gbb._kernels.choice.pairs.PairWork`, one by
    one. Returns the number of the tuple that is played, -1 for another allocation, and its value.
    """
    K, k = pairs.shape[1], counts.shape[0]
    if k == 2:
        couple_values(pairs, pay, radius, counts, values)
    else:
        tuple_values(pairs, pay, radius, counts, values)
    start, ties = first_best(values)
    if ties > 1:
        start = pick(values, rng)
    best, value = start, values[start]
    fill_digits(start, K, chosen)
    for i in range(arms.size):
        arms[i] = chosen[parts[i]]
    for found in range(ends.shape[0]):
        if found > 0:
            start = next_start(values, start, K, k, 0.0)
            if start < 0:
                break
            fill_digits(start, K, chosen)
        for i in range(arms.size):
            ends[found, i] = chosen[parts[i]]
        if radius == 0.0:
            pays_of_tuple(bundle_start, None, bundle_part, bundle_count, None, pay, chosen, pays)
            reached = ascend_linear(indptr, indices, None, None, pay, pays, ends, found, False, 0.0)
        else:
            count_pairs(bundle_start, bundle_part, bundle_count, counts, chosen, pairs, around)
            reached = ascend_pairs(indptr, indices, pairs, radius, around, scratch, ends, found)
        if reached > value:
            best, value = -1, reached
            for i in range(arms.size):
                arms[i] = ends[found, i]
    return best, value
