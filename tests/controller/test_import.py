"""Many rounds at once: what is learnt is what attaching them one by one teaches, to the last bit."""

import io
import json
import warnings

import numpy as np
import pandas as pd
import pytest

import gbb
from control import drive, environment, noise_of, plain, replayed, same_state, small, url_of
from gbb.controller import Controller, RewardWarning


def made(folder, name="a", problem=None, policy="ImprovedOFUL"):
    folder.mkdir(exist_ok=True)
    problem = small(named=True) if problem is None else problem
    return Controller.create(url_of(folder), problem, policy, seed=3, name=name)


def typed(feedback: str) -> gbb.Problem:
    base = small(named=True)
    rng = np.random.default_rng(0)
    return gbb.Problem(
        base.graph,
        np.eye(3),
        sigma=0.5,
        S=3.0,
        arm_names=base.arm_names,
        edge_types=rng.integers(2, size=base.m),
        edge_weights=rng.uniform(0.5, 2.0, base.m),
        feedback=feedback,
    )


def rounds_of(problem, count, seed=0, seen=0.7):
    """Allocations and rewards, NaN where one is missing."""
    rng = np.random.default_rng(seed)
    played = rng.integers(problem.K, size=(count, problem.n))
    paid = rng.normal(size=(count, problem.observations))
    paid[rng.random(paid.shape) > seen] = np.nan
    paid[np.isnan(paid).all(axis=1), 0] = 0.5
    return played, paid


def edges_of(problem):
    """The edge of each number of a round: directed, or of a link the one with i < j."""
    edges = problem.graph.edges
    return (
        edges[edges[:, 0] < edges[:, 1]].tolist() if problem.feedback == "link" else edges.tolist()
    )


def named(problem, arms):
    return {problem.graph.label(i): problem.arm_names[a] for i, a in enumerate(arms)}


def long_table(problem, played, paid) -> pd.DataFrame:
    """A row for each reward that was seen."""
    rows = []
    for t, (arms, values) in enumerate(zip(played, paid, strict=True)):
        who = named(problem, arms)
        if problem.feedback == "agent":
            rows += [(f"r{t}", a, who[a], v) for a, v in zip(who, values, strict=True)]
        elif problem.feedback == "global":
            rows += [(f"r{t}", json.dumps(who), values[0])]
        else:
            for (i, j), value in zip(edges_of(problem), values, strict=True):
                a, b = problem.graph.label(i), problem.graph.label(j)
                if np.isfinite(value):
                    rows.append((f"r{t}", a, b, who[a], who[b], value))
    columns = {
        "link": ["key", "source", "target", "arm_source", "arm_target", "reward"],
        "edge": ["key", "source", "target", "arm_source", "arm_target", "reward"],
        "agent": ["key", "agent", "arm", "reward"],
        "global": ["key", "allocation", "reward"],
    }
    return pd.DataFrame(rows, columns=columns[problem.feedback])


def attach_each(controller, played, paid):
    """One by one, with every arm."""
    problem = controller.problem
    for t, (arms, values) in enumerate(zip(played, paid, strict=True)):
        told = np.flatnonzero(np.isfinite(values))
        if problem.feedback in ("edge", "link"):
            edges = [tuple(map(problem.graph.label, edges_of(problem)[e])) for e in told]
            rewards = dict(zip(edges, values[told].tolist(), strict=True))
        elif problem.feedback == "agent":
            rewards = {problem.graph.label(int(i)): values[i] for i in told}
        else:
            rewards = float(values[0])
        controller.attach(named(problem, arms), rewards, key=f"r{t}")


def learnt(controller):
    """What is known, bit by bit, and the ask that follows."""
    state = controller._log.state
    return (
        plain(state.record),
        plain(state.memory),
        state.rounds,
        list(state.keys),
        controller.ask().arms.tolist(),
    )


@pytest.mark.parametrize("seen", [1.0, 0.7, 0.15])
@pytest.mark.parametrize("policy", ["ImprovedOFUL", "JointOFUL"])
def test_an_import_teaches_what_attaching_one_by_one_does(tmp_path, policy, seen):
    one, two = made(tmp_path, "one", policy=policy), made(tmp_path, "two", policy=policy)
    played, paid = rounds_of(one.problem, 40, seen=seen)
    attach_each(one, played, paid)
    found = two.import_rounds(long_table(two.problem, played, paid))
    assert (found.rounds, found.new) == (40, 40)
    assert found.rewards == np.isfinite(paid).sum()
    assert same_state(replayed(two), two._log.state)
    assert learnt(one) == learnt(two)
    two.check()


