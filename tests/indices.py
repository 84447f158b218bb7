"""What an index policy maximises, taken apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gbb.policies import (
    AnyPolicy,
    EpsilonRandom,
    Guarded,
    Index,
    IndexPolicy,
    InformationRatio,
    Learned,
    Objective,
    Optimistic,
    RidgeLearner,
    Search,
)
from naive_information import NaiveInformationRatio


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


class Composed(IndexPolicy):
    """The parts of a policy put together in Python: the twin of the compiled choice."""

    learner: RidgeLearner = RidgeLearner()
    index: Index = Optimistic()
    search: Search | None = None

    @classmethod
    def of(cls, policy: IndexPolicy) -> Composed:
        """Return the twin of a policy."""
        return cls(
            policy.problem,
            name=policy.name,
            learner=policy.learner,
            index=_naive(policy.index),
            search=policy.search,
        )

    def select(self, state, rng):
        return self.index.choose(self.learner.posterior(self.problem, state), self.search, rng)


def _naive(index: Index) -> Index:
    """Return an index without compiled code but for searches."""
    if isinstance(index, InformationRatio):
        own = {name: getattr(index, name) for name in ("samples", "power", "floor")}
        return NaiveInformationRatio(**own)
    if isinstance(index, EpsilonRandom):
        return replace(index, index=_naive(index.index))
    if isinstance(index, Guarded):
        return replace(index, proposal=_naive(index.proposal))
    return index
