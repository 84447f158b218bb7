"""A vector of context numbers on one-hot arms: a small factor for each regressor, and the record."""

from __future__ import annotations

import numpy as np

from gbb._kernels.choice.numbers import Numbers
from gbb._support.arrays import aligned_zeros, padded
from gbb._support.checks import FloatArray
from gbb.learning.coordinates import Coordinates, coordinates, symmetric_edge_arms
from gbb.learning.record import Moments
from gbb.problem import Problem
from gbb.simulation._lowering import LoweredPolicy


def is_one_hot(problem: Problem) -> bool:
    """Whether arms are the unit vectors, in any order and of any size, and edges are seen one by one."""
    some = problem.arms != 0.0
    one_each = (some.sum(axis=0) == 1).all() and (some.sum(axis=1) == 1).all()
    return problem.feedback == "edge" and bool(one_each)


def coordinates_of(problem: Problem, *, halves: bool, diagonal: bool, drawn: bool) -> Coordinates:
    """Those of symmetric parts, or of all of every edge-arm, in the order of parameters.

    ``diagonal`` says whether every regressor is to have a coordinate to itself, as arms allow it. Where
    it is ``drawn`` what edge-arms pay, each is a regressor of its own even if halves decide.
    """
    z, shape = np.array(problem.edge_arms), (problem.K, problem.K)
    if halves and not drawn:
        own = coordinates(problem, symmetric=True)
        each = symmetric_edge_arms(problem.arms)[np.unique(own.index, return_index=True)[1]]
        return own if diagonal else Coordinates(own.index, each, diagonal=False)
    if not diagonal:
        each = symmetric_edge_arms(problem.arms) if halves else z
        return Coordinates(np.arange(len(z)).reshape(shape), each, diagonal=False)
    index, amounts = np.abs(z).argmax(axis=1), np.zeros(len(z))
    amounts[index] = z.sum(axis=1)
    return Coordinates(index.reshape(shape), np.diag(amounts), diagonal=True)


def new_numbers(policy: LoweredPolicy, C: int) -> Numbers:
    """Factors that have seen nothing, for C numbers; ``policy`` is that of one matrix."""
    diagonal, K = policy.make_diagonal(), policy.problem.K
    norms = np.diag(policy.coordinates.features)
    count, width = len(norms), padded(len(norms))
    U, norm = aligned_zeros(C, C + 2, width), aligned_zeros(width)
    U[np.arange(C), np.arange(C)] = np.sqrt(policy.lam)
    U[:, C + 1], norm[:count] = 1.0 / np.sqrt(policy.lam), norms
    twice = diagonal.both & (diagonal.first != diagonal.second)
    return Numbers(
        now=np.zeros(C),
        U=U,
        norm=norm,
        times=1.0 + twice,
        first=diagonal.first,
        second=diagonal.second,
        mean=aligned_zeros(width),
        var=aligned_zeros(width),
        log_det=np.zeros(count),
        smallest=np.ones(count),
        stale=np.zeros(count, dtype=np.bool_),
        seen=np.zeros((count, 2)),
        gram=np.zeros((K, K, C, C)),
        moment=np.zeros((K, K, C)),
        solved=aligned_zeros(C, width),
        row=np.zeros(C + 1),
        columns=np.zeros((C, C)),
    )


def moments_of(problem: Problem, gram: FloatArray, moment: FloatArray) -> Moments:
    """``sum q q'`` and ``sum y q`` from ``sum N c c'`` and ``sum Y c`` of every edge-arm."""
    z, (*_, C) = problem.edge_arms, moment.shape
    total = np.zeros((C, z.shape[1], C, z.shape[1]))
    for k, j in np.ndindex(C, C):
        total[k, :, j] = (z * gram[:, :, k, j].reshape(-1, 1)).T @ z
    paid = moment.reshape(-1, C).T @ z
    return Moments(total.reshape(problem.parameters, problem.parameters), paid.ravel())
