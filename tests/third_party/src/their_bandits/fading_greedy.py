"""Greedy, agent by agent, with random rounds that grow rare."""

import numpy as np

from gbb import Problem
from gbb.learning import Ridge, empty
from gbb.policies import Choice, Learned, Policy


class FadingGreedy(Policy[Learned]):
    """Plays at random with probability ``explore / (1 + t)``, else what is estimated to pay most.

    Parameters
    ----------
    problem
        What the learner knows.
    explore
        How many random rounds to expect, up to a factor log T.
    lam
        The ridge regulariser lambda, > 0.
    name
        How results call this policy.
    """

    plays_any_problem = True

    def __init__(
        self, problem: Problem, *, explore: float = 10.0, lam: float = 1.0, name: str | None = None
    ) -> None:
        super().__init__(problem, name=name)
        self.explore, self.lam = explore, lam

    def init(self) -> Learned:
        return Learned(0, empty(self.problem))

    def select(self, state: Learned, rng: np.random.Generator) -> Choice:
        allowed = self.problem.allowed
        if rng.random() * (1 + state.rounds) < self.explore:
            return Choice(np.array([rng.choice(np.flatnonzero(arms)) for arms in allowed]))
        return Choice(self.climb(Ridge(self.problem, state.record, self.lam).means))

    def climb(self, pays: np.ndarray) -> np.ndarray:
        """Each agent in turn takes the arm that pays most beside the others' (types x K x K)."""
        problem, graph = self.problem, self.problem.graph
        weights, types = problem.edge_weights, problem.edge_types
        arms = problem.allowed.argmax(axis=1)
        for agent in range(problem.n):
            out = np.flatnonzero(graph.sources == agent)
            back, beside = graph.reverse[out], arms[graph.indices[out]]
            worth = weights[out] @ pays[types[out], :, beside]
            worth += weights[back] @ pays[types[back], beside, :]
            arms[agent] = np.argmax(np.where(problem.allowed[agent], worth, -np.inf))
        return arms