@pytest.mark.parametrize("feedback", ["edge", "link", "agent", "global"])
def test_beyond_the_paper_too(tmp_path, feedback):
    problem = typed(feedback)
    one, two = (made(tmp_path, name, problem, "ThompsonSampling") for name in ("one", "two"))
    played, paid = rounds_of(problem, 20, seen=1.0 if feedback == "global" else 0.8)
    attach_each(one, played, paid)
    two.import_rounds(long_table(problem, played, paid))
    assert learnt(one) == learnt(two)


@pytest.mark.parametrize("feedback", ["edge", "link", "agent", "global"])
def test_import_export_import_again_is_the_same_to_the_last_bit(tmp_path, feedback):
    alike = feedback in ("edge", "link")
    problem = small(named=True, feedback=feedback) if alike else typed(feedback)
    policy = "ThompsonSampling"
    made(tmp_path / "1", problem=problem, policy=policy).import_rounds(
        long_table(problem, *rounds_of(problem, 30, seen=0.6))
    )
    for k in (1, 2):
        with Controller.open(url_of(tmp_path / str(k))) as before:
            path = tmp_path / f"{k}.csv"
            before.export_rounds().to_csv(path, index=False)
        made(tmp_path / str(k + 1), problem=problem, policy=policy).import_rounds(path)
    states = [learnt(Controller.open(url_of(tmp_path / str(k)))) for k in (1, 2, 3)]
    assert states[0] == states[1] == states[2]


def test_what_was_told_is_read_back_by_others_and_counts_once_at_home(tmp_path):
    problem = small(named=True)
    home, away = made(tmp_path, "home"), made(tmp_path, "away")
    drive(home, environment(problem), noise_of(0), 8)
    home.attach(np.zeros(4, dtype=int), np.ones(12))
    home.attach(np.ones(4, dtype=int), {("cell-0", "cell-1"): 0.5}, key="own")
    table = home.export_rounds()
    before = home.status()["events"]
    assert home.import_rounds(table).new == 0
    assert home.status()["events"] == before
    assert away.import_rounds(table).new == 10
    assert plain(away._log.state.record) == plain(home._log.state.record)
    table.loc[0, "reward"] += 1.0
    with pytest.raises(gbb.InputError, match=r"row 1 begins another round under the key 'trial 1@"):
        home.import_rounds(table)


def test_a_wide_table_says_the_same_as_a_long_one(tmp_path):
    problem = small(named=True)
    one, two = made(tmp_path, "one"), made(tmp_path, "two")
    played, paid = rounds_of(problem, 25, seen=0.5)
    table = pd.DataFrame({"key": [f"r{t}" for t in range(25)]})
    for i in range(problem.n):
        table[problem.graph.label(i)] = [problem.arm_names[a] for a in played[:, i]]
    for e, (i, j) in enumerate(problem.graph.edges.tolist()):
        table[f"{problem.graph.label(i)}->{problem.graph.label(j)}"] = paid[:, e]
    path = tmp_path / "wide.csv"
    table.to_csv(path, index=False)
    found = one.import_rounds(path)
    assert found.missing == np.isnan(paid).sum()
    two.import_rounds(long_table(problem, played, paid))
    assert learnt(one) == learnt(two)


def test_only_arms_that_a_reward_depends_on_are_needed(tmp_path):
    controller = made(tmp_path)
    csv = "round,source,target,source_arm,target_arm,reward\n7,cell-0,cell-1,tilt-2,tilt-0,0.25\n"
    (tmp_path / "log.csv").write_text(csv)
    found = controller.import_rounds(tmp_path / "log.csv")
    assert (found.new, found.unknown, found.first["key"]) == (1, 2, "7")
    (entry,) = controller.history("attach")
    assert entry.content["allocation"] == {"cell-0": "tilt-2", "cell-1": "tilt-0"}
    assert entry.content["rewards"] == [["cell-0", "cell-1", 0.25]]
    assert controller._log.state.record.N[2, 0] == 1
    controller.attach(
        {"cell-0": "tilt-2", "cell-1": "tilt-0"}, {("cell-0", "cell-1"): 0.25}, key="7"
    )
    assert controller.status()["rounds"] == 1  # the same round, by another door
    with pytest.raises(
        gbb.InputError, match=r"that a reward depends on, but got none for .*cell-1"
    ):
        controller.attach({"cell-0": "tilt-2"}, {("cell-0", "cell-1"): 0.25})
    drive(controller, environment(controller.problem), noise_of(0), 6)
    assert controller.diagnose().rounds == 7
    assert same_state(replayed(controller), controller._log.state)


