"""Diagnosis of a controller's log: the same as of the history itself, whatever happened to it."""

import json

import numpy as np
import pytest

import gbb
from control import drive, environment, small, url_of
from gbb.cli import main
from gbb.controller import Controller, RewardWarning
from gbb.controller.queries import history


def test_it_is_the_diagnosis_of_what_was_told(tmp_path):
    problem = small(named=True)
    env, rng = environment(problem), np.random.default_rng(0)
    with Controller.create(url_of(tmp_path), problem, "ThompsonSampling", seed=0) as controller:
        played = list(drive(controller, env, rng, 3))
        # Part of a round, a round from a log, one that failed, and one that was taken back.
        trial = controller.ask()
        rewards = env.draw(1, trial.arms, rng)
        labels = [tuple(problem.graph.label(i) for i in edge) for edge in problem.graph.edges]
        controller.tell(trial, dict(list(zip(labels, rewards, strict=True))[:5]))
        played.append(trial.arms)
        old = np.array([0, 1, 2, 0])
        controller.attach(old, env.draw(1, old, rng))
        played.append(old)
        controller.fail(controller.ask(), "storm")
        wrong = controller.ask()
        with pytest.warns(RewardWarning, match="12 of 12 rewards lie outside"):
            controller.tell(wrong, env.draw(1, wrong.arms, rng) + 1000.0 * (1.0 + rng.random(12)))
        controller.retract(wrong, "a broken meter")
        controller.tell(wrong, env.draw(1, wrong.arms, rng))
        played.append(wrong.arms)
        played += list(drive(controller, env, rng, 30))
        found = controller.diagnose(worst=3)
        told = {"allocations": [], "rewards": []}
        gone = {entry.content["of"] for entry in controller.history("retract")}
        asked = {entry.trial_id: entry.content["allocation"] for entry in controller.history("ask")}
        for entry in controller.history(["tell", "attach"]):
            if entry.seq in gone:
                continue
            arms = entry.content.get("allocation") or asked[entry.trial_id]
            told["allocations"].append(problem.allocation(arms))
            row = np.full(problem.m, np.nan)
            for source, target, reward in entry.content["rewards"]:
                row[labels.index((source, target))] = reward
            told["rewards"].append(row)
    assert np.array_equal(told["allocations"], played)
    assert repr(found) == repr(gbb.diagnose(problem, **told, worst=3))  # NaN is not itself
    assert found.rounds == 36
    assert len(found.worst) == 3
    assert found.sigma_hat < 2.0  # the broken meter is not in it


def test_rounds_on_replaced_graphs_are_left_out(tmp_path):
    problem = small()
    with Controller.create(url_of(tmp_path), problem, "UniformRandom", seed=0) as controller:
        late = controller.ask()
        drive(controller, environment(problem), np.random.default_rng(0), 4)
        controller.replace_graph(gbb.Graph.circle(6))
        controller.tell(late, np.ones(problem.m))
        with pytest.raises(gbb.InputError, match="No round was told on the present graph"):
            controller.diagnose()
        now = environment(controller.problem)
        drive(controller, now, np.random.default_rng(1), 12)
        assert controller.diagnose().rounds == 12


def test_the_command_says_it_in_a_table_and_a_sentence(tmp_path, capsys):
    problem = small(named=True)
    with Controller.create(url_of(tmp_path), problem, "UniformRandom", seed=0) as controller:
        drive(controller, environment(problem), np.random.default_rng(0), 40)
        found = controller.diagnose()

    def call(*args):
        with pytest.raises(SystemExit) as done:
            main(["control", "diagnose", str(tmp_path / "control.db"), *args])
        return done.value.code, capsys.readouterr()

    code, shown = call("--worst", "1")
    assert code == 0
    assert " ".join(found.sentence.split()) in " ".join(shown.out.split())
    assert found.worst[0].where in shown.out
    code, shown = call("--format", "json")
    data = json.loads(shown.out)
    assert data["status"] == found.status
    assert data["within"] == pytest.approx(found.within)
    assert len(data["worst"]) == 5
    code, shown = call("--worst", "-1")
    assert code == 2
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize("feedback", ["edge", "agent"])
def test_a_plant_with_types_is_diagnosed(tmp_path, feedback):
    """The model of the plant that it is: types, weights, and some rewards missing."""
    graph = gbb.Graph.circle(5)
    kinds = [0 if i < j else 1 for i, j in graph.edges]
    problem = gbb.Problem(graph, np.eye(2), sigma=0.05, S=2, edge_types=kinds, feedback=feedback)
    rng = np.random.default_rng(0)
    env = gbb.Environment(problem, rng.uniform(0, 1, (2, 2, 2)))
    with Controller.create(
        f"sqlite:///{tmp_path / 'plant.db'}", problem, "UniformRandom"
    ) as controller:
        for _ in range(60):
            trial = controller.ask()
            rewards = env.draw(1, trial.arms, rng)
            names = [tuple(e) for e in graph.edges.tolist()] if feedback == "edge" else range(5)
            told = dict(zip(names, rewards.tolist(), strict=True))
            told.popitem()
            controller.tell(trial, told)
        found = controller.diagnose()
    assert found.status == "good"
    assert found.rounds == 60


def test_what_others_write_meanwhile_is_not_mixed_in(tmp_path, monkeypatch):
    """Another process replaces the graph between the look at the problem and that at the rounds."""
    url = f"sqlite:///{tmp_path / 'raced.db'}"
    problem = gbb.Problem(gbb.Graph.path(3), np.eye(2), S=2.0)
    controller = gbb.Controller.create(url, problem, "UniformRandom", seed=1)
    rng = np.random.default_rng(0)
    for _ in range(12):
        controller.tell(controller.ask(), rng.normal(size=4))
    expected = controller.diagnose()
    other, real = gbb.Controller.open(url), history.read_rounds

    def racing(events, problem, **more):
        other.replace_graph(gbb.Graph.path(5))
        other.tell(other.ask(), np.ones(8))
        return real(events, problem, **more)

    monkeypatch.setattr(history, "read_rounds", racing)
    assert repr(controller.diagnose()) == repr(expected)  # some of it is NaN
