"""A controller that is told a number per link, as most meters give it."""

import numpy as np
import pandas as pd
import pytest

import gbb
from control import drive, environment, noise_of, replayed, same_state, small, url_of
from gbb.cli import main
from gbb.controller import Controller, RewardWarning
from gbb.learning import observe

PAIRS = [("west", "north"), ("north", "east"), ("east", "south")]


def farm(**more):
    graph = gbb.Graph.from_edges(PAIRS, undirected=True)
    arms = [[1.0, 0.0], [0.6, 0.8]]
    return gbb.Problem(graph, arms, sigma=0.1, arm_names=["on", "off"], feedback="link", **more)


def test_links_are_named_by_their_ends_in_either_order(tmp_path):
    problem = farm()
    values = {("north", "west"): 0.5, ("north", "east"): -0.25, ("south", "east"): 1.5}
    forms = {
        "by name": values,
        "the other way": {(j, i): value for (i, j), value in values.items()},
        "as a table": pd.DataFrame(
            [(*ends, value) for ends, value in values.items()],
            columns=["source", "target", "reward"],
        ),
        "in order": _in_order(problem, values),
    }
    states = {}
    for name, rewards in forms.items():
        with Controller.create(url_of(tmp_path), problem, "JointOFUL", 1, name=name) as controller:
            trial = controller.ask()
            controller.tell(trial, rewards)
            controller.tell(trial, values)  # the same again, however it is written
            states[name] = controller._log.state
            (told,) = controller.history("tell")
            assert {frozenset(row[:2]): row[2] for row in told.content["rewards"]} == {
                frozenset(ends): value for ends, value in values.items()
            }
            assert controller.status()["link_rewards"] == 3
            assert controller.status()["feedback"] == "link"
    first, *others = states.values()
    expected = observe(problem, trial.arms, _in_order(problem, values))
    for state in (first, *others):
        np.testing.assert_array_equal(state.record.N, expected.N)
        np.testing.assert_array_equal(state.record.Y, expected.Y)


def _in_order(problem, values):
    graph, known = problem.graph, {frozenset(ends): value for ends, value in values.items()}
    ends = [(graph.label(int(i)), graph.label(int(j))) for i, j in graph.edges if i < j]
    return np.array([known[frozenset(each)] for each in ends])


def test_a_link_is_told_once(tmp_path):
    with Controller.create(url_of(tmp_path), farm(), "JointOFUL") as controller:
        trial = controller.ask()
        one = {("west", "north"): 1.0}
        cases = {
            r"name no link twice.*\('west', 'north'\) and \('north', 'west'\).*both dir": {
                **one,
                ("north", "west"): 1.0,
            },
            r"\('west', 'south'\), which are not linked": {("west", "south"): 1.0},
            "have pairs of agents as keys": {"west": 1.0},
            r"one per link.*feedback='edge'": np.zeros(6),
        }
        for message, rewards in cases.items():
            with pytest.raises(gbb.InputError, match=message):
                controller.tell(trial, rewards)
        controller.tell(trial, one)
        assert controller.status()["link_rewards"] == 1


def test_limits_are_those_of_both_directions(tmp_path):
    with Controller.create(url_of(tmp_path), farm(), "JointOFUL") as controller:
        controller.tell(controller.ask(), {PAIRS[0]: 2.79})
        with pytest.warns(RewardWarning, match=r"2\.8 \(2 L S \+ 8 sigma\).*'north' - 'west'|west"):
            controller.tell(controller.ask(), {PAIRS[0]: 2.81})
        assert "2 L S" in controller.recommend().caveat


