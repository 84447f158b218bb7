"""Trials: names, several at once, late and out of order, closed once and for all."""

import itertools
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import gbb
from control import drive, environment, replayed, same_state, small, url_of
from gbb.controller import Controller, RewardWarning


@pytest.fixture
def problem():
    return small(named=True)


@pytest.fixture
def controller(problem, tmp_path):
    with Controller.create(url_of(tmp_path), problem, "ImprovedOFUL", seed=1) as made:
        yield made


def everything(controller):
    """All that a call that fails must leave alone."""
    state = controller._log.refresh()
    return state.seq, state.seal, sorted(state.open)


def test_a_trial_speaks_of_agents_and_arms_by_name(controller, problem):
    trial = controller.ask()
    assert (trial.id, trial.round) == (1, 1)
    assert list(trial.allocation) == list(problem.graph.names)
    assert [problem.arm(arm) for arm in trial.allocation.values()] == trial.arms.tolist()
    assert not trial.arms.flags.writeable
    assert repr(trial) == "Trial(id=1, round=1, n=4)"


def test_several_trials_may_be_open_and_are_told_in_any_order(controller, problem):
    first, second, third = [controller.ask(), *controller.ask_many(2)]
    assert [trial.id for trial in controller.open_trials()] == [1, 2, 3]
    controller.tell(third, np.ones(problem.m))
    controller.tell(first.id, np.zeros(problem.m))
    assert [trial.id for trial in controller.open_trials()] == [second.id]
    assert controller.trial(second.id).allocation == second.allocation
    assert controller.ask().round == 3
    record = controller._log.state.record
    assert record.N.sum() == 2 * problem.m
    assert record.Y.sum() == problem.m
    with pytest.raises(gbb.InputError, match=r"`trial` to be open, but got 1. Open are: \[2, 4\]"):
        controller.trial(1)


def test_telling_the_same_again_changes_nothing(controller, problem):
    trial = controller.ask()
    rewards = np.arange(problem.m) / 10
    controller.tell(trial, rewards)
    before = everything(controller)
    controller.tell(trial, rewards)
    controller.tell(trial, by_link(problem, rewards))
    assert everything(controller) == before
    with pytest.raises(gbb.InputError, match="Trial 1 was already told other `rewards`"):
        controller.tell(trial, rewards + 1)
    with pytest.raises(gbb.InputError, match="Trial 1 was already told"):
        controller.tell(trial, dict(list(by_link(problem, rewards).items())[:3]))
    assert everything(controller) == before


def by_link(problem, rewards):
    names = problem.graph.names
    return {
        (names[i], names[j]): value
        for (i, j), value in zip(problem.graph.edges, rewards, strict=True)
    }


def test_failed_and_abandoned_trials_are_closed_and_teach_nothing(controller):
    failed, abandoned = controller.ask_many(2)
    controller.fail(failed, "the sensor was down")
    controller.abandon(abandoned.id)
    before = everything(controller)
    controller.fail(failed)
    controller.abandon(abandoned)
    assert everything(controller) == before
    for call, how in [(controller.abandon, "fail"), (lambda t: controller.tell(t, {}), "fail")]:
        with pytest.raises(gbb.InputError, match=rf"trial 1, which was closed by {how}\(\)"):
            call(failed)
    assert controller._log.state.rounds == 0
    reasons = [entry.content for entry in controller.history("fail")]
    assert reasons == [{"reason": "the sensor was down"}]


@pytest.mark.parametrize("id", [0, 2, -1, 10**30])
def test_an_unknown_trial_is_refused(controller, problem, id):
    controller.ask()
    for call in (lambda: controller.tell(id, np.zeros(problem.m)), lambda: controller.fail(id)):
        with pytest.raises(
            gbb.InputError, match="one of the 1 trials asked so far, but got unknow"
        ):
            call()
    with pytest.raises(gbb.InputError, match="`trial` to be a whole number"):
        controller.tell("first", np.zeros(problem.m))


def test_partial_rewards_count_for_what_they_are(controller, problem):
    trial = controller.ask()
    rewards = by_link(problem, np.arange(problem.m) / 10)
    some = dict(list(rewards.items())[3:7])
    controller.tell(trial, some)
    record = controller._log.state.record
    assert record.N.sum() == 4
    assert record.Y.sum() == pytest.approx(sum(some.values()))
    (entry,) = controller.history("tell")
    assert {(i, j): value for i, j, value in entry.content["rewards"]} == some
    arms = trial.allocation
    expected = np.zeros((problem.K, problem.K))
    for i, j in some:
        expected[problem.arm(arms[i]), problem.arm(arms[j])] += 1
    assert np.array_equal(record.N, expected)
    assert same_state(replayed(controller), controller._log.state)


