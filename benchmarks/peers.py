"""Other implementations and policies on the same feedback, in Markdown. Takes the extra `bench`.

python benchmarks/peers.py couples [--quick]     the engine beside a textbook and `bayesianbandits`
python benchmarks/peers.py policies [MATRICES] [RUNS] [--marks 1000,20000] [--only TEXT]

Times are processor seconds of one core and one process. All peers to 20,000 rounds take a minute a run.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import bayesianbandits as bb
import numpy as np
from threadpoolctl import threadpool_limits

import gbb
from gbb.policies import ImprovedOFUL, InformationDirected, JointOFUL, ThompsonSampling
from speed import CASES, Row, paper, show
from speed import Player as Engine
from studies import figure2, table


def textbook(
    env: gbb.Environment,
    cut: gbb.Cut,
    weights: tuple[float, float, float, float],
    rounds: int,
) -> None:
    """ImprovedOFUL by numpy: full ridge regression in d^2 dimensions, a solve a round, no tricks.

    All K^2 widths are one product, and edges are vectorised, as a careful numpy user would do it.
    """
    problem, rng = env.problem, np.random.default_rng(0)
    K, d2, lam = problem.K, problem.d**2, 1.0
    Z = np.array([np.outer(x, y).ravel(order="F") for x in problem.arms for y in problem.arms])
    pairs = Z.reshape(K, K, d2)
    own = pairs[np.arange(K), np.arange(K)]
    w12, w21, w1, w2 = weights
    V = w12 * pairs + w21 * pairs.transpose(1, 0, 2) + w1 * own[:, None] + w2 * own[None]
    V = V.reshape(K * K, d2)
    source, target = problem.graph.edges.T
    A, b = lam * np.eye(d2), np.zeros(d2)
    for t in range(rounds):
        inverse = np.linalg.solve(A, np.eye(d2))
        growth = np.log((1 + t * problem.m * problem.L**2 / lam) / 1e-3)
        radius = problem.sigma * np.sqrt(d2 * growth) + np.sqrt(lam) * problem.S
        values = V @ inverse @ b + radius * np.sqrt(np.einsum("pi,pi->p", V @ inverse, V))
        couple = rng.choice(np.flatnonzero(values == values.max()))
        arms = np.where(cut.sides == 0, couple // K, couple % K)
        codes = arms[source] * K + arms[target]
        z = Z[codes]
        y = env.reward_table.ravel()[codes] + problem.sigma * rng.standard_normal(problem.m)
        A += z.T @ z
        b += z.T @ y


def bayesian(
    choice: Any, allocations: np.ndarray, env: gbb.Environment, seed: int
) -> Iterator[float]:
    """`bayesianbandits`: one regression, an arm per allocation, the edges' rewards in one batch.

    It knows sigma, and its prior N(0, I) is the one behind our ridge regression with lam = 1.
    """
    problem, graph = env.problem, env.problem.graph
    z = problem.edge_arms.reshape(problem.K, problem.K, -1)
    V = np.array([z[arms[graph.sources], arms[graph.indices]].sum(axis=0) for arms in allocations])
    learner = bb.NormalRegressor(alpha=1.0, beta=1.0 / problem.sigma**2, random_state=seed)
    agent = bb.LipschitzContextualAgent(
        [bb.Arm(i, learner=None) for i in range(len(V))],
        choice,
        bb.FunctionArmFeaturizer(lambda _, tokens: V[np.asarray(tokens)].T[None]),
        learner,
        random_seed=seed,
    )
    rng, nothing = np.random.default_rng(seed), np.zeros((1, 1))
    while True:
        (number,) = agent.pull(nothing)
        arms = allocations[number]
        learner.partial_fit(z[arms[graph.sources], arms[graph.indices]], env.draw(1, arms, rng))
        yield env.expected_reward(arms)


def edge_tabular(env: gbb.Environment, seed: int) -> Iterator[float]:
    """An upper confidence per link and pair of arms, nothing shared between links (as MAUCE).

    The best allocation is found among all K^n in one vectorised pass.
    """
    problem, graph = env.problem, env.problem.graph
    rng, K = np.random.default_rng(seed), problem.K
    links = np.flatnonzero(graph.sources < graph.indices)
    everything = np.array(list(itertools.product(range(K), repeat=problem.n)))
    first = np.arange(len(links)) * K * K  # of a link's pairs of arms in the flat tables
    codes = first + everything[:, graph.sources[links]] * K + everything[:, graph.indices[links]]
    count, sums = np.zeros(len(links) * K * K), np.zeros(len(links) * K * K)
    span2, columns = (2.0 * problem.L * problem.S) ** 2, np.ascontiguousarray(codes.T)
    for t in itertools.count(1):
        mean = sums / np.maximum(count, 1.0)
        width2 = np.where(count > 0, span2 / np.maximum(count, 1.0), 1e9)
        log = 0.5 * np.log(len(links) * K * K * t)
        value = mean[columns].sum(axis=0) + np.sqrt(log * width2[columns].sum(axis=0))
        best = int(np.argmax(value))
        drawn = env.draw(1, everything[best], rng)
        count[codes[best]] += 1
        sums[codes[best]] += drawn[links] + drawn[graph.reverse[links]]
        yield env.expected_reward(everything[best])


Played = tuple[list[float], list[float]]
"""Share of the optimal reward of the rounds up to each mark, and seconds a round up to it."""

Player = Callable[[gbb.Environment, Sequence[int], int, gbb.optimum.Optimum], Played]
"""``player(env, marks, seed, best)`` plays as many rounds as the last mark says."""


def theirs(rewards: Callable[..., Iterator[float]]) -> Player:
    """A generator of rewards, timed."""

    def play(
        env: gbb.Environment, marks: Sequence[int], seed: int, best: gbb.optimum.Optimum
    ) -> Played:
        share, seconds, total, done = [], [], 0.0, 0
        rounds, start = rewards(env=env, seed=seed), time.process_time()
        for mark in marks:
            total += sum(itertools.islice(rounds, mark - done))
            done = mark
            seconds.append((time.process_time() - start) / mark)
            share.append(total / (mark * best.value))
        return share, seconds

    return play


def ours(make: Callable[..., gbb.policies.AnyPolicy], **settings: Any) -> Player:
    """A policy of gbb: its rounds, without solving for the optimum."""

    def play(
        env: gbb.Environment, marks: Sequence[int], seed: int, best: gbb.optimum.Optimum
    ) -> Played:
        policy, share, times = make(env.problem, **settings), [], []
        for mark in (1, 1, 1, *marks):
            start = time.process_time()
            result = gbb.simulate(
                env, policy, rounds=mark, seed=seed, record=[mark], workers=1, optimum=best
            )
            times.append(time.process_time() - start)
            share.append(1.0 - float(result.regret[0, 0, -1]) / (mark * best.value))
        # The rounds alone: a call with one round is taken off.
        fixed = min(times[:3])
        seconds = [(took - fixed) / mark for took, mark in zip(times[3:], marks, strict=True)]
        return share[3:], seconds

    return play


def players() -> dict[str, Player]:
    cut = gbb.cuts.greedy(gbb.Graph.complete(5))
    couples = np.array([cut.allocation(couple) for couple in itertools.product(range(5), repeat=2)])
    # Agents of a complete graph are alike: 126 of the 3,125 allocations differ in what they play.
    everything = np.array(list(itertools.combinations_with_replacement(range(5), 5)))
    ucb = bb.UpperConfidenceBound(alpha=0.84, samples=50)  # one posterior deviation
    ids = bb.InformationDirectedSampling(samples=100)  # as many as ours
    both = (("couples", couples), ("all K^n", everything))
    choices = (("Thompson", bb.ThompsonSampling()), ("UCB", ucb), ("IDS", ids))
    return {
        "gbb JointOFUL": ours(JointOFUL, cut=cut),
        "gbb ThompsonSampling": ours(ThompsonSampling, cut=cut),
        "gbb ThompsonSampling, v = 0.85": ours(ThompsonSampling, cut=cut, v=0.85),
        "gbb InformationDirected": ours(InformationDirected, cut=cut),
        "edge-tabular UCB (as MAUCE)": theirs(edge_tabular),
    } | {
        f"bayesianbandits {name}, {which}": theirs(partial(bayesian, choice, allocations))
        for (name, choice), (which, allocations) in itertools.product(choices, both)
    }


def policies(matrices: int, runs: int, marks: Sequence[int], only: str) -> None:
    """The setting of Figure 2 on matrices 5000 and on; no setting of ours was chosen on these."""
    envs = figure2(matrices, 5000)
    best = [gbb.optimum.solve(env.problem, env.M_star) for env in envs]

    def rows() -> Iterator[Sequence[str]]:
        for name, play in players().items():
            if only not in name:
                continue
            play(envs[0], (3,), 0, best[0])  # compiles
            found = np.array(
                [  # no two runs share a seed of noise and policy
                    [play(env, marks, 1000 * (5000 + i) + run, best[i]) for run in range(runs)]
                    for i, env in enumerate(envs)
                ]
            )
            share, seconds = found[:, :, 0].mean(axis=1), found[:, :, 1].min(axis=(0, 1))
            error = share.std(axis=0, ddof=1) / np.sqrt(matrices)
            cells = (
                f"{100 * mean:.2f} ± {100 * half:.2f} % | {1e6 * s:,.1f}"
                for mean, half, s in zip(share.mean(axis=0), error, seconds, strict=True)
            )
            yield name, *cells

    table("policy | " + " | ".join(f"T = {mark:,} | us a round" for mark in marks), rows())


def couples(scale: float) -> None:
    """ImprovedOFUL in the engine, by a textbook, and `bayesianbandits` on the same couples."""
    sizes = ((2000, 200), (500, 100), (2000, 200), (500, 100), (1000, 50), (150, 5))

    def rows() -> Iterator[Sequence[str]]:
        for (name, (arms, fast)), own in zip(CASES.items(), sizes, strict=True):
            slow, peer = (max(2, int(scale * size)) for size in own)
            player = Engine(Row(partial(paper, ImprovedOFUL, arms), fast), scale)
            times = [player.measure() for _ in range(5)]
            long, short = (min(each[key] for each in times) for key in ("long", "short"))
            engine, (env, policy) = (long - short) / times[0]["played"], (player.env, player.policy)
            plain = least(partial(textbook, env, policy.cut, policy.cut.weights, slow)) / slow
            pairs = itertools.product(range(env.problem.K), repeat=2)
            allocations = np.array([policy.cut.allocation(couple) for couple in pairs])
            ucb = bb.UpperConfidenceBound(alpha=0.84, samples=50)
            played = theirs(partial(bayesian, ucb, allocations))
            other = min(played(env, (peer,), 0, player.optimum)[1][0] for _ in range(2))
            ratios = (f"{plain / engine:.0f}x", f"{other / engine:.0f}x")
            yield name, show(engine), show(plain), ratios[0], show(other), ratios[1]

    table("case | engine | textbook | ratio | bayesianbandits | ratio", rows())


def least(work: Callable[[], None]) -> float:
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["couples", "policies"])
    parser.add_argument("matrices", nargs="?", type=int, default=10)
    parser.add_argument("runs", nargs="?", type=int, default=1)
    parser.add_argument("--marks", default="1000,20000")
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds of `couples`")
    options = parser.parse_args()
    with threadpool_limits(1):
        if options.what == "couples":
            couples(0.1 if options.quick else 1.0)
        else:
            marks = [int(mark) for mark in options.marks.split(",")]
            policies(options.matrices, options.runs, marks, options.only)


if __name__ == "__main__":
    main()
