"""Peers of the allocation policies, fed with every edge's reward: what each has earned by each mark."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from bayesianbandits import Arm, FunctionArmFeaturizer, LipschitzContextualAgent, NormalRegressor

import gbb
from gbb.simulation.engine import Task, run_batch


class Played(NamedTuple):
    """Share of the optimal reward of the rounds up to each mark, and seconds a round up to it."""

    share: list[float]
    seconds: list[float]


Player = Callable[[gbb.Environment, tuple[int, ...], int, float], Played]
"""``player(env, marks, seed, optimum)``: plays as many rounds as the last mark says."""


def bayesian(choice: object, allocations: np.ndarray) -> Player:
    """`bayesianbandits`: one regression, an arm per allocation, the edges' rewards in one batch.

    It is told sigma, and its prior N(0, I) is the one behind our ridge regression with lam = 1.
    """

    def play(env: gbb.Environment, marks: tuple[int, ...], seed: int, optimum: float) -> Played:
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
        rng, nothing = np.random.default_rng(seed), np.zeros((1, 1))

        def rewards() -> Iterator[float]:
            while True:
                (number,) = agent.pull(nothing)
                arms = allocations[number]
                learner.partial_fit(
                    z[arms[graph.sources], arms[graph.indices]], env.draw(1, arms, rng)
                )
                yield env.expected_reward(arms)

        return played(rewards(), marks, optimum)

    return play


def edge_tabular(env: gbb.Environment, marks: tuple[int, ...], seed: int, optimum: float) -> Played:
    """An upper confidence per link and pair of arms, nothing shared between links (as MAUCE).

    The best allocation is found among all K^n in one vectorised pass.
    """
    problem, graph = env.problem, env.problem.graph
    rng, K = np.random.default_rng(seed), problem.K
    kept = np.flatnonzero(graph.sources < graph.indices)
    everything = np.array(list(itertools.product(range(K), repeat=problem.n)))
    links = np.arange(len(kept))
    cells = links * K * K  # of a link's first pair of arms in the flat tables
    codes = cells + everything[:, graph.sources[kept]] * K + everything[:, graph.indices[kept]]
    count, sums = np.zeros(len(kept) * K * K), np.zeros(len(kept) * K * K)
    span2 = (2.0 * problem.L * problem.S) ** 2
    columns = np.ascontiguousarray(codes.T)

    def rewards() -> Iterator[float]:
        for t in itertools.count(1):
            mean = sums / np.maximum(count, 1.0)
            width2 = np.where(count > 0, span2 / np.maximum(count, 1.0), 1e9)
            log = 0.5 * np.log(len(kept) * K * K * t)
            value = mean[columns].sum(axis=0) + np.sqrt(log * width2[columns].sum(axis=0))
            best = int(np.argmax(value))
            drawn = env.draw(1, everything[best], rng)
            count[codes[best]] += 1
            sums[codes[best]] += drawn[kept] + drawn[graph.reverse[kept]]
            yield env.expected_reward(everything[best])

    return played(rewards(), marks, optimum)


def played(rewards: Iterator[float], marks: tuple[int, ...], optimum: float) -> Played:
    """Plays round after round up to the last mark."""
    share, seconds, total, done = [], [], 0.0, 0
    start = time.process_time()
    for mark in marks:
        total += sum(itertools.islice(rewards, mark - done))
        done = mark
        seconds.append((time.process_time() - start) / mark)
        share.append(total / (mark * optimum))
    return Played(share, seconds)


def ours(build: Callable[[gbb.Problem], gbb.policies.AnyPolicy]) -> Player:
    """A policy of gbb: its rounds alone, as for the others, without solving for the optimum."""

    def play(env: gbb.Environment, marks: tuple[int, ...], seed: int, optimum: float) -> Played:
        policy, share, seconds = build(env.problem), [], []
        for mark in marks:
            start = time.process_time()
            task = Task(mark, np.array([mark]), [np.random.SeedSequence(seed)])
            (trace,) = run_batch(env, policy, task)
            seconds.append((time.process_time() - start) / mark)
            share.append(float(trace.cumulative[-1]) / (mark * optimum))
        return Played(share, seconds)

    return play
