"""``gbb control``: everything that Python can do, from the shell."""

import json
import re

import pytest
from test_control_cli import LINKS, farm, refused, rewards, rows, run  # noqa: F401

from gbb.controller import Controller

URL = "sqlite:///farm.db"
FIVE = "source,target\nnorth,south\nsouth,west\nwest,east\n"


def test_another_graph_is_played_on_and_what_was_learnt_stays(farm, tmp_path):  # noqa: F811
    farm("ask", "farm.db")
    farm("tell", "farm.db", 1, "-", stdin=rewards(0.5))
    farm("forbid", "farm.db", "--agent", "south", "--arm", "left", "--pin")
    (tmp_path / "grown.csv").write_text(FIVE)
    done = farm("replace-graph", "farm.db", "grown.csv", "--undirected", "--cut", "annealing")
    assert done.out == (
        "plays on 4 agents and 6 directed edges; 1 round told before still counts, 0 trials open\n"
    )
    asked = {
        row["agent"]: row["arm"] for row in rows(farm("ask", "farm.db", "--format", "csv").out)
    }
    assert set(asked) == {"north", "south", "west", "east"}
    assert asked["south"] == "left"
    with Controller.open(URL) as controller:
        assert controller.estimate()[0].N.sum() == 6


def test_the_links_of_another_graph_have_types_and_weights(run, refused, tmp_path):  # noqa: F811
    (tmp_path / "kinds.csv").write_text("source,target,type\nnorth,south,1\n")
    made = "farm.csv --undirected --arms arms.csv --policy ThompsonSampling --links kinds.csv"
    run("create", "farm.db", *made.split())
    said = refused("replace-graph", "farm.db", "farm.csv", "--undirected")
    assert "`--links` to be given for the new graph" in said
    assert "Give them in a file, --links." in said
    (tmp_path / "grown.csv").write_text(FIVE)
    (tmp_path / "new.csv").write_text("source,target,type,weight\nsouth,west,1,2\n")
    run("replace-graph", "farm.db", "grown.csv", "--undirected", "--links", "new.csv")
    with Controller.open(URL) as controller:
        assert sorted(controller.problem.edge_types.tolist()) == [0, 0, 0, 0, 1, 1]
        assert sorted(controller.problem.edge_weights.tolist()) == [1, 1, 1, 1, 2, 2]


def test_another_policy_chooses(farm):  # noqa: F811
    farm("ask", "farm.db")
    farm("tell", "farm.db", 1, "-", stdin=rewards(0.5))
    done = farm("set-policy", "farm.db", "jointoful:starts=2", "--delta", "0.2", "--cut", "greedy")
    assert done.out == "JointOFUL chooses from now on; it has learnt from 1 round\n"
    with Controller.open(URL) as controller:
        policy = controller.policy
        assert (policy.name, policy.starts, policy.delta) == ("JointOFUL", 2, 0.2)


def test_another_policy_is_held_back(farm, refused, tmp_path):  # noqa: F811
    plan = "agent,arm\nnorth,left\nsouth,left\neast,straight\n"
    (tmp_path / "plan.csv").write_text(plan)
    safe = ("--baseline", "plan.csv", "--eps", "0.1", "--max-changes", 1)
    farm("set-policy", "farm.db", "ThompsonSampling:v=0.5", *safe)
    with Controller.open(URL) as controller:
        policy = controller.policy
        assert (policy.policy.name, policy.policy.v, policy.eps) == ("ThompsonSampling", 0.5, 0.1)
        assert controller.ask().arms.tolist() == policy.baseline.tolist()
    assert "`--eps` needs `--baseline`" in refused("set-policy", "farm.db", "OFUL", "--eps", "0.1")


def test_what_was_told_counts_less(farm):  # noqa: F811
    farm("ask", "farm.db")
    farm("tell", "farm.db", 1, "-", stdin=rewards(0.5))
    done = farm("discount", "farm.db", "0.5")
    assert done.out == "the 1 round told so far counts 0.5 times as much as before\n"
    with Controller.open(URL) as controller:
        assert controller.estimate()[0].N.sum() == 3


@pytest.mark.parametrize(
    "given", ["north=left,south=left,east=right", "plan.csv", "-", '{"north": "left"}.json']
)
def test_an_allocation_is_predicted(farm, tmp_path, given):  # noqa: F811
    plan = {"north": "left", "south": "left", "east": "right"}
    table = "agent,arm\n" + "".join(f"{agent},{arm}\n" for agent, arm in plan.items())
    (tmp_path / "plan.csv").write_text(table)
    (tmp_path / '{"north": "left"}.json').write_text(json.dumps(plan))
    found = json.loads(farm("predict", "farm.db", given, "--format", "json", stdin=table).out)
    with Controller.open(URL) as controller:
        own = controller.predict(plan)
    assert found == {"reward": own.reward, "low": own.low, "high": own.high, "caveat": None}
    shown = farm("predict", "farm.db", given, stdin=table).out
    assert [line.split()[0] for line in shown.splitlines()[-3:]] == ["reward", "low", "high"]