HEAD = "key,source,target,source_arm,target_arm,reward\n"
GOOD = "a,cell-0,cell-1,tilt-0,tilt-1,0.5\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            HEAD + GOOD + "b,cell-0,cell-9,tilt-0,tilt-1,1\n",
            "line 3 is wrong in 'target': .*cell-9",
        ),
        (HEAD + GOOD + "\nb,cell-0,cell-1,tilt-0,tilt-9,1\n", "line 4 is wrong in 'target_arm'"),
        (HEAD + GOOD + "b,cell-0,cell-1,tilt-0,tilt-1,x\n", "line 3 holds 'x' as 'reward'"),
        (HEAD + GOOD + "b,cell-0,cell-1,tilt-0,tilt-1,nan\n", "line 3 holds 'nan'.*leave the cell"),
        (HEAD + GOOD + "b,cell-0,cell-1,tilt-0,tilt-1,1_0\n", "line 3 holds '1_0'"),
        (HEAD + GOOD + "b,cell-0,cell-1,tilt-0,tilt-1,1e200\n", "line 3 holds '1e200'"),
        (HEAD + GOOD + "b,cell-0,cell-1,tilt-0,,1\n", "line 3 .*depends on the arm of 'cell-1'"),
        (HEAD + GOOD + ",cell-0,cell-1,tilt-0,tilt-1,1\n", "line 3 has no 'key'"),
        (HEAD + GOOD + "b,cell-0,cell-0,tilt-0,tilt-0,1\n", "line 3 names .* no link of the graph"),
        (HEAD + GOOD + "a,cell-0,cell-1,tilt-0,tilt-1,1\n", "line 3 has the reward .* line 2 has"),
        (
            HEAD + GOOD + "a,cell-0,cell-2,tilt-1,tilt-1,1\n",
            "lets 'cell-0' play .* in round 'a', and another line lets it play",
        ),
        (HEAD + GOOD + "b,cell-0,cell-1,tilt-0,1\n", "line 3 has 5 cells and line 1 has 6"),
        (HEAD + GOOD + "b,cell-0,cell-1,tilt-0,tilt-1,1,2\n", "line 3 has 7 cells"),
        ("source,target,reward\n", "no column key, round or trial"),
        ("key,reward\n", "neither a row for each reward .* nor one for each round"),
        ("key,cell-0,cell-0->cell-9\n", "'cell-0->cell-9' is no link of the graph"),
        ("", "it has no header"),
        (HEAD, "it holds a header only"),
    ],
)
def test_a_wrong_line_is_named_and_nothing_is_kept(tmp_path, text, said):
    controller = made(tmp_path)
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(gbb.InputError, match=said) as error:
        controller.import_rounds(tmp_path / "log.csv")
    assert "\n" not in str(error.value)
    assert controller.status()["events"] == 1


def test_another_round_under_a_key_that_is_taken_keeps_nothing_of_the_file(tmp_path):
    controller = made(tmp_path)
    table = pd.read_csv(io.StringIO(HEAD + GOOD))
    for _ in range(2):
        controller.import_rounds(table)
    assert controller.status()["rounds"] == 1
    more = HEAD + "b,cell-0,cell-1,tilt-0,tilt-1,1\n" + GOOD.replace("0.5", "0.75")
    (tmp_path / "more.csv").write_text(more)
    with pytest.raises(gbb.InputError, match="line 3 begins another round under the key 'a'"):
        controller.import_rounds(tmp_path / "more.csv")
    assert controller.status()["rounds"] == 1
    assert controller.import_rounds(tmp_path / "more.csv", prefix="may-").new == 2


def test_a_dry_run_says_what_was_understood_and_keeps_nothing(tmp_path):
    controller = made(tmp_path)
    lost = "b,cell-2,cell-3,tilt-0,tilt-1,\n"
    (tmp_path / "log.csv").write_text(HEAD + GOOD + lost)
    found = controller.import_rounds(tmp_path / "log.csv", dry_run=True)
    assert (found.rounds, found.new, found.rewards, found.missing) == (1, 1, 1, 1)
    assert (found.empty, found.arms, found.agents) == (1, 2, 2)
    assert found.first["rewards"] == [["cell-0", "cell-1", 0.5]]
    assert controller.status()["events"] == 1


