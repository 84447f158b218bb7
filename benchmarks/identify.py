"""How many rounds a certificate takes in the setting of the paper's Figure 2. Prints Markdown.

python benchmarks/identify.py [MATRICES]
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np

import gbb
from gbb import sweep
from gbb.policies import PhasedExploration

DELTA = 0.001
EPSILONS = (2.0, 1.0, 0.5, 0.25)
LIMIT = 1_000_000


def instances(count: int) -> list[gbb.Environment]:
    graph = gbb.Graph.complete(5)
    draw = {"frobenius": 4.0, "zeta": 0.0, "distinct_couple": True}
    matrices = (gbb.instances.absolute_normal(5, seed=1000 + i, **draw) for i in range(count))
    return [gbb.Environment(gbb.Problem(graph, np.eye(5), S=4.0), M) for M in matrices]


def by_policy(env: gbb.Environment, epsilon: float, seed: int) -> tuple[int, np.ndarray]:
    """PhasedExploration until it commits: rounds and allocation."""
    cut = gbb.cuts.greedy(env.problem.graph)
    policy = PhasedExploration(env.problem, cut=cut, epsilon=epsilon, delta=DELTA)
    rng, noise = (np.random.default_rng([seed, k]) for k in range(2))
    state = policy.init()
    while state.couple is None and state.learned.rounds < LIMIT:
        choice = policy.select(state, rng)
        state = policy.update(state, choice, env.draw(1, choice.allocation, noise))
    return state.learned.rounds, policy.select(state, rng).allocation


def by_identify(
    env: gbb.Environment, epsilon: float, seed: int, target: str
) -> tuple[int, np.ndarray]:
    found = gbb.identify(
        env, epsilon=epsilon, delta=DELTA, target=target, max_rounds=LIMIT, seed=seed
    )
    return found.rounds, found.allocation


def once(env: gbb.Environment, epsilon: float, seed: int, name: str) -> tuple[int, np.ndarray]:
    """Rounds and allocation of one of the rows' ways."""
    target, _, how = name.partition(", ")
    if how == "identify":
        return by_identify(env, epsilon, seed, target)
    return by_policy(env, epsilon, seed)


def main() -> None:
    envs = instances(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
    tops = [gbb.optimum.solve(env.problem, env.M_star).value for env in envs]
    pairs = [
        float(gbb.cuts.greedy(env.problem.graph).couple_values(env.reward_table).max())
        for env in envs
    ]
    print(f"Optimum {np.mean(tops):.2f} a round on average, best couple {np.mean(pairs):.2f}.\n")
    print("| epsilon | what | rounds: median | least | most | largest loss | wrong |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for epsilon in EPSILONS:
        for name in ("couple, PhasedExploration", "couple, identify", "allocation, identify"):
            calls = [partial(once, env, epsilon, seed, name) for seed, env in enumerate(envs)]
            rounds, arms = zip(*sweep.gather(calls, sweep.executors.local()), strict=True)
            best = tops if name.startswith("allocation") else pairs
            losses = [
                top - env.expected_reward(a) for top, env, a in zip(best, envs, arms, strict=True)
            ]
            wrong = sum(loss > epsilon + 1e-9 for loss in losses)
            print(
                f"| {epsilon:g} | {name} | {np.median(rounds):,.0f} | {min(rounds):,} "
                f"| {max(rounds):,} | {max(losses):.3f} | {wrong} of {len(envs)} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
