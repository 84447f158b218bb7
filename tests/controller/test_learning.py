"""Rewards missing at random and late still teach: the paper's Figure 2 setting."""

import os

import numpy as np
import pytest

import gbb
from control import url_of
from gbb.controller import Controller
from gbb.controller.verbs.ask import draft_ask
from gbb.controller.verbs.tell import tell
from gbb.experiments.figure2 import PAPER

ROUNDS, MISSING, DELAY = PAPER.T, 0.3, 10
MATRICES = int(os.environ.get("GBB_LEARNING_MATRICES", "1"))


def fraction_earned(controller, env, rounds, *, seed):
    """Share of the optimum earned when rewards go missing at random and come rounds late.

    Many rounds to a transaction, which saves the waiting for the disk and nothing else.
    """
    rng, dice = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    edges = env.problem.graph.edges
    best = gbb.optimum.solve(env.problem, env.M_star)
    assert best.proven
    earned, waiting = 0.0, []
    for start in range(0, rounds, 500):
        with controller._log.turn() as turn:
            for _ in range(min(500, rounds - start)):
                trial = turn.append(draft_ask(turn.state)).trial
                arms = turn.state.open[trial].allocation
                earned += env.expected_reward(arms)
                rewards = env.draw(1, arms, rng)
                kept = dice.random(len(edges)) >= MISSING
                links = {tuple(edges[k]): rewards[k] for k in np.flatnonzero(kept)}
                waiting.append((trial, links))
                if len(waiting) > DELAY:
                    late, links = waiting.pop(0)
                    tell(turn, late, links)
    return earned / (rounds * best.value)


@pytest.mark.no_cover  # long
@pytest.mark.parametrize("matrix", range(MATRICES))
def test_a_learner_with_missing_and_late_rewards_reaches_the_undisturbed_one(matrix, tmp_path):
    M = gbb.instances.absolute_normal(
        5, seed=matrix, frobenius=PAPER.S, distinct_couple=True, zeta=PAPER.zeta
    )
    problem = gbb.Problem(gbb.Graph.complete(PAPER.n), np.eye(PAPER.d), sigma=1.0, S=PAPER.S)
    env = gbb.Environment(problem, M)
    policy = gbb.policies.ImprovedOFUL(problem, cut=gbb.cuts.greedy(problem.graph))
    calm = gbb.simulate(env, policy, rounds=ROUNDS, seed=0, workers=1)["fraction"].mean().item()
    with Controller.create(url_of(tmp_path), problem, policy) as controller:
        disturbed = fraction_earned(controller, env, ROUNDS, seed=matrix)
        seen = controller.status()["edge_rewards"] / (problem.m * (ROUNDS - DELAY))
    assert seen == pytest.approx(1 - MISSING, abs=0.01)
    assert disturbed >= 0.97 * calm, (disturbed, calm)