def test_numbers_that_pandas_read_are_the_numbers_of_the_file(tmp_path):
    """A blank makes a column of whole numbers one of fractions."""
    one = Controller.create(url_of(tmp_path), small(), name="one")
    two = Controller.create(url_of(tmp_path), small(), name="two")
    text = "round,source,target,source_arm,target_arm,reward\n1,0,1,2,0,0.1\n2,0,1,,,\n3,1,2,2,1,3e-1\n"
    (tmp_path / "log.csv").write_text(text)
    one.import_rounds(tmp_path / "log.csv")
    table = pd.read_csv(tmp_path / "log.csv").astype({"round": float})
    assert table["source_arm"].dtype.kind == "f"
    two.import_rounds(table)
    assert list(one._log.state.keys) == ["1", "3"]
    assert learnt(one) == learnt(two)


def test_columns_that_are_not_read_are_named(tmp_path):
    controller = made(tmp_path)
    table = pd.read_csv(io.StringIO(HEAD + GOOD)).assign(weather="calm", time="now")
    with pytest.warns(UserWarning, match="Left out the columns 'weather' of `log`"):
        controller.import_rounds(table)


def test_rewards_out_of_bounds_are_flagged_once_and_each_in_the_history(tmp_path):
    controller = made(tmp_path)
    rows = [GOOD.replace("a,", f"{k},", 1).replace("0.5", "500") for k in range(3)]
    (tmp_path / "log.csv").write_text(HEAD + "".join(rows))
    with pytest.warns(RewardWarning, match="So do rewards of 2 more rounds") as said:
        controller.import_rounds(tmp_path / "log.csv")
    assert len(said) == 1
    assert len(controller.history("warning")) == 3
    assert controller._log.state.out_of_bounds_rounds == 3


def test_a_column_of_ones_own_tells_rounds_apart(tmp_path):
    controller = made(tmp_path)
    text = (HEAD + GOOD + GOOD.replace("a,", "b,", 1)).replace("key", "when")
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(gbb.InputError, match="no column key, round or trial"):
        controller.import_rounds(tmp_path / "log.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert controller.import_rounds(tmp_path / "log.csv", key="when").new == 2
    with pytest.raises(gbb.InputError, match=r"`key` to name a column .*Did you mean 'when'"):
        controller.import_rounds(tmp_path / "log.csv", key="whn")


@pytest.mark.parametrize("key", [" m ", "m\t", "a\nb", "\u00a0m", ""])
def test_a_key_that_a_table_would_not_give_back_is_refused(tmp_path, key):
    controller = made(tmp_path, "one")
    with pytest.raises(gbb.InputError, match="`key` to be a text on one line"):
        controller.attach([0, 1, 2, 0], np.ones(12), key=key)


def test_numbers_in_a_table_are_names_where_agents_have_names(tmp_path):
    graph = gbb.Graph.from_edges([("1", "2"), ("2", "0"), ("1", "0")], undirected=True)
    problem = gbb.Problem(graph, np.eye(2), arm_names=["1", "0"])
    (tmp_path / "log.csv").write_text(
        "key,source,target,source_arm,target_arm,reward\na,1,2,1,0,5.0\nb,2,0,0,0,1.0\n"
    )
    one, two = (made(tmp_path, name, problem, "ThompsonSampling") for name in ("one", "two"))
    one.import_rounds(tmp_path / "log.csv")
    two.import_rounds(pd.read_csv(tmp_path / "log.csv"))
    assert learnt(one) == learnt(two)
    told = pd.DataFrame({"source": [1], "target": [2], "reward": [0.5]})
    one.tell(1, told)
    assert one.history("tell")[0].content["rewards"] == [["1", "2", 0.5]]


def test_what_was_taken_back_is_imported_anew(tmp_path):
    controller = made(tmp_path, "one")
    controller.attach([0, 1, 2, 0], np.ones(12))
    table = controller.export_rounds()
    controller.retract(event=2)
    assert controller.import_rounds(table).new == 1
    assert controller.status()["rounds"] == 1


def test_a_rehearsed_import_keeps_nothing(tmp_path):
    controller = made(tmp_path, "one")
    controller.ask(timeout=1e-6)
    before = controller.status()["events"]
    played, paid = rounds_of(controller.problem, 3)
    controller.import_rounds(long_table(controller.problem, played, paid), dry_run=True)
    assert controller.status()["events"] == before


def test_a_wide_table_may_name_links_from_either_end(tmp_path):
    problem = small(named=True, feedback="link")
    one, two = (made(tmp_path, name, problem, "ThompsonSampling") for name in ("one", "two"))
    for controller, link in ((one, "cell-0->cell-1"), (two, "cell-1->cell-0")):
        log = pd.DataFrame({"key": ["a"], "cell-0": ["tilt-0"], "cell-1": ["tilt-2"], link: [0.5]})
        controller.import_rounds(log)
    assert learnt(one) == learnt(two)
