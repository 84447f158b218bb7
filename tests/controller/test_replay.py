"""What another policy would have earned: estimated from a log, with the truth inside the interval."""

import json

import numpy as np
import pytest
from test_import import long_table

import gbb
from control import drive, environment, small, url_of
from gbb.cli import main
from gbb.controller import Controller

ROUNDS = 150


def logged(folder, problem, seed=0, policy="UniformRandom"):
    """A controller that was told rounds of a policy that does not learn."""
    env = environment(problem, seed)
    controller = Controller.create(url_of(folder), problem, policy, seed=seed)
    drive(controller, env, np.random.default_rng(seed), ROUNDS)
    return env, controller


def truth(env, policy) -> float:
    """What it earns a round in the system itself."""
    runs = [[r.expected for r in gbb.simulation.play(env, policy, ROUNDS, s)] for s in range(3)]
    return float(np.mean(runs))


@pytest.mark.parametrize("name", ["JointOFUL", "ThompsonSampling", "ImprovedOFUL"])
def test_the_truth_lies_in_the_interval(tmp_path, name):
    problem = small(named=True)
    for seed in range(2):
        (tmp_path / str(seed)).mkdir()
        env, controller = logged(tmp_path / str(seed), problem, seed)
        found = controller.replay(name, runs=2)
        policy = gbb.policies.build(name, problem, cut=gbb.cuts.greedy(problem.graph))
        true = truth(env, policy)
        assert found.low <= true <= found.high
        assert found.low < found.reward < found.high
        assert found.rounds == ROUNDS
        assert abs(found.reward - true) < 0.1 * abs(true)
        controller.close()


def test_what_the_log_did_is_what_the_log_earned(tmp_path):
    problem = small(named=True)
    env = environment(problem)
    arms = np.array([0, 1, 2, 0])
    controller = Controller.create(url_of(tmp_path), problem, seed=1)
    rng = np.random.default_rng(0)
    paid = np.array([env.draw(1, arms, rng) for _ in range(30)])
    played = np.tile(arms, (30, 1))
    found = controller.replay("FixedAllocation", long_table(problem, played, paid), allocation=arms)
    assert found.matched == 1.0
    assert found.reward == pytest.approx(paid.sum(axis=1).mean())
    assert found.logged == pytest.approx(found.reward)
    assert found.low < found.reward < found.high
    assert found.low <= env.expected_reward(arms) <= found.high
    assert controller.status()["events"] == 1  # nothing is kept


def test_nothing_to_replay_is_said(tmp_path):
    controller = Controller.create(url_of(tmp_path), small(named=True))
    with pytest.raises(gbb.InputError, match="nothing to replay"):
        controller.replay("JointOFUL")


def test_from_the_shell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    _, controller = logged(tmp_path, small(named=True))
    controller.close()
    outputs = []
    for more in ("--format json", "", "--policy JointOFUL:lam=2,bogus=1"):
        command = f"control replay control.db --policy JointOFUL:lam=2 --runs 2 {more}".split()
        with pytest.raises(SystemExit) as stop:
            main(command)
        outputs.append((stop.value.code, capsys.readouterr()))
    facts = json.loads(outputs[0][1].out)
    assert facts["low"] <= facts["reward"] <= facts["high"]
    assert "the pairwise model holds" in outputs[1][1].out
    assert outputs[2][0] == 2
    assert outputs[2][1].err.count("\n") == 1
