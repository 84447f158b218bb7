"""The same bandit by `bayesianbandits`: one Bayesian linear regression shared by all couples."""

from __future__ import annotations

import numpy as np
from bayesianbandits import (
    Arm,
    FunctionArmFeaturizer,
    LipschitzContextualAgent,
    NormalRegressor,
    UpperConfidenceBound,
)

from gbb.cuts import Cut
from gbb.environment import Environment


def bayesian_ucb(
    env: Environment, cut: Cut, rounds: int, seed: int, *, lam: float = 1.0
) -> np.ndarray:
    """Upper-confidence choice of the couple, every edge's reward fed to the regression.

    The peer sees what the engine sees: m rewards with their edge-arms. Its arms are the K^2 couples,
    with the objective vector of the improved algorithm as features. Returns the couples played.
    """
    problem = env.problem
    rng = np.random.default_rng(seed)
    K = problem.K
    V = cut.couple_values(problem.edge_arms.reshape(K, K, -1)).reshape(K * K, -1)
    learner = NormalRegressor(alpha=lam, beta=1.0 / problem.sigma**2, random_state=seed)

    def features(context: np.ndarray, tokens: list[int]) -> np.ndarray:
        return np.repeat(V[np.asarray(tokens)].T[None], len(context), axis=0)

    agent = LipschitzContextualAgent(
        [Arm(p, learner=None) for p in range(K * K)],
        UpperConfidenceBound(alpha=0.84, samples=50),
        FunctionArmFeaturizer(features),
        learner,
        random_seed=seed,
    )
    source, target = problem.graph.edges.T
    nothing = np.zeros((1, 1))
    played = np.empty(rounds, dtype=np.int64)
    for t in range(rounds):
        (couple,) = agent.pull(nothing)
        arms = np.where(cut.sides == 0, couple // K, couple % K)
        codes = arms[source] * K + arms[target]
        y = env.reward_table.ravel()[codes] + problem.sigma * rng.standard_normal(problem.m)
        learner.partial_fit(problem.edge_arms[codes], y)
        played[t] = couple
    return played
