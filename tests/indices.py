"""What an index policy maximises, taken apart."""

from __future__ import annotations

import numpy as np

from gbb.policies import (
    AnyPolicy,
    EpsilonRandom,
    Guarded,
    IndexPolicy,
    Learned,
    Objective,
    Optimistic,
)


def objective_of(policy: IndexPolicy, state: Learned) -> Objective:
    """Return the objective of a policy, or of its guard; without optimism that of the mean."""
    posterior, index = policy.learner.posterior(policy.problem, state), policy.index
    index = index.index if isinstance(index, EpsilonRandom) else index
    index = index.guard if isinstance(index, Guarded) else index
    if isinstance(index, Optimistic):
        return index.objective(posterior)
    return Objective(posterior.ridge, posterior.mean, 0.0)


def couple_vectors(policy: AnyPolicy) -> np.ndarray:
    """Return the sum of edge-arms that each couple is valued by (K^2 x d^2)."""
    problem = policy.problem
    z = problem.edge_arms.reshape(problem.K, problem.K, -1)
    return policy.cut.couple_values(z, policy.search.weights).reshape(problem.K**2, -1)
