"""Other policies on identical feedback, same instance and seeds. Prints Markdown.

python benchmarks/peers.py [ROUNDS] [RUNS]      `all` peers up to 1000 rounds, couples only beyond
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable

import numpy as np
from bayesianbandits import (
    Arm,
    FunctionArmFeaturizer,
    LipschitzContextualAgent,
    NormalRegressor,
    ThompsonSampling,
    UpperConfidenceBound,
)
from threadpoolctl import threadpool_limits

import gbb

Player = Callable[[gbb.Environment, int, int], float]
"""``player(env, rounds, seed)``: the expected reward of all rounds."""


def bayesian(choice: object, allocations: np.ndarray) -> Player:
    """`bayesianbandits`: one regression, an arm per allocation, every edge's reward fed to it."""

    def play(env: gbb.Environment, rounds: int, seed: int) -> float:
        problem, graph = env.problem, env.problem.graph
        z = problem.edge_arms.reshape(problem.K, problem.K, -1)
        V = np.array(
            [z[arms[graph.sources], arms[graph.indices]].sum(axis=0) for arms in allocations]
        )
        learner = NormalRegressor(alpha=1.0, beta=1.0 / problem.sigma**2, random_state=seed)
        agent = LipschitzContextualAgent(
            [Arm(i, learner=None) for i in range(len(V))],
            choice,
            FunctionArmFeaturizer(lambda _, tokens: V[np.asarray(tokens)].T[None]),
            learner,
            random_seed=seed,
        )
        rng, nothing, total = np.random.default_rng(seed), np.zeros((1, 1)), 0.0
        for _ in range(rounds):
            (number,) = agent.pull(nothing)
            arms = allocations[number]
            rewards = env.draw(arms, rng)
            learner.partial_fit(z[arms[graph.sources], arms[graph.indices]], rewards)
            total += env.expected_reward(arms)
        return total

    return play


def edge_tabular(env: gbb.Environment, rounds: int, seed: int) -> float:
    """An upper confidence per link and pair of arms, nothing shared between links (as MAUCE)."""
    problem, graph = env.problem, env.problem.graph
    rng, K = np.random.default_rng(seed), problem.K
    kept = np.flatnonzero(graph.sources < graph.indices)
    i, j = graph.sources[kept], graph.indices[kept]
    everything = np.array(list(itertools.product(range(K), repeat=problem.n)))
    codes = everything[:, i] * K + everything[:, j]
    links = np.arange(len(kept))
    count, sums, total = np.zeros((len(kept), K * K)), np.zeros((len(kept), K * K)), 0.0
    span2 = (2.0 * problem.L * problem.S) ** 2
    for t in range(1, rounds + 1):
        mean = sums / np.maximum(count, 1.0)
        width2 = np.where(count > 0, span2 / np.maximum(count, 1.0), 1e9)
        log = 0.5 * np.log(len(kept) * K * K * t)
        value = mean[links, codes].sum(axis=1) + np.sqrt(log * width2[links, codes].sum(axis=1))
        best = int(np.argmax(value))
        rewards = env.draw(everything[best], rng)
        count[links, codes[best]] += 1
        sums[links, codes[best]] += rewards[kept] + rewards[graph.reverse[kept]]
        total += env.expected_reward(everything[best])
    return total


def ours(name: str) -> Player:
    def play(env: gbb.Environment, rounds: int, seed: int) -> float:
        policy = gbb.policies.build(name, env.problem, cut=gbb.cuts.greedy(env.problem.graph))
        found = gbb.simulate(env, policy, rounds=rounds, seed=seed, record=[rounds], workers=1)
        return rounds * float(found.attrs["optimum"]) - float(found.regret.squeeze())

    return play


def main() -> None:
    rounds, runs = (int(text) for text in (sys.argv[1:] + ["1000", "3"][len(sys.argv) - 1 :]))
    graph = gbb.Graph.complete(5)
    cut = gbb.cuts.greedy(graph)
    couples = np.array([cut.allocation(c) for c in itertools.product(range(5), repeat=2)])
    everything = np.array(list(itertools.product(range(5), repeat=5)))
    ucb = UpperConfidenceBound(alpha=0.84, samples=50)
    players: dict[str, Player] = {
        "gbb JointOFUL": ours("JointOFUL"),
        "gbb ThompsonSampling": ours("ThompsonSampling"),
        "bayesianbandits Thompson, couples": bayesian(ThompsonSampling(), couples),
        "bayesianbandits UCB, couples": bayesian(ucb, couples),
    }
    if rounds <= 1000:
        players["bayesianbandits Thompson, all K^n"] = bayesian(ThompsonSampling(), everything)
        players["bayesianbandits UCB, all K^n"] = bayesian(ucb, everything)
        players["edge-tabular UCB (as MAUCE)"] = edge_tabular
    print("| policy | share of the optimum | us a round |")
    print("| --- | --- | --- |")
    for name, play in players.items():
        shares, seconds = [], []
        for seed in range(runs):
            M = gbb.instances.absolute_normal(
                5, seed=1000 + seed, frobenius=4.0, zeta=0.0, distinct_couple=True
            )
            env = gbb.Environment(gbb.Problem(graph, np.eye(5), S=4.0), M)
            best = gbb.optimum.solve(env.problem, M).value
            play(env, 2, seed)
            start = time.process_time()
            shares.append(play(env, rounds, seed) / (rounds * best))
            seconds.append((time.process_time() - start) / rounds)
        error = np.std(shares, ddof=1) / np.sqrt(runs)
        print(
            f"| {name} | {np.mean(shares):.4f} ± {error:.4f} | {1e6 * min(seconds):,.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