def test_the_forms_of_rewards_agree(problem, tmp_path):
    rewards = np.round(np.random.default_rng(0).normal(size=problem.m), 3)
    rows = [(i, j, value) for (i, j), value in by_link(problem, rewards).items()]
    table = pd.DataFrame(rows, columns=["source", "target", "reward"]).sample(
        frac=1, random_state=0
    )
    table.to_csv(tmp_path / "rewards.csv", index=False)
    forms = [rewards, rewards.tolist(), by_link(problem, rewards), table, tmp_path / "rewards.csv"]
    records = []
    for k, form in enumerate(forms):
        controller = Controller.create(url_of(tmp_path), problem, name=f"form-{k}")
        controller.tell(controller.ask(), form)
        records.append(controller._log.state.record.Y.tobytes())
    assert len(set(records)) == 1


def test_unnamed_agents_are_known_by_number(tmp_path):
    problem = small()
    controller = Controller.create(url_of(tmp_path), problem)
    trial = controller.ask()
    assert set(trial.allocation) == {0, 1, 2, 3}
    controller.tell(trial, {(0, 1): 1.0, ("2", "3"): 2.0, (np.int64(1), np.int64(0)): 3})
    assert controller._log.state.record.Y.sum() == 6.0


NAN = float("nan")


@pytest.mark.parametrize(
    ("rewards", "message"),
    [
        (
            {("cell-0", "cell-1"): NAN},
            r"finite numbers only, but got nan for \('cell-0', 'cell-1'\)",
        ),
        ({("cell-0", "cell-1"): float("inf")}, "finite numbers only, but got inf"),
        ({("cell-0", "cell-1"): "high"}, "finite numbers only, but got 'high'"),
        ({("cell-0", "cell-9"): 1.0}, "`rewards` to name an agent, but got 'cell-9'"),
        (
            {("cell-0", "cell-0"): 1.0},
            r"links of the graph, but got \('cell-0', 'cell-0'\), which are not linked",
        ),
        ({"cell-0": 1.0}, "pairs of agents as keys, but got 'cell-0'"),
        ({}, r"at least one reward, but got none. Call fail\(\) or abandon\(\)"),
        ([1.0] * 11, r"`rewards` to have shape \(12,\)"),
        ([1.0] * 6, "Did you pass undirected edges"),
        ([NAN] + [1.0] * 11, "finite numbers only, but got nan at position 0"),
        (pd.DataFrame({"from": [1]}), "columns source, target, reward, but got from"),
        (
            pd.DataFrame({"source": ["cell-0"] * 2, "target": ["cell-1"] * 2, "reward": [1, 2]}),
            r"no link twice, but got \('cell-0', 'cell-1'\) again",
        ),
        ("missing.csv", "Cannot read `rewards` 'missing.csv': No such file"),
    ],
)
def test_bad_rewards_are_refused_and_nothing_is_half_recorded(controller, rewards, message):
    trial = controller.ask()
    before = everything(controller)
    with pytest.raises(gbb.InputError, match=message):
        controller.tell(trial, rewards)
    assert everything(controller) == before
    assert same_state(replayed(controller), controller._log.state)


def test_rewards_far_outside_the_bounds_are_kept_and_flagged(controller, problem):
    trial = controller.ask()
    rewards = np.zeros(problem.m)
    rewards[[3, 5]] = 1e6, -1e6
    with pytest.warns(RewardWarning, match=r"2 of 12 rewards lie outside \+-7 .* first 1e\+06 on"):
        controller.tell(trial, rewards)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        controller.attach(trial.allocation, rewards)
    assert caught[0].filename == __file__
    assert controller._log.state.record.N.sum() == 2 * problem.m
    entry, _ = controller.history("warning")
    assert entry.trial_id == 1
    assert entry.content["link"] == ["cell-1", "cell-0"]
    assert entry.content["reward"] == 1e6
    kinds = [event.kind for event in controller.history()]
    alerts = ["alert", "alert"]
    assert kinds == ["create", "ask", "tell", "warning", *alerts, "attach", "warning"]


def test_one_database_holds_many_controllers(controller, problem, tmp_path):
    other = Controller.create(url_of(tmp_path), small(n=3), name="other")
    other.ask_many(3)
    assert controller.status()["trials"] == 0
    assert Controller.open(url_of(tmp_path), "other").status()["trials"] == 3
    with pytest.raises(gbb.InputError, match="pass `name`, one of 'default', 'other'"):
        Controller.open(url_of(tmp_path))
    with pytest.raises(gbb.InputError, match=r"`name` to be one of .* Did you mean 'other'"):
        Controller.open(url_of(tmp_path), "othr")
    with pytest.raises(gbb.InputError, match="`name` to be new, but got 'other', which is there"):
        Controller.create(url_of(tmp_path), problem, name="other")


