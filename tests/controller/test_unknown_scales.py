"""A controller that is told neither sigma nor S: it estimates both, says so, and goes on as before."""

import numpy as np
import pytest

import gbb
from gbb.controller.log import codec
from gbb.controller.state.specs import state_types

M = [[1.0, 0.4], [-0.3, 0.9]]
YAW = [[1.0, 0.0], [0.8, 0.6], [0.8, -0.6]]


@pytest.fixture
def env():
    graph = gbb.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], undirected=True)
    return gbb.Environment(gbb.Problem(graph, YAW, sigma=None, S=None), M, sigma=0.2)


def drive(controller, env, rounds, rng, share=1.0):
    """Ask and tell, each number with the probability ``share``."""
    for _ in range(rounds):
        trial = controller.ask()
        rewards = env.draw(trial.id, trial.arms, rng)
        told = {
            edge: value
            for edge, value in zip(map(tuple, env.problem.graph.edges), rewards, strict=True)
            if rng.random() < share
        }
        controller.tell(trial, rewards if share == 1.0 else told)


@pytest.mark.parametrize("name", ["JointOFUL", "ThompsonSampling", "ImprovedOFUL"])
def test_it_plays_as_a_simulation_does_across_a_restart(env, tmp_path, name):
    url = f"sqlite:///{tmp_path}/farm.db"
    noise, _ = map(np.random.default_rng, np.random.SeedSequence(4).spawn(1)[0].spawn(2))
    policy = gbb.policies.build(name, env.problem, cut=gbb.cuts.greedy(env.problem.graph))
    how = {"rounds": 30, "seed": 4, "method": "reference", "keep_allocations": True}
    wanted = gbb.simulate(env, policy, **how).allocation[0, 0].to_numpy()
    played = []
    for first in (True, False):
        controller = (
            gbb.Controller.create(url, env.problem, policy, 4)
            if first
            else gbb.Controller.open(url)
        )
        for _ in range(15):
            trial = controller.ask()
            played.append(trial.arms)
            controller.tell(trial, env.draw(trial.id, trial.arms, noise))
        controller.close()
    assert np.array_equal(played, wanted)


def test_status_says_what_it_estimated_and_intervals_hold(env, tmp_path):
    rng = np.random.default_rng(1)
    controller = gbb.Controller.create(f"sqlite:///{tmp_path}/farm.db", env.problem, "JointOFUL")
    everything = controller.predict([0, 0, 0, 0])
    assert everything.low < everything.high  # before anything is told, by scales of 1
    assert "sigma and S are taken for 1" in everything.caveat
    assert controller.status()["estimated"] is None
    drive(controller, env, 2, rng)
    assert "Too few rewards were told to bound sigma" in controller.predict([0, 0, 0, 0]).caveat
    drive(controller, env, 80, rng, share=0.8)
    found = controller.status()["estimated"]
    assert found["sigma"] == pytest.approx(0.2, rel=0.15)
    assert 0.2 <= found["sigma_most"] <= 0.4
    assert np.linalg.norm(M) <= found["S_most"] <= 5.0
    for arms in np.ndindex(3, 3, 3, 3):
        said = controller.predict(arms)
        assert said.low <= env.expected_reward(arms) <= said.high
        assert said.caveat is None
    best = controller.recommend()
    assert best.upper_bound >= gbb.optimum.solve(env.problem, env.M_star).value
    controller.discount(0.5)
    drive(controller, env, 2, rng)
    controller.retract(1)
    again = controller.status()["estimated"]
    assert again["sigma"] == pytest.approx(0.2, rel=0.2)
    state = controller._log.refresh()
    memory = codec.loads(codec.dumps(state.memory), state_types(state.setup.policy))
    assert memory.scales == state.memory.scales
    assert memory.scales is not None


def test_status_says_only_what_was_not_declared(tmp_path):
    problem = gbb.Problem(gbb.Graph.path(3), YAW, sigma=None, S=2.0)
    controller = gbb.Controller.create(f"sqlite:///{tmp_path}/farm.db", problem, "JointOFUL")
    controller.tell(controller.ask(), [1.0, 1.1, 0.9, 1.0])
    assert list(controller.status()["estimated"]) == ["sigma", "sigma_most"]


def test_known_scales_say_nothing_of_it(tmp_path):
    problem = gbb.Problem(gbb.Graph.path(3), YAW, sigma=0.2, S=2.0)
    controller = gbb.Controller.create(f"sqlite:///{tmp_path}/farm.db", problem, "JointOFUL")
    assert "estimated" not in controller.status()


def test_a_promise_needs_them(env):
    inner = gbb.policies.JointOFUL(env.problem, cut=gbb.cuts.greedy(env.problem.graph))
    with pytest.raises(gbb.InputError, match="declare sigma and S for Conservative"):
        gbb.policies.Conservative(env.problem, policy=inner, baseline=[0, 0, 0, 0])


def test_what_another_policy_would_have_earned(env, tmp_path):
    controller = gbb.Controller.create(f"sqlite:///{tmp_path}/farm.db", env.problem, "JointOFUL")
    drive(controller, env, 30, np.random.default_rng(2))
    found = controller.replay("ThompsonSampling", runs=1)
    assert found.low <= found.reward <= found.high
