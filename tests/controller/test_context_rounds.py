"""What is known before a round is part of its events, and of all that follows from them."""

import json

import numpy as np
import pytest

import gbb
from control import (
    CONTEXTS,
    context_for,
    drive,
    environment,
    noise_of,
    pay,
    plain,
    replayed,
    same_state,
    small,
    url_of,
)
from gbb.contexts import EdgeTypes, Regimes, Vector
from gbb.controller import Controller
from gbb.controller.log import log
from gbb.controller.pipe import serve_line
from gbb.learning import empty, observe

KINDS = list(CONTEXTS)
ROUNDS = 15


def create(folder, contexts="regimes", policy="JointOFUL", seed=2, **more):
    problem = small(named=True, contexts=contexts, **more)
    return Controller.create(url_of(folder), problem, policy, seed)


@pytest.mark.parametrize(
    ("kind", "policy", "feedback"),
    [
        ("regimes", "JointOFUL", "edge"),
        ("regimes", "UniformRandom", "edge"),
        ("vector", "ThompsonSampling", "link"),
        ("edge types", "ThompsonSampling", "edge"),
        ("edge types", "EpsilonGreedy", "agent"),
        ("edge features", "OFUL", "global"),
    ],
)
def test_driving_it_gives_the_choices_of_simulate(kind, policy, feedback, tmp_path):
    problem = small(feedback=feedback, contexts=kind)
    chosen = gbb.policies.build(policy, problem, cut=gbb.cuts.greedy(problem.graph))
    env = environment(problem)
    known = [context_for(problem, t) for t in range(1, ROUNDS + 1)]
    expected = gbb.simulate(
        env,
        chosen,
        rounds=ROUNDS,
        seed=7,
        contexts=known,
        method="reference",
        keep_allocations=True,
    )
    url, rng, played = url_of(tmp_path), noise_of(7), []
    Controller.create(url, problem, chosen, 7).close()
    for _ in range(3):
        with Controller.open(url) as controller:
            played.append(drive(controller, env, rng, ROUNDS // 3))
            assert same_state(replayed(controller), controller._log.state)
    allocations = expected["allocation"].isel(policy=0, run=0).to_numpy()
    assert np.array_equal(np.concatenate(played), allocations)


@pytest.mark.parametrize("kind", KINDS)
def test_late_rewards_are_those_of_the_trials_own_context_and_graph(kind, tmp_path, monkeypatch):
    """Told in another order, after the graph has changed and shrunk, by a process that opened anew."""
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", 3)
    controller = create(tmp_path, kind, n=5)
    problem = controller.problem
    before = [controller.ask(context_for(problem, t)) for t in range(3)]
    controller.replace_graph(small(named=True, n=3).graph)
    now = controller.problem
    assert now.contexts.to_dict() == problem.contexts.to_dict()
    after = [controller.ask(context_for(now, t)) for t in range(2)]
    controller.close()
    record, rng = empty(problem), np.random.default_rng(0)
    with Controller.open(url_of(tmp_path)) as controller:
        for old, trial in sorted(
            [*((True, each) for each in before), *((False, each) for each in after)],
            key=lambda pair: -pair[1].id % 3,
        ):
            on = (problem if old else now).at(trial.context)
            rewards = rng.standard_normal(on.observations)
            record = record.merge(observe(on, trial.arms, rewards))
            controller.tell(trial, rewards)
            assert same_state(replayed(controller), controller._log.state)
        assert plain(controller._log.state.record) == plain(record)
        with Controller.open(url_of(tmp_path)) as again:
            assert same_state(again._log.state, controller._log.state)


@pytest.mark.parametrize("kind", ["regimes", "edge types"])
def test_a_retraction_is_as_if_it_had_never_been_told(kind, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    told, calm = (create(tmp_path / name, kind) for name in ("one", "two"))
    env, rng = environment(told.problem), np.random.default_rng(3)
    drive(told, env, np.random.default_rng(0), 4)
    drive(calm, env, np.random.default_rng(0), 4)
    known = [context_for(told.problem, 9), context_for(told.problem, 11)]
    trials = [[each.ask(context) for context in known] for each in (told, calm)]
    told.tell(trials[0][0], pay(env, trials[0][0], rng) + 1.0)
    told.attach(trials[0][1].arms, pay(env, trials[0][1], rng), context=known[1], key="k")
    told.retract(trials[0][0])
    told.retract(key="k")
    assert plain(told._log.state.record) == plain(calm._log.state.record)
    assert told.trial(trials[0][0].id).context == trials[1][0].context
    assert same_state(replayed(told), told._log.state)
    rewards = pay(env, trials[1][0], rng)
    told.tell(trials[0][0].id, rewards)
    calm.tell(trials[1][0].id, rewards)
    assert plain(told._log.state.record) == plain(calm._log.state.record)
    assert np.array_equal(told.ask(known[0]).arms, calm.ask(known[0]).arms)


BAD = {
    "regimes": [
        (None, "be one of 'day', 'night', but got None"),
        ("nihgt", "Did you mean 'night'"),
        (2, "whole number >= 0 and <= 1, but got 2"),
        (0.5, "be one of 'day', 'night'"),
        (True, "be one of 'day', 'night'"),
        ([0, 1], "be one of 'day', 'night'"),
        (np.zeros((2, 2)), "be one of 'day', 'night'"),
    ],
    "vector": [
        (None, "but got"),
        ([0.5], "shape (2,)"),
        ([0.5, np.nan], "finite"),
        ([0.5, 1.5], "at most 1 in size, but got 1.5. Declare a larger `max_size`"),
        ({"wind": 0.5}, "have all of wind, load, but got no load"),
        ({"wind": 0.5, "laod": 0.1}, "Did you mean 'load'"),
        ({"wind": np.inf, "load": 0.1}, "finite"),
        ("day", "array of numbers"),
    ],
    "edge types": [
        (None, "Pass the type of every edge"),
        ([0] * 11, "one type per directed edge"),
        ([0.5] * 12, "whole number"),
        ([2] * 12, "types from 0 to 1"),
        ([-2] * 12, "types from 0 to 1"),
        (([0] * 12, [np.nan] * 12), "finite"),
        (([0] * 12, [2.0] * 12), "at most 1"),
        ([0, [1]], "array of numbers"),
        ([[0, [1]], [1]], "array of numbers"),
        ({("cell-0", "cell-1"): (0, 1.0, 2)}, "one of 'far', 'near'"),
        ({("cell-0", "cell-1"): ()}, "one of 'far', 'near'"),
    ],
    "edge features": [
        (None, "Pass the features of every edge"),
        (np.zeros((12, 3)), "shape (12, 2)"),
        (np.full((12, 2), np.nan), "finite"),
        (np.full((12, 2), -2.0), "at most 1"),
    ],
}


@pytest.mark.parametrize("kind", KINDS)
def test_bad_contexts_are_refused_on_one_line_and_nothing_is_kept(kind, tmp_path):
    controller = create(tmp_path, kind)
    good, paid = context_for(controller.problem, 1), np.ones(12)
    trial = controller.ask(good)
    seq = controller._log.state.seq
    for bad, said in BAD[kind]:
        for call in (
            lambda bad=bad: controller.ask(bad),
            lambda bad=bad: controller.ask_many(2, contexts=[good, bad]),
            lambda bad=bad: controller.next(trial, paid, bad),
            lambda bad=bad: controller.attach(trial.arms, paid, context=bad, key="k"),
            lambda bad=bad: controller.recommend(bad),
            lambda bad=bad: controller.predict(trial.arms, bad),
            lambda bad=bad: controller.recommend_table([good, bad]),
        ):
            with pytest.raises(gbb.InputError) as error:
                call()
            assert said in str(error.value)
            assert "\n" not in str(error.value)
    assert controller._log.refresh().seq == seq
    with pytest.raises(gbb.InputError, match="one for each of 3 trials, but got 1"):
        controller.ask_many(3, contexts=[good])
    with pytest.raises(gbb.InputError, match="give one"):
        controller.ask_many(1, context=good, contexts=[good])


def test_contexts_that_nobody_declared_are_refused(tmp_path):
    controller = create(tmp_path, None)
    arms = [0, 0, 0, 0]
    for call in (
        lambda: controller.ask("day"),
        lambda: controller.recommend("day"),
        lambda: controller.predict(arms, "day"),
        lambda: controller.attach(arms, np.ones(12), context="day"),
        lambda: controller.recommend_table(["day"]),
    ):
        with pytest.raises(gbb.InputError, match="there are no contexts"):
            call()
    assert controller._log.refresh().seq == 1


def test_the_history_says_contexts_as_they_are_written(tmp_path):
    controller = create(tmp_path, "vector")
    trial = controller.ask({"load": 0.7, "wind": 0.3})
    assert trial.context == {"wind": 0.3, "load": 0.7}
    controller.tell(trial, np.ones(12))
    controller.retract(trial)
    controller.attach(trial.arms, np.ones(12), context=[0.1, -0.2])
    first, asked, _, back, attached = controller.history()
    assert first.content["contexts"] == {
        "kind": "vector",
        "numbers": ["wind", "load"],
        "max_size": 1.0,
    }
    assert asked.content["context"] == back.content["context"] == trial.context
    assert attached.content["context"] == {"wind": 0.1, "load": -0.2}
    assert controller.status()["contexts"]["kind"] == "vector"
    assert [each.matrix for each in controller.estimate()] == ["wind", "load"]


def test_large_contexts_are_bytes_in_the_log(tmp_path):
    controller = create(tmp_path, "edge types")
    known = context_for(controller.problem, 1)
    trial = controller.ask(known)
    event = list(controller._log.events())[-1]
    assert isinstance(event.content["context"], np.ndarray)
    assert event.content["context"].dtype.str == "<f8"
    assert trial.context == known.tolist() == controller.history("ask")[0].content["context"]


def test_next_told_again_is_the_same_trial_in_the_same_context(tmp_path):
    controller = create(tmp_path)
    trial, paid = controller.ask("day"), np.ones(12)
    following = controller.next(trial, paid, "night")
    assert following.context == "night"
    assert controller.next(trial, paid, "night").id == following.id
    with pytest.raises(gbb.InputError, match="`context` to be that of trial 2"):
        controller.next(trial, paid, "day")
    assert controller.status()["trials"] == 2


def test_a_trial_of_a_controller_in_another_context_is_refused(tmp_path):
    (tmp_path / "other").mkdir()
    one = create(tmp_path, policy="FixedAllocation")
    two = create(tmp_path / "other", policy="FixedAllocation")
    one.ask("day")
    with pytest.raises(gbb.InputError, match=r"another controller.*had another context"):
        one.tell(two.ask("night"), np.ones(12))


def test_one_matrix_set_learns_by_regime(tmp_path):
    controller = create(tmp_path)
    for _ in range(3):
        controller.tell(controller.ask("day"), np.full(12, 2.0))
    day, night = controller.estimate()
    assert (day.matrix, night.matrix) == ("day", "night")
    assert (day.N.sum(), night.N.sum()) == (36, 0)
    assert controller.recommend("day").reward > 0.0 == controller.recommend("night").reward


def test_the_truth_lies_in_all_intervals_of_all_contexts(tmp_path):
    controller = create(tmp_path, "edge types", policy="ThompsonSampling")
    problem, env = controller.problem, environment(controller.problem)
    drive(controller, env, np.random.default_rng(0), 40)
    for number in range(5):
        known = context_for(problem, number)
        system, best = env.during([known]), controller.recommend(known)
        assert best.low <= system.expected(1, best.arms) <= best.high
        alone = env.at(known)
        optimum = gbb.optimum.solve(alone.problem, alone.M_star)
        assert optimum.value <= best.upper_bound
        assert best.context == known.tolist()


@pytest.mark.parametrize("policy", ["JointOFUL", "ImprovedOFUL", "ThompsonSampling"])
def test_a_round_in_which_nothing_pays_is_played_all_the_same(policy, tmp_path):
    """All links are down: whatever is played pays 0, and teaches nothing."""
    controller = create(tmp_path, "edge types", policy)
    trial = controller.ask([-1] * 12)
    controller.tell(trial, np.zeros(12))
    assert controller._log.state.record.N.sum() == 0.0
    best = controller.recommend([-1] * 12)
    assert best.low == best.reward == best.high == best.upper_bound == 0.0


def test_forbidden_arms_are_not_asked_for_in_any_context(tmp_path):
    controller = create(tmp_path, "vector", policy="ThompsonSampling")
    controller.forbid("cell-1", ["tilt-0", "tilt-2"])
    for number in range(4):
        trial = controller.ask(context_for(controller.problem, number))
        assert trial.allocation["cell-1"] == "tilt-1"
    assert controller.recommend([0.5, 0.5]).allocation["cell-1"] == "tilt-1"


def test_a_policy_table_has_a_row_for_each_context(tmp_path):
    controller = create(tmp_path, "vector")
    drive(controller, environment(controller.problem), np.random.default_rng(0), 6)
    known = [[1.0, 0.0], [0.25, -0.5]]
    table = controller.recommend_table(known)
    agents = list(controller.problem.graph.labels)
    head = ["context wind", "context load"]
    assert list(table.columns) == [*head, *agents, "reward", "low", "high", "proven"]
    rows = list(table.itertuples(index=False, name=None))
    for row, context in zip(rows, known, strict=True):
        best = controller.recommend(context)
        facts = (best.reward, best.low, best.high, best.proven)
        assert row == (*context, *best.allocation.values(), *facts)
    named = controller.recommend_table({"gale": [1.0, 0.0]})
    assert named.columns[0] == "context"
    assert named.iloc[0, 0] == "gale"
    with pytest.raises(gbb.InputError, match="at least one context"):
        controller.recommend_table([])


def test_policies_with_accounts_are_refused(tmp_path):
    problem, plan = small(contexts="regimes"), [0, 0, 0, 0]
    with pytest.raises(gbb.InputError, match="keeps no accounts of a baseline"):
        Controller.create(url_of(tmp_path), problem, "Conservative", baseline=plan)
    assert not list(tmp_path.iterdir())
    controller = create(tmp_path)
    with pytest.raises(gbb.InputError, match="keeps no accounts of a baseline"):
        controller.set_policy("Conservative", baseline=plan)
    assert controller._log.refresh().seq == 1


def test_types_of_edges_cannot_grow_where_there_are_contexts(tmp_path):
    graph = small().graph
    types = np.arange(12) % 2
    problem = gbb.Problem(graph, np.eye(2), edge_types=types, contexts=Regimes(2))
    controller = Controller.create(url_of(tmp_path), problem, "JointOFUL")
    assert [each.matrix for each in controller.estimate()] == [
        f"{regime}, type {kind}" for regime in range(2) for kind in range(2)
    ]
    with pytest.raises(gbb.InputError, match="`edge_types` to be given"):
        controller.replace_graph(graph)
    with pytest.raises(gbb.InputError, match="make 4 matrices, as many as there are"):
        controller.replace_graph(graph, edge_types=np.arange(12) % 3)
    controller.replace_graph(graph, edge_types=types[::-1])
    assert controller.ask(1).context == 1


def test_features_of_edges_are_kept_without_contexts_too(tmp_path):
    graph, rng = small().graph, np.random.default_rng(0)
    problem = gbb.Problem(graph, np.eye(2), features=rng.uniform(size=(12, 3)))
    controller = Controller.create(url_of(tmp_path), problem, "JointOFUL", 1)
    controller.tell(controller.ask(), rng.uniform(size=12))
    again = Controller.open(url_of(tmp_path))
    assert same_state(again._log.state, controller._log.state)
    assert np.array_equal(again.problem.edges.weight, problem.edges.weight)
    with pytest.raises(gbb.InputError, match="`features` to be given"):
        controller.replace_graph(gbb.Graph.complete(3))
    controller.replace_graph(gbb.Graph.complete(3), features=rng.uniform(size=(6, 3)))
    assert controller.recommend().arms.size == 3


def test_a_log_with_contexts_of_a_kind_unknown_is_refused(tmp_path, monkeypatch):
    create(tmp_path, "vector").close()
    monkeypatch.setattr("gbb.contexts.base.KINDS", {"regimes": Regimes})
    with pytest.raises(OSError, match="contexts that this version of gbb cannot read"):
        Controller.open(url_of(tmp_path))


def test_contexts_over_the_pipe(tmp_path):
    controller = create(tmp_path, "vector")

    def say(do, **fields):
        return serve_line(controller, json.dumps({"do": do, **fields}).encode())

    asked = say("ask", context={"wind": 0.5, "load": 0.25})
    assert asked["context"] == {"wind": 0.5, "load": 0.25}
    assert "have all of wind, load" in say("ask", context={"wind": 0.5})["error"]
    assert "what is known" in say("ask", context=True)["error"]
    following = say("next", trial=1, rewards=[1.0] * 12, context=[0.1, 0.2])
    assert following["context"] == {"wind": 0.1, "load": 0.2}
    assert len(say("ask", contexts=[[0.1, 0.2], [0.3, 0.4]])["trials"]) == 2
    plan = asked["allocation"]
    assert say("attach", allocation=plan, rewards=[1.0] * 12, context=[1, 1])["rounds"] == 2
    table = say("table", contexts=[[1, 1], [0, 1]])["rows"]
    assert table[0] == say("recommend", context=[1, 1])
    assert say("predict", allocation=plan, context=[1, 1])["high"] >= 0.0
    assert say("estimate")["estimates"][1]["matrix"] == "load"


def test_types_over_the_pipe(tmp_path):
    controller = create(tmp_path, "edge types")
    line = {"do": "ask", "context": {"types": [0] * 12, "weights": [0.5] * 12}}
    found = serve_line(controller, json.dumps(line).encode())
    assert found["context"] == ([0] * 12, [0.5] * 12)


@pytest.mark.parametrize("kind", ["regimes", "edge types"])
def test_a_diagnosis_knows_contexts(kind, tmp_path):
    """Where the contexts explain what changes, the model is good; without them it is not."""
    problem = small(named=True, contexts=kind)
    env, rng = environment(problem, 3), np.random.default_rng(0)
    controller = Controller.create(url_of(tmp_path), problem, "UniformRandom")
    drive(controller, env, rng, 150)
    found = controller.diagnose()
    assert found.status == "good", found.sentence
    assert [part.where for part in found.by_type] == list(problem.contexts.names)
    assert sum(part.count for part in found.by_type) <= 150 * 12
    told = controller._log.refresh().rounds
    assert told == 150
    assert controller.watch() == []


def test_a_replay_plays_the_contexts_of_the_log(tmp_path):
    problem = small(named=True, contexts="regimes")
    env = environment(problem, 1)
    controller = Controller.create(url_of(tmp_path), problem, "UniformRandom", 1)
    drive(controller, env, np.random.default_rng(1), 120)
    found = controller.replay("JointOFUL", runs=2)
    known = [context_for(problem, t) for t in range(1, 121)]
    policy = gbb.policies.build("JointOFUL", problem, cut=gbb.cuts.greedy(problem.graph))
    rounds = list(gbb.simulation.play(env.during(known), policy, 120, 0))
    true = float(np.mean([each.expected for each in rounds]))
    assert found.low <= true <= found.high
    assert abs(found.reward - true) < 0.15 * abs(true)
    assert any("the arms and the context alone" in each for each in found.assumptions)


@pytest.mark.parametrize("contexts", [EdgeTypes(2), Vector(1), Regimes(3)])
def test_contexts_come_back_from_the_log(contexts, tmp_path):
    problem = gbb.Problem(gbb.Graph.path(3), np.eye(2), contexts=contexts)
    Controller.create(url_of(tmp_path), problem, "UniformRandom").close()
    assert Controller.open(url_of(tmp_path)).problem.contexts.to_dict() == contexts.to_dict()