def test_two_objects_see_each_others_events(controller, problem, tmp_path):
    other = Controller.open(url_of(tmp_path))
    trial = controller.ask()
    other.tell(trial.id, np.ones(problem.m))
    assert controller.ask().id == 2
    assert controller.status()["rounds"] == 1
    assert [t.id for t in other.open_trials()] == [2]


def test_threads_take_turns(controller, problem):
    def work(_):
        trial = controller.ask()
        controller.tell(trial, np.ones(problem.m))
        return trial.id

    with ThreadPoolExecutor(4) as pool:
        ids = list(pool.map(work, range(40)))
    assert sorted(ids) == list(range(1, 41))
    assert controller.status()["edge_rewards"] == 40 * problem.m
    assert same_state(replayed(controller), controller._log.state)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://host/db", "start with sqlite: or postgresql:, but got 'mysql://host/db'"),
        ("sqlite://", "`url` to name a file"),
        ("sqlite:///no/such/folder/x.db", "in a folder, but got no folder 'no/such/folder'"),
    ],
)
def test_bad_urls_say_what_to_write(problem, url, message):
    with pytest.raises(gbb.InputError, match=message):
        Controller.create(url, problem)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql//me:secret@host/db",
        "postgresql:/me:sec@ret@host/db",
        "postgresql://me:secret@host:port/db",
        "postgresql://host:port/db?password=secret",
        "mysql://me:secret@host/db",
        "sqlite://me:secret@host",
    ],
)
def test_no_message_about_a_url_holds_its_password(problem, url):
    with pytest.raises(gbb.InputError, match="`url` to") as caught:
        Controller.create(url, problem)
    assert "secret" not in str(caught.value)
    assert "ret@" not in str(caught.value)


def test_opening_what_is_not_there(tmp_path):
    with pytest.raises(gbb.InputError, match="lead to a controller, but got no file"):
        Controller.open(url_of(tmp_path))
    assert not list(tmp_path.iterdir())


def test_bad_arguments_of_create(problem, tmp_path):
    url = url_of(tmp_path)
    with pytest.raises(gbb.InputError, match=r"`problem` to be a gbb.Problem, but got str"):
        Controller.create(url, "problem")
    with pytest.raises(gbb.InputError, match=r"`policy` to be one of .* Did you mean 'OFUL'"):
        Controller.create(url, problem, "OFOL")
    with pytest.raises(gbb.InputError, match="be a gbb policy or its name, but got int"):
        Controller.create(url, problem, 3)
    policy = gbb.policies.UniformRandom(small())
    with pytest.raises(
        gbb.InputError, match="`policy` to play `problem`, but got a policy of anoth"
    ):
        Controller.create(url, problem, policy)
    policy = gbb.policies.UniformRandom(problem)
    with pytest.raises(gbb.InputError, match="be a name when settings follow"):
        Controller.create(url, problem, policy, lam=2.0)
    with pytest.raises(gbb.InputError, match="`name` to be a text that is not empty"):
        Controller.create(url, problem, name=" ")
    with pytest.raises(gbb.InputError, match="`seed` to be >= 0"):
        Controller.create(url, problem, seed=-1)


def test_a_policy_it_could_not_find_again_is_refused(problem, tmp_path):
    class Mine(gbb.policies.UniformRandom):
        """A policy of this test only."""

    with pytest.raises(gbb.InputError, match="found again when the log is opened, but got Mine"):
        Controller.create(url_of(tmp_path), problem, Mine(problem))


def test_settings_that_no_log_can_hold_are_refused(problem, tmp_path):
    policy = gbb.policies.ImprovedOFUL(problem, radius=gbb.radius.paper)
    with pytest.raises(
        gbb.InputError, match="a log can hold, but got ImprovedOFUL, in which a function"
    ):
        Controller.create(url_of(tmp_path), problem, policy)
    assert not list(tmp_path.iterdir())


def test_the_history_has_every_event_in_order_with_its_time(controller, problem):
    drive(controller, environment(problem), np.random.default_rng(0), 2)
    controller.attach(dict.fromkeys(problem.graph.names, "tilt-1"), np.zeros(problem.m))
    entries = controller.history()
    assert [e.kind for e in entries] == ["create", "ask", "tell", "ask", "tell", "attach"]
    assert [e.seq for e in entries] == list(range(1, 7))
    assert [e.trial_id for e in entries] == [None, 1, 1, 2, 2, None]
    assert all(a.time <= b.time for a, b in itertools.pairwise(entries))
    assert entries[0].content["policy"]["kind"] == "ImprovedOFUL"
    assert entries[0].content["graph"] == {"n": 4, "m": 12}
    assert set(entries[5].content["allocation"].values()) == {"tilt-1"}
    assert len(entries[5].content["rewards"]) == problem.m
    assert [e.seq for e in controller.history(["ask", "attach"])] == [2, 4, 6]


