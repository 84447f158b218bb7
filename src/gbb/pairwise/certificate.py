"""From any multipliers of the semidefinite relaxation to an upper bound that holds."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve, helmert

from gbb._support.budget import Budget
from gbb._support.checks import FloatArray
from gbb.pairwise.eigen import FLOPS, STEPS, lanczos
from gbb.pairwise.problem import PairProblem

SIZE = 4_000
"""The largest sum of arms over agents for which a certificate is formed."""

SLACKS = (1e-8, 1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0)


def fits(pairs: PairProblem) -> bool:
    """Whether the problem is small enough for a certificate."""
    return int(pairs.allowed.sum()) <= SIZE


def seconds_needed(pairs: PairProblem) -> float:
    """How long a certificate takes, roughly."""
    return 4.0 * int(pairs.allowed.sum()) ** 3 / 3.0 / FLOPS


def certified_bound(
    pairs: PairProblem, E: FloatArray, N: FloatArray, rng: np.random.Generator
) -> float:
    """An upper bound on every allocation's value, for any E with zero diagonals and any N >= 0.

    The indicators u of an allocation have ``u_i' E_i u_i = 0`` and ``u' N u >= 0``, so its value is at
    most ``u' C u`` with ``C = (A x (W + N) - E) / 2``. With ``u = c + B t``, c the uniform shares, B an
    orthonormal basis of what keeps each agent's sum, ``|t|^2 = tau`` is the same for all allocations.
    So whenever ``shift I - B'CB`` is positive definite, which a Cholesky factor proves, the value
    is at most ``c'Cc + shift tau + l' (shift I - B'CB)^-1 l`` with ``l = B'Cc``.
    """
    C = _objective(pairs, E, np.maximum(N, 0.0))
    sizes = pairs.allowed.sum(axis=1)
    several = np.repeat(sizes > 1, sizes)
    c = np.repeat(1.0 / sizes, sizes)
    constant = float(c @ C @ c)
    if not several.any():
        return constant
    basis = sparse.csr_array(sparse.block_diag([helmert(k).T for k in sizes if k > 1]))
    linear = basis.T @ (C @ c)[several]
    inner = basis.T @ C[np.ix_(several, several)]
    inner = basis.T @ inner.T
    inner = (inner + inner.T) / 2.0
    low, high, _ = lanczos(inner, rng, Budget(), STEPS)
    scale = max(abs(low), abs(high), 1e-300)
    tau = float((1.0 - 1.0 / sizes).sum())
    bound = np.inf
    size = len(inner)
    for slack in SLACKS:
        shift = high + slack * scale
        try:
            factor = cho_factor(shift * np.eye(size) - inner, overwrite_a=True, check_finite=False)
        except LinAlgError:
            continue
        rounding = 1e-15 * size * (scale + abs(shift)) * tau
        raised = constant + shift * tau + float(linear @ cho_solve(factor, linear)) + rounding
        if raised > bound:
            break
        bound = raised
    return bound


def _objective(pairs: PairProblem, E: FloatArray, N: FloatArray) -> FloatArray:
    """``C`` on the allowed arms, as a dense matrix."""
    n, K, graph = pairs.n, pairs.K, pairs.graph
    sources, targets = graph.sources[pairs.once], graph.indices[pairs.once]
    blocks = pairs.tables[pairs.types[pairs.once]] + N[pairs.once]
    C = np.zeros((n, K, n, K))
    C[sources, :, targets, :] = blocks
    C[targets, :, sources, :] = blocks.transpose(0, 2, 1)
    agents = np.arange(n)
    C[agents, :, agents, :] = -(E + E.transpose(0, 2, 1)) / 2.0
    C[agents[:, None], np.arange(K), agents[:, None], np.arange(K)] = 0.0
    kept = pairs.allowed.ravel()
    flat: FloatArray = C.reshape(n * K, n * K)[np.ix_(kept, kept)] / 2.0
    return flat
