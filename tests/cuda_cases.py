"""Instances and policies that the tests of the GPU share, and an estimate by plain linear algebra."""

from __future__ import annotations

import numpy as np

import gbb
from gbb.policies._compiled import compile_policy
from gbb.simulation.cuda.couples import prior
from indices import couple_vectors

P = gbb.policies


def instance(K=5, d=5, *, general=False, graph=None, seed=0):
    rng = np.random.default_rng(seed)
    arms = np.eye(K)
    if general:
        arms = rng.normal(size=(K, d))
        arms /= np.linalg.norm(arms, axis=1)[:, None]
    M = np.abs(rng.normal(size=(arms.shape[1], arms.shape[1])))
    problem = gbb.Problem(graph or gbb.Graph.complete(5), arms, sigma=1.0, S=4.0)
    env = gbb.Environment(problem, 4.0 * M / np.linalg.norm(M))
    return env, gbb.cuts.greedy(problem.graph)


def everybody(problem, cut, horizon):
    return [
        P.OFUL(problem, cut=cut),
        P.ImprovedOFUL(problem, cut=cut, radius="symmetric"),
        P.JointOFUL(problem, cut=cut),
        P.ThompsonSampling(problem, cut=cut),
        P.EpsilonGreedy(problem, cut=cut, epsilon=0.2),
        P.ExploreThenCommit(problem, cut=cut, horizon=horizon),
        P.UniformRandom(problem),
    ]


def check_estimate(policy, rounds, played, rtol):
    """Compare the means and widths of all couples with a fresh solve from what each pair was paid."""
    K, weight = policy.problem.K, played["load"]
    if policy.problem.orthogonal:  # there, the prior's precision is in the load
        weight = weight - prior(compile_policy(policy))[:, None]
    weight = np.rint(weight)
    assert (weight.sum(axis=0) == rounds * policy.problem.m).all()
    estimate = played["carried"][2:].reshape(2, K**2, -1)
    for run in range(weight.shape[1]):
        mean, width = fresh_estimate(policy, weight[:, run], played["paid"][:, run])
        np.testing.assert_allclose(estimate[0, :, run], mean, rtol=rtol)
        np.testing.assert_allclose(estimate[1, :, run], width, rtol=rtol)


def fresh_estimate(policy, weight, paid):
    """Means and widths of all couples from the record by pair, in extended precision."""
    z, K = policy.problem.edge_arms.astype(np.longdouble), policy.problem.K
    a, b = np.triu_indices(K)
    q = (z[a * K + b] + z[b * K + a]) / 2.0
    basis = np.linalg.svd(q.astype(float), full_matrices=False)[2]
    basis = basis[: np.linalg.matrix_rank(q.astype(float))]
    q = q @ basis.T.astype(np.longdouble)
    A = q.T @ (weight[:, None] * q) + policy.lam * np.eye(q.shape[1])
    L = np.zeros_like(A)
    for j in range(len(A)):
        L[j, j] = np.sqrt(A[j, j] - L[j, :j] @ L[j, :j])
        L[j + 1 :, j] = (A[j + 1 :, j] - L[j + 1 :, :j] @ L[j, :j]) / L[j, j]

    def whiten(right):
        for j in range(len(L)):
            right[j] = (right[j] - L[j, :j] @ right[:j]) / L[j, j]
        return right

    v = couple_vectors(policy).astype(np.longdouble) @ basis.T
    white, centre = whiten(v.T.copy()), whiten(q.T @ paid)
    return (centre @ white).astype(float), np.sqrt((white**2).sum(axis=0)).astype(float)