def test_rows_with_a_cell_too_many_are_refused(controller, tmp_path):
    """A decimal comma must not shift what was paid into another column."""
    trial, file = controller.ask(), tmp_path / "rewards.csv"
    for text in (
        "source,target,reward\ncell-0,cell-1,0,5\n",
        "source,target,reward\ncell-0,cell-1\n",
    ):
        file.write_text(text)
        with pytest.raises(gbb.InputError, match=r"line 2 has \d cells and line 1 has 3"):
            controller.tell(trial, file)
    file.write_text("reward, source ,target\n\n 0.5,cell-0, cell-1\n")
    controller.tell(trial, file)
    assert controller.history("tell")[0].content["rewards"] == [["cell-0", "cell-1", 0.5]]


def test_true_is_no_reward(controller):
    with pytest.raises(gbb.InputError, match="finite numbers only, but got True"):
        controller.tell(controller.ask(), {("cell-0", "cell-1"): True})


def test_an_allocation_names_every_agent_once(controller):
    arms = {"cell-0": 0, "cell-1": 0, "cell-2": 0, "cell-3": 0, 0: 1}
    with pytest.raises(gbb.InputError, match="name every agent once, but got 'cell-0' twice"):
        controller.attach(arms, np.ones(12))


@pytest.mark.parametrize("closed", [False, True])
def test_a_trial_of_another_controller_is_refused(closed, controller, problem, tmp_path):
    url = f"sqlite:///{tmp_path / 'other.db'}"
    other = gbb.Controller.create(url, problem, "UniformRandom", seed=5)
    own = controller.ask()
    theirs = next(t for t in other.ask_many(9) if not np.array_equal(t.arms, own.arms))
    while (last := own).id < theirs.id:
        own = controller.ask()
    assert not np.array_equal(last.arms, theirs.arms)
    if closed:
        controller.fail(last)
    before = everything(controller)
    for call in (
        lambda: controller.tell(theirs, np.ones(12)),
        lambda: controller.fail(theirs),
        lambda: controller.abandon(theirs),
        lambda: controller.retract(theirs),
    ):
        with pytest.raises(
            gbb.InputError,
            match=r"belongs to another controller: trial \d of this one played other arms",
        ):
            call()
    assert everything(controller) == before
    grown = gbb.Problem(gbb.Graph.path(4), np.eye(3), sigma=0.5, S=3.0)
    strange = gbb.Controller.create(url, grown, "FixedAllocation", name="b", allocation=last.arms)
    if last.id == 1:
        with pytest.raises(
            gbb.InputError,
            match=r"belongs to another controller: trial \d of this one played other arms",
        ):
            controller.fail(strange.ask())  # the same arms, of other agents
    (controller.retract if closed else controller.fail)(last)


def test_asking_and_telling_load_no_tables_graphs_or_statistics(tmp_path):
    """They take long to import, and a shell loop of ask and tell would wait for them in every call."""
    script = f"""
import sys
import numpy as np
import gbb
problem = gbb.Problem(gbb.Graph.path(3), np.eye(2))
with gbb.Controller.create({url_of(tmp_path)!r}, problem) as controller:
    controller.tell(controller.ask(), {{(0, 1): 1.0, (1, 0): 0.5}})
print([name for name in ("pandas", "networkx", "scipy.stats", "xarray") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("blank", [None, "", " "])
def test_a_blank_reward_is_missing(controller, blank):
    first, second, third = controller.ask_many(3)
    links = [("cell-0", "cell-1"), ("cell-1", "cell-0")]
    controller.tell(first, {links[0]: 1.0, links[1]: blank})
    controller.tell(first, {links[0]: 1.0})  # the same again
    table = pd.DataFrame(links, columns=["source", "target"]).assign(reward=[2.0, NAN])
    controller.tell(second, table)
    controller.tell(second, {links[0]: 2.0})
    with pytest.raises(gbb.InputError, match="at least one reward, but got none"):
        controller.tell(third, {links[0]: blank})
    with pytest.raises(gbb.InputError, match="`rewards` to name an agent, but got 'cell-9'"):
        controller.tell(third, {links[0]: 1.0, ("cell-0", "cell-9"): blank})
    assert controller._log.state.record.N.sum() == 2.0


def test_nobody_asks_for_more_than_a_computer_holds(controller):
    for count in (0, 1001, 10**9):
        with pytest.raises(gbb.InputError, match="`count` to be a whole number >= 1 and <= 1000"):
            controller.ask_many(count)
    assert controller.status()["trials"] == 0
