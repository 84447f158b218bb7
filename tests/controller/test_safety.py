"""A policy held back under the controller: the same choices, exact accounts, and the promise kept."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gbb
from control import drive, environment, noise_of, replayed, same_state, small, url_of
from gbb.cli import main
from gbb.controller import Controller
from gbb.controller.log import log
from gbb.controller.state.snapshot import read_snapshot, write_snapshot
from gbb.policies import Conservative

BASELINE = [1, 1, 2, 1]


def guard(problem, name="ThompsonSampling", **more):
    """A policy held back, that may lose enough to be let through now and then."""
    cut = gbb.cuts.greedy(problem.graph)
    own = {"ExploreThenCommit": {"exploration": 5}, "SlidingWindowOFUL": {"window": 9}}
    inner = gbb.policies.build(name, problem, cut=cut, **own.get(name, {}))
    given_settings = {"baseline": BASELINE, "eps": 0.2, "floor": 0.0, "max_changes": 2} | more
    return Conservative(problem, policy=inner, **given_settings)


def accounts(controller):
    ledger = controller._log.refresh().memory.ledger
    return ledger.at_baseline, ledger.away, ledger.missing.size


def both_ways(problem, arms, rng, p=1.0):
    """The rewards of a round by link, each link told with probability p, both directions at once."""
    values = environment(problem).draw(1, arms, rng)
    graph, told = problem.graph, {}
    for (i, j), value in zip(graph.edges, values, strict=True):
        key = (min(i, j), max(i, j))
        told[key] = told.get(key, rng.random() < p)
        if told[key]:
            told[graph.label(int(i)), graph.label(int(j))] = float(value)
    return {key: value for key, value in told.items() if not isinstance(value, bool)}


@pytest.mark.parametrize("limit", [None, 2])
@pytest.mark.parametrize(
    "name", ["ThompsonSampling", "JointOFUL", "ImprovedOFUL", "ExploreThenCommit", "UniformRandom"]
)
def test_it_asks_what_it_plays_in_a_simulation(name, limit, tmp_path):
    problem, rounds = small(), 60
    env, policy = environment(problem), guard(problem, name, max_changes=limit)
    found = gbb.simulate(
        env, policy, rounds=rounds, seed=3, method="reference", keep_allocations=True
    )
    url, rng, played = url_of(tmp_path), noise_of(3), []
    Controller.create(url, problem, policy, 3).close()
    for _ in range(3):
        with Controller.open(url) as controller:
            played.append(drive(controller, env, rng, rounds // 3))
            status = controller.status()["safety"]
    allocations = found["allocation"].isel(policy=0, run=0).to_numpy()
    assert np.array_equal(np.concatenate(played), allocations)
    home = (allocations == BASELINE).all(axis=1)
    assert 0 < home.sum() < rounds
    assert (status["at_baseline"], status["away"]) == (home.sum(), rounds - home.sum())


KINDS = ("tell", "tell", "tell", "part", "fail", "abandon", "retract", "ask", "discount", "attach")


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_accounts_are_what_the_log_says_whatever_happens(seed, tmp_path_factory):  # noqa: PLR0912
    """Against a naive twin that counts the closed and open trials anew; and on replay."""
    folder, rng, problem = tmp_path_factory.mktemp("log"), np.random.default_rng(seed), small()
    controller = Controller.create(url_of(folder), problem, guard(problem), 0)
    asked, state_of, told = {}, {}, {}
    for _ in range(40):
        kind = KINDS[rng.integers(len(KINDS))]
        waiting = [trial for trial, state in state_of.items() if state == "open"]
        closed = [trial for trial, state in state_of.items() if state != "open"]
        if kind == "ask" or (not waiting and kind not in ("retract", "discount", "attach")):
            trial = controller.ask()
            asked[trial.id], state_of[trial.id] = trial.arms, "open"
        elif kind == "retract" and closed:
            controller.retract(again := int(rng.choice(closed)))
            state_of[again] = "open"
        elif kind == "discount":
            controller.discount(0.9)
        elif kind == "attach":
            arms = rng.integers(3, size=4)
            controller.attach(arms, environment(problem).draw(1, arms, rng))
        elif waiting:
            trial = int(rng.choice(waiting))
            state_of[trial] = kind
            if kind in ("fail", "abandon"):
                (controller.fail if kind == "fail" else controller.abandon)(trial)
                continue
            told[trial] = both_ways(problem, asked[trial], rng, 1.0 if kind == "tell" else 0.6)
            state_of[trial] = "tell" if told[trial] else "fail"
            if told[trial]:
                controller.tell(trial, told[trial])
            else:
                controller.fail(trial)
    rounds, paid, numbers = [0, 0], [[], []], [0, 0]
    for trial, arms in asked.items():
        if state_of[trial] == "abandon":
            continue
        away = int(not np.array_equal(arms, BASELINE))
        rounds[away] += 1
        if state_of[trial] == "tell" and (away or len(told[trial]) == problem.m):
            paid[away] += list(told[trial].values())
            numbers[away] += len(told[trial])
    at_baseline, gone, missing = accounts(controller)
    for place, account in enumerate((at_baseline, gone)):
        assert account.rounds == rounds[place]
        assert account.observed == numbers[place]
        total = math.fsum(paid[place])
        assert math.fsum(account.rewards) == pytest.approx(total, rel=1e-12, abs=1e-12)
    assert missing == rounds[1] * problem.m - numbers[1]
    assert same_state(replayed(controller), controller._log.state)


def test_what_is_taken_back_leaves_nothing_behind(tmp_path):
    """Not even the rounding of a reward that was mistyped by many orders of magnitude."""
    problem, rng = small(), np.random.default_rng(0)
    controller = Controller.create(url_of(tmp_path), problem, guard(problem, eps=1.0), 0)
    drive(controller, environment(problem), rng, 5)
    before = accounts(controller)
    trial = controller.ask()
    assert not np.array_equal(trial.arms, BASELINE)
    asked = accounts(controller)
    with pytest.warns(match="outside"):
        controller.tell(trial, np.full(problem.m, 1e40))
    controller.retract(trial)
    assert accounts(controller) == asked
    controller.abandon(trial)
    assert accounts(controller)[:2] == before[:2]
    controller.retract(trial)
    assert accounts(controller) == asked
    controller.fail(trial)
    assert accounts(controller) == asked
    assert same_state(replayed(controller), controller._log.state)


@pytest.mark.parametrize("every", [1, 7, 10_000])
def test_snapshots_change_nothing(every, tmp_path, monkeypatch):
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", every)
    problem, rng = small(named=True), np.random.default_rng(1)
    url, env = url_of(tmp_path), environment(problem)
    with Controller.create(url, problem, guard(problem, "JointOFUL"), 3) as controller:
        drive(controller, env, rng, 12)
        trials = controller.ask_many(3)
        controller.tell(trials[1], both_ways(problem, trials[1].arms, rng, 0.5))
        controller.forbid("cell-0", "tilt-0")
        controller.abandon(trials[2])
        text = write_snapshot(controller._log.state)
        with controller._log.read() as view:
            read = read_snapshot(text, view.study)
        assert same_state(read, controller._log.state)
        again = Controller.open(url)
        assert same_state(again._log.state, controller._log.state)
        assert same_state(replayed(controller), controller._log.state)
        assert np.array_equal(again.ask().arms, replayed(controller).open[4 + 12].allocation)
        controller.check()


def test_rewards_of_one_direction_are_enough_to_get_away(tmp_path):
    """No round is whole and no half can be had: the set in all dimensions says what there is to risk."""
    problem, rng = small(), np.random.default_rng(2)
    policy = guard(problem, eps=0.3)
    controller = Controller.create(url_of(tmp_path), problem, policy, 0)
    forward = np.flatnonzero(problem.graph.sources < problem.graph.indices)
    away = 0
    for _ in range(60):
        trial = controller.ask()
        away += not np.array_equal(trial.arms, BASELINE)
        values = environment(problem).draw(1, trial.arms, rng)
        edges = problem.graph.edges[forward].tolist()
        controller.tell(trial, {tuple(e): v for e, v in zip(edges, values[forward], strict=True)})
    assert away > 5
    status = controller.status()["safety"]
    assert status["left"] >= 0.0
    assert status["missing"] == away * problem.m  # of a half that nobody told
    assert same_state(replayed(controller), controller._log.state)


# Changes of the setup


@pytest.fixture
def controller(tmp_path):
    """A controller of named agents that has left its baseline."""
    problem = small(named=True)
    policy = guard(problem, "UniformRandom", eps=0.9)
    with Controller.create(url_of(tmp_path), problem, policy, 0) as controller:
        drive(controller, environment(problem), np.random.default_rng(0), 10)
        assert accounts(controller)[1].rounds > 0
        yield controller


def test_a_discount_keeps_the_accounts_and_what_is_open(controller):
    trial = controller.ask()
    before = accounts(controller)
    controller.discount(0.5)
    assert accounts(controller) == before
    controller.tell(trial, np.ones(12))
    at_baseline, away, missing = accounts(controller)
    assert at_baseline.observed + away.observed == 11 * 12
    assert missing == 0


def test_the_baselines_arms_cannot_be_forbidden(controller):
    before = controller.status()["events"]
    with pytest.raises(
        gbb.InputError,
        match="`baseline` to play allowed arms, but got the forbidden arm 'tilt-1' at agent "
        r"'cell-0'\. Allow it, or first set a policy with another baseline",
    ):
        controller.forbid("cell-0", "tilt-1")
    with pytest.raises(gbb.InputError, match="`baseline`"):
        controller.pin(None, "tilt-0")
    assert controller.status()["events"] == before


def test_an_arm_in_play_that_is_forbidden_gives_way_at_once(controller):
    last = controller.ask()
    moved = np.flatnonzero(last.arms != BASELINE)
    assert moved.size
    before = accounts(controller)
    for agent in moved.tolist():
        controller.forbid(f"cell-{agent}", f"tilt-{last.arms[agent]}")
    assert accounts(controller) == before
    allowed = controller._log.state.setup.allowed
    for _ in range(5):
        assert allowed[np.arange(4), controller.ask().arms].all()
    assert same_state(replayed(controller), controller._log.state)


def test_another_graph_begins_anew_with_the_baseline_by_name(controller):
    late = controller.ask()
    names = ["cell-2", "cell-1", "cell-0"]
    links = [(names[0], names[1]), (names[1], names[2])]
    controller.replace_graph(gbb.Graph.from_edges(links, names=names, undirected=True))
    assert controller.policy.baseline.tolist() == [2, 1, 1]
    assert [account.rounds for account in accounts(controller)[:2]] == [0, 0]
    step = controller._log.state.memory.ledger.path[-1]
    assert step.allocation.tolist() == late.arms[[2, 1, 0]].tolist()
    controller.tell(late, np.ones(12))  # is learnt from, and counts for nothing
    assert [account.rounds for account in accounts(controller)[:2]] == [0, 0]
    changed = controller.ask().arms != step.allocation
    assert changed.sum() <= 2
    more = gbb.Graph.from_edges([("cell-0", "new")], names=["cell-0", "new"], undirected=True)
    with pytest.raises(gbb.InputError, match="no agents without an arm in Conservative"):
        controller.replace_graph(more)
    assert same_state(replayed(controller), controller._log.state)


def test_a_reward_that_is_known_is_that_of_one_graph(tmp_path):
    problem = small(named=True)
    policy = guard(problem, baseline_reward=5.0)
    controller = Controller.create(url_of(tmp_path), problem, policy)
    with pytest.raises(gbb.InputError, match="First set the policy without baseline_reward"):
        controller.replace_graph(gbb.Graph.from_edges([("cell-0", "cell-1")], undirected=True))


def test_another_policy_begins_anew_from_what_is_in_play(controller):
    played = controller.ask()
    controller.abandon(controller.ask())
    controller.set_policy(guard(controller.problem, "JointOFUL", max_changes=1, eps=0.1))
    assert [account.rounds for account in accounts(controller)[:2]] == [0, 0]
    assert controller._log.state.memory.ledger.path[-1].allocation.tolist() == played.arms.tolist()
    assert (controller.ask().arms != played.arms).sum() <= 1
    controller.set_policy("JointOFUL")
    assert "safety" not in controller.status()
    assert same_state(replayed(controller), controller._log.state)


def test_a_policy_that_no_controller_runs_is_refused_inside_as_well(tmp_path):
    problem = small()
    with pytest.raises(gbb.InputError, match=r"learns from records.*SlidingWindowOFUL"):
        Controller.create(url_of(tmp_path), problem, guard(problem, "SlidingWindowOFUL"))


# The shell


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "farm.csv").write_text("source,target\na,b\nb,c\nc,a\n")
    (tmp_path / "arms.csv").write_text("arm,x,y\nlow,1,0\nhigh,0,1\n")
    (tmp_path / "baseline.csv").write_text("agent,arm\nc,high\na,low\nb,high\n")
    return ["farm.db", "farm.csv", "--undirected", "--arms", "arms.csv", "--S", "2", "--sigma", "1"]


def run(capsys, *words):
    with pytest.raises(SystemExit) as done:
        main(["control", *words])
    said = capsys.readouterr()
    return done.value.code, said.out, said.err


SAFE = ("--baseline", "baseline.csv", "--eps", "0.5", "--max-changes", "2", "--floor", "0")


def test_the_shell_creates_a_safe_controller_and_says_what_is_left(files, capsys):
    assert run(capsys, "create", *files, "--policy", "ThompsonSampling", *SAFE)[0] == 0
    with Controller.open("sqlite:///farm.db") as controller:
        policy = controller.policy
        assert isinstance(policy, Conservative)
        assert isinstance(policy.policy, gbb.policies.ThompsonSampling)
        assert policy.baseline.tolist() == [0, 1, 1]
        assert (policy.eps, policy.max_changes, policy.floor) == (0.5, 2, 0.0)
        for _ in range(8):
            trial = controller.ask()
            controller.tell(trial, np.ones(6))
    code, out, _ = run(capsys, "status", "farm.db", "--format", "json")
    safety = json.loads(out)["safety"]
    assert code == 0
    assert safety["at_baseline"] + safety["away"] == 8
    assert safety["promised"] <= safety["earned"]
    assert safety["left"] == pytest.approx(safety["earned"] - safety["promised"])
    assert safety["used"] == pytest.approx(max(0.0, 1.0 - safety["left"] / safety["budget"]))
    _, out, _ = run(capsys, "status", "farm.db")
    assert "safety: left" in out
    assert "safety: substituted" in out


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--eps", "0.1"], "`--eps` needs `--baseline`, the plan to hold on to."),
        (
            ["--baseline", "baseline.csv", "--eps", "0"],
            "Expected `--eps` to be a finite number > 0",
        ),
        (["--baseline", "arms.csv"], "Expected `--baseline` to have the columns agent, arm"),
        (["--baseline", "none.csv"], "Cannot read `--baseline`"),
        (["--baseline", "baseline.csv", "--max-changes", "0"], "Expected `--max-changes`"),
        (["--baseline", "short.csv"], "`--baseline`"),
        (["--baseline", "wrong.csv"], "`--baseline`"),
    ],
)
def test_the_shell_says_in_one_line_what_is_wrong(words, error, files, tmp_path, capsys):
    (tmp_path / "short.csv").write_text("agent,arm\na,low\n")
    (tmp_path / "wrong.csv").write_text("agent,arm\na,low\nb,middle\nc,low\n")
    code, _, said = run(capsys, "create", *files, *words)
    assert code == 2
    assert error in said
    assert said.count("\n") == 1
    assert not (tmp_path / "farm.db").exists()


def test_a_dry_run_shows_the_policy_inside(files, capsys):
    code, out, _ = run(capsys, "create", *files, *SAFE, "--dry-run")
    assert code == 0
    assert "Conservative" in out
    assert "ImprovedOFUL" in out


def test_what_was_told_and_then_not_played_after_all_is_not_in_play(tmp_path):
    problem = small()
    with Controller.create(url_of(tmp_path), problem, guard(problem), seed=1) as controller:
        last = controller.ask()
        controller.tell(last, both_ways(problem, last.arms, noise_of(1)))
        wrong = controller.ask()
        controller.tell(wrong, both_ways(problem, wrong.arms, noise_of(2)))
        controller.retract(wrong)
        controller.abandon(wrong)
        path = controller._log.state.memory.ledger.path
        assert path[-1].trial == last.id
        assert same_state(replayed(controller), controller._log.state)


def test_no_plan_is_made_up(tmp_path):
    with Controller.create(url_of(tmp_path), small(), seed=1) as controller:
        with pytest.raises(gbb.InputError, match="`baseline` to be given for Conservative"):
            controller.set_policy("Conservative", eps=0.1)
        controller.set_policy("Conservative", eps=0.1, baseline=BASELINE)
        safety = controller.status()["safety"]
    assert safety["policy"] == "JointOFUL"
    assert list(safety["baseline"].values()) == BASELINE


def test_a_snapshot_knows_the_graph_of_an_open_trial_as_the_log_does(tmp_path, monkeypatch):
    """Arms that were forbidden when the graph was replaced are no part of what it was."""
    problem = small()
    with Controller.create(url_of(tmp_path), problem, guard(problem)) as controller:
        agent, arm = problem.graph.label(0), problem.arm_names[2] if problem.arm_names else 2
        controller.ask()
        controller.forbid(agent, [arm])
        monkeypatch.setattr(log, "SNAPSHOT_EVENTS", 1)
        controller.replace_graph(problem.graph)
    with Controller.open(url_of(tmp_path)) as again:
        assert same_state(replayed(again), again._log.state)
