"""The augmented Lagrangian of the low-rank semidefinite relaxation of a pair problem.

Agent i's arm a has a vector ``V[i, a]``. An edge pays ``sum W[a, b] V[i, a].V[j, b]``; the arms of one
agent shall be orthogonal (multipliers ``E``), and products along edges at least 0 (multipliers ``N``,
kept at the edges from a smaller to a larger agent).
"""

from __future__ import annotations

from gbb._kernels.jit import kernel
from gbb._kernels.pairwise.moves import PairArrays
from gbb._support.checks import FloatArray


@kernel(fastmath=True)
def augmented(
    pairs: PairArrays,
    V: FloatArray,
    E: FloatArray,
    N: FloatArray,
    sigma: float,
    gradient: FloatArray,
    step: bool,
) -> float:
    """Value of the augmented Lagrangian, which is to be maximised; the gradient is written.

    With ``step`` the multipliers then make one step of the method of multipliers, in place.
    """
    indptr, indices, types, tables, _ = pairs
    n, K, rank = V.shape
    value = 0.0
    gradient[:] = 0.0
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if j < i:
                continue
            for a in range(K):
                for b in range(K):
                    product = 0.0
                    for q in range(rank):
                        product += V[i, a, q] * V[j, b, q]
                    pay = tables[types[k], a, b]
                    force = max(0.0, N[k, a, b] - sigma * product)
                    value += pay * product - (force**2 - N[k, a, b] ** 2) / (2.0 * sigma)
                    pull = pay + force
                    if step:
                        N[k, a, b] = force
                    for q in range(rank):
                        gradient[i, a, q] += pull * V[j, b, q]
                        gradient[j, b, q] += pull * V[i, a, q]
        for a in range(K):
            for b in range(a):
                product = 0.0
                for q in range(rank):
                    product += V[i, a, q] * V[i, b, q]
                value -= E[i, a, b] * product + 0.5 * sigma * product**2
                push = E[i, a, b] + sigma * product
                if step:
                    E[i, a, b] = E[i, b, a] = push
                for q in range(rank):
                    gradient[i, a, q] -= push * V[i, b, q]
                    gradient[i, b, q] -= push * V[i, a, q]
    return value