@pytest.mark.parametrize("policy", ["ThompsonSampling", "JointOFUL", "ExploreThenCommit"])
def test_driving_it_gives_the_choices_of_simulate_and_survives(policy, tmp_path):
    problem = small(feedback="link")
    env, cut = environment(problem), gbb.cuts.greedy(problem.graph)
    more = {"exploration": 5} if policy == "ExploreThenCommit" else {}
    chosen = gbb.policies.build(policy, problem, cut=cut, **more)
    expected = gbb.simulate(
        env, chosen, rounds=20, seed=3, method="reference", keep_allocations=True
    )
    rng, played = noise_of(3), []
    Controller.create(url_of(tmp_path), problem, chosen, 3).close()
    for _ in range(4):
        with Controller.open(url_of(tmp_path)) as controller:
            played.extend(drive(controller, env, rng, 5))
            assert same_state(replayed(controller), controller._log.state)
    np.testing.assert_array_equal(np.array(played), expected.allocation.to_numpy()[0, 0])
    with Controller.open(url_of(tmp_path)) as controller:
        (found,) = controller.estimate()
        truth = (env.M_star + env.M_star.T) / 2
        assert (np.abs(found.M_hat - truth) <= found.M_width).all()
        assert found.N.sum() == 20 * problem.m
        best = controller.recommend()
        assert best.low <= env.expected_reward(best.arms) <= best.high
        last = controller.retract(20)
        assert last is None
        assert controller.status()["link_rewards"] == 19 * problem.m / 2
        assert same_state(replayed(controller), controller._log.state)


def test_knowledge_of_links_narrows(tmp_path):
    """What is not known of single directions does not keep bounds at their ceiling."""
    problem = small(feedback="link")
    env = environment(problem)
    with Controller.create(url_of(tmp_path), problem, "ThompsonSampling", 0) as controller:
        before = controller.recommend().upper_bound
        drive(controller, env, np.random.default_rng(0), 150)
        best = controller.recommend()
        assert env.expected_reward(best.arms) <= best.upper_bound < 0.6 * before
        assert controller.diagnose().worst[0].where.count(" - ") == 1


def test_a_graph_whose_directions_differ_is_refused(tmp_path):
    problem = farm()
    with Controller.create(url_of(tmp_path), problem, "JointOFUL") as controller:
        one_way = [1.0 if i < j else 0.0 for i, j in problem.graph.edges]
        with pytest.raises(
            gbb.InputError, match="`edge_weights` to be the same in both directions"
        ):
            controller.replace_graph(problem.graph, edge_weights=one_way)
        larger = gbb.Graph.from_edges([*PAIRS, ("south", "west")], undirected=True)
        controller.replace_graph(larger)
        controller.tell(controller.ask(), {("west", "south"): 1.0})
    url = url_of(tmp_path)
    with Controller.create(url, farm(edge_weights=one_way), "JointOFUL", name="one way") as other:
        with pytest.raises(gbb.InputError, match="`edge_weights` to differ between the dir"):
            other.replace_graph(problem.graph, edge_weights=np.full(problem.m, 2.0))
        assert "link_rewards" not in other.status()


def test_from_the_shell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "farm.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "arms.csv").write_text("arm,x,y\non,1,0\noff,0,1\n")
    (tmp_path / "told.csv").write_text("source,target,reward\nb,a,0.5\nb,c,-0.25\n")
    (tmp_path / "twice.csv").write_text("source,target,reward\nb,a,0.5\na,b,0.5\n")

    def run(*args, code=0):
        with pytest.raises(SystemExit) as stop:
            main(["control", *args])
        captured = capsys.readouterr()
        assert stop.value.code == code, captured.err
        return captured

    given = ("farm.csv", "--undirected", "--arms", "arms.csv", "--feedback", "link")
    shown = run("create", "farm.db", *given, "--policy", "JointOFUL", "--dry-run").out
    assert "a number per link" in " ".join(shown.split())
    run("create", "farm.db", *given, "--policy", "JointOFUL")
    run("ask", "farm.db")
    refused = run("tell", "farm.db", "1", "twice.csv", code=2).err
    assert refused.count("\n") == 1
    assert "('b', 'a') and ('a', 'b')" in refused
    run("tell", "farm.db", "1", "told.csv")
    assert "link_rewards" in run("status", "farm.db").out
    run("export", "farm.db", "--out", "all.csv")
    rows = pd.read_csv("all.csv")
    assert list(rows.columns)[3:] == ["source", "source_arm", "target", "target_arm", "reward"]
    assert rows[["source", "target", "reward"]].to_numpy().tolist() == [
        ["a", "b", 0.5],
        ["b", "c", -0.25],
    ]
