"""The estimate of a round with a vector c of context numbers, in as few parameters as decide it.

The edge-arms of a round are ``c (x) z``, so of all C d^2 parameters only ``M(c) = sum_k c_k M_k``
matters, and of that the symmetric part where both directions of every link are alike. With these p
directions as columns of S, and ``A = U'U``, the covariance of a round is ``F'F`` for
``F = U^-T (c (x) S)``. The round is that of a problem without contexts and with p parameters, whose
factor is made here.
"""

from __future__ import annotations

from operator import add as plus
from operator import mul as times

import numpy as np

from gbb._kernels.choice.factors import Triangular
from gbb._kernels.jit import kernel
from gbb._kernels.linalg import whiten_columns
from gbb._kernels.simd import broadcast as splat
from gbb._kernels.simd import fma as times_plus
from gbb._kernels.simd import load, store
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray


@kernel(forceinline=True)
def narrow(whole: Triangular, F: FloatArray, own: Triangular) -> None:
    """Write to ``own`` the factor of the round whose ``c (x) S`` are the columns of ``whole``.

    They stand there in reverse: then F is Q R with R triangular (Householder reflections, which square
    no condition number), ``R'R`` is the covariance in reverse, and ``R^-T`` in reverse the upper
    triangular factor of its inverse. F is scratch space (1 x parameters + 1 x columns).
    """
    size, p = whole.U.shape[1], own.U.shape[1]
    width = F.shape[2]
    whiten_columns(whole.U, 0, whole.columns, 0, F, 0, 0, width)
    for j in range(p):
        tail = 0.0
        for i in range(j + 1, size):
            tail += F[0, i, j] * F[0, i, j]
        above = F[0, j, j]
        norm = np.sqrt(above * above + tail)
        head = above + norm if above >= 0.0 else above - norm
        scale = 2.0 / (head * head + tail)
        F[0, j, j] = head
        for i in range(j, size):
            whole.scratch[i] = F[0, i, j]
        for lane in range(j // WIDTH * WIDTH, width, WIDTH):
            one, two = splat(0.0), splat(0.0)
            for i in range(j, size - 1, 2):
                row = i * width + lane
                one = times_plus(splat(whole.scratch[i]), load(F, row), one)
                two = times_plus(splat(whole.scratch[i + 1]), load(F, row + width), two)
            if (size - j) % 2 == 1:
                row = (size - 1) * width + lane
                one = times_plus(splat(whole.scratch[size - 1]), load(F, row), one)
            step = times(splat(-scale), plus(one, two))
            for i in range(j, size):
                row = i * width + lane
                store(F, row, times_plus(splat(whole.scratch[i]), step, load(F, row)))
        F[0, j, j] = -norm if above >= 0.0 else norm
    U = own.U
    for j in range(p):
        r = p - 1 - j
        U[0, r, r] = 1.0 / F[0, j, j]
        for i in range(j - 1, -1, -1):
            value = 0.0
            for k in range(i + 1, j + 1):
                value += F[0, i, k] * U[0, r, p - 1 - k]
            U[0, r, p - 1 - i] = -value * U[0, p - 1 - i, p - 1 - i]
        paid = 0.0
        for c in range(r, p):
            paid += U[0, r, c] * F[0, size, p - 1 - c]
        U[0, r, p] = paid