def test_the_history_is_a_line_for_each_event(farm, tmp_path):  # noqa: F811
    farm("ask", "farm.db")
    farm("tell", "farm.db", 1, "-", stdin=rewards(0.5, LINKS))
    farm("retract", "farm.db", 1, "--reason", "typo")
    farm("tell", "farm.db", 1, "--fail", "--reason", "storm")
    farm("forbid", "farm.db", "--arm", "left")
    farm("forbid", "farm.db", "--agent", "north", "--arm", "right", "--pin")
    farm("forbid", "farm.db", "--allow", "--all")
    farm("discount", "farm.db", "0.5")
    farm("set-policy", "farm.db", "OFUL", "--delta", "0.01")
    (tmp_path / "grown.csv").write_text(FIVE)
    farm("replace-graph", "farm.db", "grown.csv", "--undirected")
    (tmp_path / "plan.csv").write_text("agent,arm\nnorth,left\nsouth,left\nwest,left\neast,left\n")
    told = "source,target,reward\nnorth,south,0.25\n"
    farm("attach", "farm.db", "plan.csv", "-", "--key", "may-1", stdin=told)
    lines = farm("history", "farm.db").out.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert all(re.match(r" +\d+  20\d\d-\d\d-\d\d \d\d:\d\d:\d\d  [a-z]", line) for line in lines)
    said = [(line.split()[3], line[39:]) for line in lines]
    assert said == [
        ("create", "3 agents, 6 directed edges; ImprovedOF..."),
        ("ask", said[1][1]),
        ("tell", "trial 1: 3 rewards, 1.5 in all"),
        ("retract", "trial 1: tell taken back: typo"),
        ("fail", "trial 1: storm"),
        ("forbid", "all agents: left"),
        ("pin", "north: right"),
        ("allow", "all agents: all arms"),
        ("discount", "by 0.5"),
        ("policy", said[9][1]),
        ("graph", "4 agents, 6 directed edges"),
        ("attach", "1 reward, 0.25 in all, key may-1"),
    ]
    assert said[1][1].startswith("trial 1: north=")
    assert said[9][1].startswith("OFUL ")
    assert farm("history", "farm.db", "--last", 2).out.splitlines() == lines[-2:]
    last = farm("history", "farm.db", "--kind", "tell", "--kind", "pin", "--last", 1).out
    assert last.splitlines() == [lines[6]]


def test_the_machine_form_of_the_history_holds_everything(farm):  # noqa: F811
    farm("ask", "farm.db")
    farm("tell", "farm.db", 1, "-", stdin=rewards(0.5))
    data = json.loads(farm("history", "farm.db", "--json").out)
    assert data == json.loads(farm("history", "farm.db", "--format", "json").out)
    assert [event["kind"] for event in data] == ["create", "ask", "tell"]
    assert len(data[2]["content"]["rewards"]) == 6
    table = rows(farm("history", "farm.db", "--format", "csv", "--last", 1).out)
    assert json.loads(table[0]["content"]) == data[2]["content"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("discount farm.db 0", "`FACTOR` to be a finite number > 0 and <= 1, but got 0"),
        ("discount farm.db much", "much"),
        ("set-policy farm.db Joint", "`POLICY` to be one of"),
        ("set-policy farm.db OFUL:lan=3", "OFUL has no setting 'lan'"),
        ("set-policy farm.db OFUL:lam=-3", "`OFUL:lam` to be a finite number > 0"),
        ("set-policy farm.db OFUL --lam -3", "`--lam` to be a finite number > 0"),
        ("set-policy farm.db UniformRandom --delta 0.1", "`--delta` is no setting of Uniform"),
        ("set-policy farm.db OFUL --cut worst", "`--cut` to be one of"),
        ("set-policy farm.db UniformRandom --cut greedy", "UniformRandom has no setting 'cut'"),
        ("set-policy farm.db ExploreThenCommit", "Say how many rounds are to come."),
        ("set-policy farm.db DiscountedOFUL", "`POLICY` to be one that learns from records"),
        ("replace-graph farm.db no.csv", "Cannot read `GRAPH` 'no.csv'"),
        ("replace-graph farm.db farm.csv", "`GRAPH`"),
        ("replace-graph farm.db complete:3 --links no.csv", "Cannot read `--links` 'no.csv'"),
        ("replace-graph farm.db complete:3 --cut worst", "`--cut` to be one of"),
        ("predict farm.db north=left", "`ALLOCATION` to give every agent an arm"),
        ("predict farm.db north=left,=x", "be AGENT=ARM,AGENT=ARM,... or name a file"),
        ("predict farm.db north=left,north=right", "name every agent once, but got 'north' twice"),
        ("predict farm.db north=up,south=left,east=left", "but got 'up'"),
        ("predict farm.db plan.csv", "Cannot read `ALLOCATION` 'plan.csv'"),
        ("history farm.db --last 0", "`--last` to be a whole number >= 1, but got 0"),
        ("history farm.db --json --format csv", "`--json` and `--format csv` cannot be combined"),
    ],
)
def test_mistakes_are_one_line(farm, refused, args, message):  # noqa: F811
    assert message in refused(*args.split())
    assert json.loads(farm("status", "farm.db", "--format", "json").out)["events"] == 1
