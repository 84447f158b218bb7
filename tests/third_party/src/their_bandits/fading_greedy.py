"""Greedy, agent by agent, with random rounds that grow rare."""

import numpy as np

from gbb.learning import AnyRecord, Ridge, empty
from gbb.policies import Choice, Learned, RecordPolicy


class FadingGreedy(RecordPolicy[Learned]):
    """Plays at random with probability ``explore / (1 + t)``, else what is estimated to pay most.

    Parameters
    ----------
    problem
        What the learner knows.
    explore
        How many random rounds to expect, up to a factor log T.
    lam
        The ridge regulariser lambda, > 0.
    """

    explore: float = 10.0
    lam: float = 1.0

    requires = ""  # plays every problem

    def init(self) -> Learned:
        return Learned(0, empty(self.problem))

    def select(self, state: Learned, rng: np.random.Generator) -> Choice:
        allowed = self.problem.allowed
        if rng.random() * (1 + state.rounds) < self.explore:
            return Choice(np.array([rng.choice(np.flatnonzero(arms)) for arms in allowed]))
        return Choice(self.climb(Ridge(self.problem, state.record, self.lam).means))

    def climb(self, means: np.ndarray) -> np.ndarray:
        """Let each agent in turn take the best arm beside the others' (means: types x K x K)."""
        problem, graph = self.problem, self.problem.graph
        weights, types = problem.edge_weights, problem.edge_types
        arms = problem.allowed.argmax(axis=1)
        for agent in range(problem.n):
            out = np.flatnonzero(graph.sources == agent)
            back, beside = graph.reverse[out], arms[graph.indices[out]]
            worth = weights[out] @ means[types[out], :, beside]
            worth += weights[back] @ means[types[back], beside, :]
            arms[agent] = np.argmax(np.where(problem.allowed[agent], worth, -np.inf))
        return arms

    def absorb(
        self, state: Learned, choice: Choice | None, record: AnyRecord, *, rounds: int = 1
    ) -> Learned:
        return Learned(state.rounds + rounds, state.record.merge(record))
