"""``gbb control``: a network driven from the shell, by CSV and JSON; errors on one line."""

import csv
import io
import json
import math
import re
import warnings
from pathlib import Path

import pandas as pd
import pytest

from gbb import InputError
from gbb.cli import main
from gbb.controller import Controller
from gbb.controller.commands.alerts import settle

GRAPH = "source,target\nnorth,south\nsouth,east\neast,north\n"
ARMS = "arm,yaw,pitch\nstraight,1,0\nleft,0.8,0.6\nright,0.6,0.8\n"
LINKS = [("north", "south"), ("south", "east"), ("east", "north")]
ALL = LINKS + [(j, i) for i, j in LINKS]


class Outcome:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "farm.csv").write_text(GRAPH)
    (tmp_path / "arms.csv").write_text(ARMS)

    def call(*args, stdin="", code=0):
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        with pytest.raises(SystemExit) as stop:
            main(["control", *map(str, args)])
        captured = capsys.readouterr()
        assert stop.value.code == code, captured.err
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture
def refused(run):
    def call(*args, stdin=""):
        outcome = run(*args, stdin=stdin, code=2)
        assert outcome.out == ""
        assert outcome.err.startswith("gbb: error: ")
        assert outcome.err.count("\n") == 1
        return outcome.err

    return call


@pytest.fixture
def farm(run):
    options = "--undirected --arms arms.csv --S 2 --sigma 0.1 --seed 3"
    done = run("create", "farm.db", "farm.csv", *options.split(" "))
    assert done.out.startswith("created 'default': Problem(n=3, m=6, K=3, d=2")
    return run


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def rewards(value=1.0, links=ALL):
    return "source,target,reward\n" + "".join(f"{i},{j},{value}\n" for i, j in links)


def test_a_whole_story_in_csv(farm, tmp_path):
    asked = rows(farm("ask", "farm.db", "--format", "csv").out)
    assert [row["agent"] for row in asked] == ["north", "south", "east"]
    assert {row["trial"] for row in asked} == {"1"}
    assert {row["arm"] for row in asked} <= {"straight", "left", "right"}
    told = farm("tell", "farm.db", 1, "-", stdin=rewards(0.5))
    assert told.out == "trial 1 is closed; 1 round told, 0 open\n"
    (tmp_path / "rewards.csv").write_text(rewards(0.7, LINKS))
    options = "--arms arms.csv --name second --policy uniformrandom"
    farm("create", "farm.db", "complete:4", *options.split(" "))
    assert "agents" in farm("status", "farm.db", "--name", "second").out
    assert "1" in farm("ask", "farm.db", "--name", "second").out


def test_a_dry_run_prints_agents_arms_and_features_as_read_and_creates_nothing(run, tmp_path):
    before = sorted(tmp_path.iterdir())
    done = run("create", "farm.db", "farm.csv", "--undirected", "--arms", "arms.csv", "--dry-run")
    for words in ("3: north, south, east", "3: straight, left, right", "2: yaw, pitch", "0.6"):
        assert words in done.out
    assert "would create 'default': Problem(n=3, m=6, K=3, d=2" in done.out
    assert sorted(tmp_path.iterdir()) == before


CREATE = ("farm.csv", "--undirected", "--arms", "arms.csv")


@pytest.mark.usefixtures("farm")
@pytest.mark.parametrize(
    "given",
    [
        ("farm.db",),
        ("new.db", "--name", " "),
        ("new.db", "--policy", "ExponentialWeights"),
        ("new.db", "--policy", "DiscountedOFUL"),
        ("mysql://host/farm",),
        ("sqlite:///:memory:",),
        ("missing/new.db",),
        ("arms.csv",),
        (".",),
        ("new.db", "--feedback", "links"),
    ],
)
def test_a_dry_run_refuses_what_create_refuses_in_the_same_words(refused, tmp_path, given):
    before = sorted(tmp_path.iterdir())
    url, *options = given
    words = refused("create", url, *CREATE, *options, "--dry-run")
    assert words == refused("create", url, *CREATE, *options)
    assert "`--" in words or "`URL`" in words or "Cannot use" in words
    if url != "new.db":
        assert sorted(tmp_path.iterdir()) == before


def test_a_dry_run_leaves_the_database_as_it_is(farm, tmp_path):
    (tmp_path / "empty.db").write_bytes(b"")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for url in ("farm.db", "empty.db", "new.db"):
        farm("create", url, *CREATE, "--name", "second", "--dry-run")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert farm("create", "farm.db", *CREATE, "--name", "second").out.startswith("created")


def test_a_dry_run_prints_types_weights_feedback_and_settings_as_understood(run, tmp_path):
    (tmp_path / "links.csv").write_text(
        "source,target,type,weight\nnorth,south,1,2.5\nsouth,east,0,0.5\neast,north,0,1\n"
    )
    given = "--links links.csv --feedback agent --policy JointOFUL --lam 3 --S 4"
    shown = run("create", "new.db", *CREATE, *given.split(), "--dry-run").out
    for words in (
        "2: 0 (4 edges), 1 (2 edges)",
        "from 0.5 to 2.5, 4 of 6 other than 1",
        "a number per agent, its edges' sum (3)",
        "JointOFUL",
        "sigma not given: estimated",
    ):
        assert words in shown
    found = dict(line.strip().split(maxsplit=1) for line in shown.splitlines() if "  " in line)
    assert found["lam"] == "3"
    assert found["delta"] == "0.001"
    assert found["starts"] == "5"


def test_far_rewards_are_told_with_a_warning(farm):
    farm("ask", "farm.db")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        done = farm("tell", "farm.db", 1, "-", stdin=rewards(1e9))
    assert done.err.startswith("gbb: warning: 6 of 6 rewards lie outside +-2.8")
    assert done.err.count("\n") == 1


def test_after_far_rewards_answers_carry_a_caveat(farm):
    farm("ask", "farm.db")
    assert json.loads(farm("recommend", "farm.db", "--format", "json").out)["caveat"] is None
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        farm("tell", "farm.db", 1, "-", stdin=rewards(1e9))
    for format in ("text", "csv", "json"):
        answer = farm("recommend", "farm.db", "--format", format)
        assert answer.err.startswith("gbb: warning: 1 round told rewards beyond +-2.8 (L S + 8 si")
        assert answer.err.count("\n") == 1
    data = json.loads(answer.out)
    assert answer.err == f"gbb: warning: {data['caveat']}\n"
    assert set(data) == {
        *("allocation", "reward", "low", "high"),
        *("upper_bound", "gap", "proven", "caveat"),
    }
    assert data["low"] <= data["reward"] <= data["high"] <= data["upper_bound"]
    assert data["upper_bound"] <= math.nextafter(6 * 2, 13)  # bounds are rounded up
    farm("retract", "farm.db", 1, "--reason", "wrong unit")
    assert farm("recommend", "farm.db").err == ""


@pytest.mark.parametrize("rewards", ["[N, 1, 1, 1, 1, 1]", '[["north", "south", N]]'])
def test_whole_numbers_beyond_all_floats_are_refused(farm, refused, tmp_path, rewards):
    farm("ask", "farm.db")
    (tmp_path / "r.json").write_text(rewards.replace("N", "9" * 400))
    assert "`REWARDS` to hold finite numbers only" in refused("tell", "farm.db", 1, "r.json")


def test_what_is_not_utf8_is_told_to_be_saved_so(farm, refused, tmp_path):
    farm("ask", "farm.db")
    text = rewards().replace("north", "n\xf6rd").encode("latin-1")
    (tmp_path / "r.csv").write_bytes(text)
    for source in ("r.csv", "-"):
        said = refused("tell", "farm.db", 1, source, stdin=text)
        assert f"Cannot read `REWARDS` '{source}': it is not text in UTF-8 (0xf6 on line 2)" in said
        assert "save it as UTF-8" in said


def test_two_columns_of_rewards_are_refused(farm, refused, tmp_path):
    farm("ask", "farm.db")
    (tmp_path / "r.csv").write_text("source,target,reward,reward\nnorth,south,1,2\n")
    assert "the column 'reward' twice" in refused("tell", "farm.db", 1, "r.csv")
    table = pd.DataFrame([["north", "south", 1, 2]], columns=["source", "target", *2 * ["reward"]])
    with (
        Controller.open(f"sqlite:///{tmp_path / 'farm.db'}") as controller,
        pytest.raises(InputError, match="`rewards` to have each column once, but got 'reward' tw"),
    ):
        controller.tell(1, table)


@pytest.mark.usefixtures("farm")
@pytest.mark.parametrize("setting", ["timeout=x", "timeout=1&timeout=2"])
def test_settings_of_a_url_that_cannot_be_read_are_refused(refused, setting):
    said = refused("status", f"sqlite:///farm.db?{setting}")
    assert "`URL` to name a file, with no options" in said


def test_a_told_typo_is_taken_back(farm, tmp_path):
    farm("ask", "farm.db")
    farm("tell", "farm.db", 1, "-", stdin=rewards(2.5))
    for _ in range(2):
        done = farm("retract", "farm.db", 1, "--reason", "a slip")
        assert done.out == "trial 1 is open again; 0 rounds told, 1 open\n"
    farm("tell", "farm.db", 1, "-", stdin=rewards(0.25, LINKS))
    kinds = [row["kind"] for row in rows(farm("history", "farm.db", "--format", "csv").out)]
    assert kinds == ["create", "ask", "tell", "retract", "tell"]
    assert "a slip" in farm("history", "farm.db", "--kind", "retract").out
    assert farm("export", "farm.db", "--out", "all.csv").out == "wrote all.csv\n"
    exported = rows((tmp_path / "all.csv").read_text())
    assert [row["reward"] for row in exported] == ["0.25"] * 3  # what counts, and no more
    assert farm("export", "farm.db", "--out", "new/all.json").out == "wrote new/all.json\n"
    assert len(json.loads((tmp_path / "new/all.json").read_text())) == 5
    assert farm("recommend", "farm.db", "--out", "best.csv").out == "wrote best.csv\n"
    assert len(rows((tmp_path / "best.csv").read_text())) == 3


def test_a_round_attached_twice_under_its_key_counts_once(farm, refused, tmp_path):
    (tmp_path / "plan.csv").write_text("agent,arm\nnorth,left\nsouth,left\neast,right\n")
    for _ in range(2):
        done = farm("attach", "farm.db", "plan.csv", "-", "--key", "may-1", stdin=rewards(0.5))
        assert done.out == "attached; 1 round told\n"
    text = refused("attach", "farm.db", "plan.csv", "-", "--key", "may-1", stdin=rewards(0.6))
    assert "already attached under `--key` 'may-1'" in text
    done = farm("attach", "farm.db", "plan.csv", "-", stdin=rewards(0.5))
    assert done.out == "attached; 2 rounds told\n"


def test_pinning_an_agent(farm):
    done = farm("forbid", "farm.db", "--agent", "north", "--arm", "left", "--pin")
    assert done.out == "2 pairs of agent and arm are forbidden\n"
    asked = rows(farm("ask", "farm.db", "--format", "csv").out)
    assert {row["agent"]: row["arm"] for row in asked}["north"] == "left"
    farm("forbid", "farm.db", "--agent", "north", "--allow")
    assert json.loads(farm("status", "farm.db", "--format", "json").out)["forbidden"] == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "S and sigma not given: estimated from what is told"),
        (["--S", "2"], "sigma not given: estimated from what is told"),
        (["--sigma", "0.2"], "S not given: estimated from what is told"),
        (["--policy", "PhasedExploration"], "assumed S = 1 and sigma = 1, not given"),
        (["--S", "2", "--sigma", "0.2"], None),
    ],
)
def test_create_says_what_it_assumes(run, options, said):
    lines = run("create", "new.db", "path:3", "--arms", "arms.csv", *options).out.splitlines()
    assert len(lines) == (1 if said is None else 2)
    assert said is None or lines[1].startswith(said)
    assert (
        said is None or "--S bounds the Frobenius norm of M*, --L the norms of edge-a" in lines[1]
    )


def test_status_says_what_was_estimated(run):
    run("create", "new.db", "farm.csv", "--undirected", "--arms", "arms.csv")
    assert re.search(r"estimated +nothing yet", run("status", "new.db").out)
    warned = run("recommend", "new.db").err
    assert "sigma and S are taken for 1 where they were not declared" in warned
    run("ask", "new.db")
    run("tell", "new.db", 1, "-", stdin=rewards())
    assert re.search(r"estimated: sigma at most +\d", run("status", "new.db").out)
    assert "Too few rewards were told to bound sigma" in run("recommend", "new.db").err


@pytest.mark.parametrize(
    ("args", "stdin", "message"),
    [
        ("ask no.db", "", "no file 'no.db'"),
        ("ask farm.db --format xml", "", "`--format` to be one of"),
        ("ask farm.db --name other", "", "`--name` to be one of 'default', but got 'other'"),
        ("ask farm.db --count 0", "", "`--count` to be a whole number >= 1"),
        ("ask farm.db --trial 7", "", "`--trial` to be open, but got 7"),
        ("tell farm.db 9 -", rewards(), "unknown trial 9"),
        ("tell farm.db 1", "", "exactly one of REWARDS, `--fail` and `--abandon`"),
        ("tell farm.db 1 - --fail", rewards(), "exactly one of REWARDS, `--fail`"),
        ("tell farm.db 1 missing.csv", "", "Cannot read `REWARDS` 'missing.csv': No such file"),
        ("tell farm.db 1 -", "", "it is no CSV"),
        ("tell farm.db 1 -", "a,b\n1,2\n", "columns source, target, reward, but got a, b"),
        ("tell farm.db 1 -", rewards("nan"), "finite numbers only, but got 'nan'"),
        ("tell farm.db 1 -", rewards("much"), "finite numbers only, but got 'much'"),
        ("tell farm.db 1 -", rewards(1, [("north", "west")]), "name an agent, but got 'west'"),
        ("tell farm.db 1 -", "[1, 2", "it is not JSON"),
        ("tell farm.db 1 -", '{"trial": 1}', "`REWARDS` to be JSON rows"),
        ("tell farm.db 1 -", "[1, 2, 3]", "Did you pass undirected edges"),
        (
            "tell farm.db 1 -",
            "source,target,reward\nnorth,south,0,5\n",
            "line 2 has 4 cells and line 1",
        ),
        (
            "tell farm.db 1 -",
            "source,target,reward\nnorth,south\n",
            "line 2 has 2 cells and line 1",
        ),
        ("tell farm.db 1 -", "source,target,reward,reward\na,b,1,2\n", "column 'reward' twice"),
        ("tell farm.db 1 -", '{"rewards": [1], "rewards": [2]}', "it has 'rewards' twice"),
        ("tell farm.db 1 -", "[true, 1, 1, 1, 1, 1]", "`REWARDS` to be JSON rows"),
        ("tell farm.db 1 -", '[["north", "south", true]]', "finite numbers only, but got True"),
        ("tell farm.db 1 -", '{"rewards": {"north": 1}}', "Write [[source, target, reward], ...]"),
        (
            "tell farm.db 1 -",
            "source,target,reward\n",
            "Use --fail or --abandon for a trial that gave nothing",
        ),
        (
            "tell farm.db 1 -",
            '[{"source": ["north"], "target": "south", "reward": 1}]',
            "a whole number >= 0 and <= 2, but got ['north']",
        ),
        ("tell farm.db 1 - --reason hello", rewards(), "`--reason` can only be combined with"),
        ("ask farm.db --trial 1 --count 3", "", "`--trial` and `--count` cannot be combined."),
        ("ask farm.db --trial 1 --count 1", "", "`--trial` and `--count` cannot be combined."),
        ("forbid farm.db --allow", "", "`--allow` needs `--agent`, `--arm` or `--all`"),
        ("forbid farm.db --arm left --all", "", "`--all` can only be combined with `--allow`."),
        (
            "attach farm.db - rewards.csv",
            "agent,arm\nnorth,left\nsouth,left\neast,left\nnorth,right\n",
            "`ALLOCATION` to name every agent once, but got 'north' twice",
        ),
        (
            "attach farm.db - rewards.csv",
            "trial,agent,arm\n1,north,left\n1,south,left\n2,east,left\n",
            "`ALLOCATION` to hold one round, but got trials 1 and 2",
        ),
        (
            "attach farm.db - rewards.csv",
            '{"north": "left", "south": "left", "east": "left", "north": "right"}',
            "it has 'north' twice",
        ),
        (
            "attach farm.db - rewards.csv",
            '{"north": true, "south": "left", "east": "left"}',
            "a name or number for every arm, but got True for 'north'",
        ),
        (
            "create other.db complete:3 --arms arms.csv --policy ExploreThenCommit",
            "",
            "`--horizon` to be a whole number >= 1, but got None. Say how many rounds are to come.",
        ),
        ("create other.db complete:3 --arms arms.csv --name \udcff", "", "UTF-8 can hold"),
        ("ask farm.db --name \udcff", "", "`--name` to be one of 'default'"),
        ("attach farm.db - arms.csv", "[1]", "`ALLOCATION` to be JSON like"),
        ("attach farm.db arms.csv -", rewards(), "columns agent, arm, but got arm, yaw, pitch"),
        ("forbid farm.db --agent north", "", "at least one `--arm`"),
        (
            "forbid farm.db --arm left --pin --allow",
            "",
            "`--pin` and `--allow` cannot be combined.",
        ),
        (
            "forbid farm.db --arm left --arm right --pin",
            "",
            "exactly one `--arm`, but got 2.",
        ),
        ("forbid farm.db --arm up", "", "`--arm` to be one of"),
        ("forbid farm.db --arm left --arm right --arm straight", "", "`forbid` to leave every age"),
        (
            "history farm.db --kind bogus",
            "",
            "`--kind` to be one of 'abandon', 'alert', 'allow', ",
        ),
        ("history farm.db --kind asks", "", "Did you mean 'ask'?"),
        ("retract farm.db 1", "", "`TRIAL` to be closed, but got trial 1, which is open"),
        ("retract farm.db 9", "", "unknown trial 9"),
        ("attach farm.db plan.csv - --key=", rewards(), "`--key` to be a text on one line"),
        ("recommend farm.db --out .csv/x.csv", "", "Cannot write `--out` '.csv/x.csv': Not a dir"),
        ("export farm.db --out folder.csv", "", "`--out` to name a file, but got the directory"),
        ("ask postgresql:/me:secret@host/db", "", "`URL` to be a database URL, but got 'postgresq"),
        ("export farm.db --out all.txt", "", "`--out` to end in .json or .csv or .jsonl"),
        ("history farm.db --out all", "", "`--out` to end in .json or .csv"),
        ("create farm.db complete:3 --arms arms.csv", "", "'default', which is there already"),
        ("create other.db complete:3 --arms no.csv", "", "'no.csv': No such file"),
        ("create other.db complete:3 --arms arms.csv --policy X", "", "policy` to be one of"),
        (
            "create other.db complete:3 --arms arms.csv --S -1",
            "",
            "S` to be a finite number >= 1e-100",
        ),
        ("create mysql://x complete:3 --arms arms.csv", "", "start with sqlite: or postgresql:"),
    ],
)
def test_mistakes_are_one_line(farm, refused, tmp_path, args, stdin, message):  # noqa: PLR0917
    farm("ask", "farm.db")
    (tmp_path / "plan.csv").write_text("agent,arm\nnorth,left\nsouth,left\neast,right\n")
    (tmp_path / "rewards.csv").write_text(rewards())
    (tmp_path / ".csv").write_text("a file where a folder would have to be")
    (tmp_path / "folder.csv").mkdir()
    before = sorted(path.name for path in tmp_path.iterdir())
    text = refused(*args.split(), stdin=stdin)
    assert message in text
    assert "secret" not in text
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert json.loads(farm("status", "farm.db", "--format", "json").out)["events"] == 2


def test_every_ban_is_lifted_when_it_is_said(farm):
    farm("forbid", "farm.db", "--agent", "north", "--arm", "left")
    farm("forbid", "farm.db", "--agent", "east", "--arm", "right")
    done = farm("forbid", "farm.db", "--allow", "--all")
    assert done.out == "0 pairs of agent and arm are forbidden\n"


def test_a_file_may_have_any_name(run, tmp_path):
    for name in ("what?.db", "100%25.db"):
        run("create", name, "path:3", "--arms", "arms.csv")
        run("ask", name)
        assert (tmp_path / name).exists()


KINDS = "source,target,type,weight\nnorth,south,1,2.5\nsouth,east,0,1\n"


def _create(run, *more, name="typed.db"):
    options = "--undirected --arms arms.csv --S 2 --sigma 0.1 --policy ThompsonSampling"
    return run("create", name, "farm.csv", *options.split(" "), *more)


def test_links_have_types_and_weights(run, tmp_path):
    (tmp_path / "kinds.csv").write_text(KINDS)
    done = _create(run, "--links", "kinds.csv")
    assert "types=2" in done.out
    with Controller.open("sqlite:///typed.db") as controller:
        problem = controller.problem
        edges = [tuple(problem.graph.label(int(i)) for i in edge) for edge in problem.graph.edges]
        first = [set(edge) == {"north", "south"} for edge in edges]
        assert problem.edge_types.tolist() == [int(each) for each in first]
        assert problem.edge_weights.tolist() == [2.5 if each else 1.0 for each in first]
    run("ask", "typed.db")
    run("tell", "typed.db", 1, "-", stdin="source,target,reward\nnorth,south,1.5\n")
    data = json.loads(run("estimate", "typed.db", "--format", "json").out)
    assert [each["edge_type"] for each in data] == [0, 1]
    assert [sum(map(sum, each["N"])) for each in data] == [0.0, 2.5**2]
    rows = list(csv.DictReader(io.StringIO(run("estimate", "typed.db", "--format", "csv").out)))
    assert len(rows) == 2 * 9
    assert {row["type"] for row in rows} == {"0", "1"}
    assert float(rows[4]["reward"]) == data[0]["table"][1][1]
    assert "straight" in run("estimate", "typed.db").out
    # Without --undirected a row is one direction.
    (tmp_path / "both.csv").write_text("source,target\nn,s\ns,n\n")
    (tmp_path / "one.csv").write_text("source,target,weight\nn,s,0\n")
    run("create", "one.db", "both.csv", "--arms", "arms.csv", "--links", "one.csv")
    with Controller.open("sqlite:///one.db") as controller:
        assert controller.problem.edge_weights.tolist() == [0.0, 1.0]


def test_links_that_cannot_be_read_are_one_line(refused, tmp_path):
    for text, message in [
        ("source,target\nnorth,south\n", "have a column type, a column weight or both"),
        ("from,up,type\nnorth,south,1\n", "have the columns source, target"),
        ("source,target,type\nnorth,up,1\n", "name an agent, but got 'up'"),
        ("source,target,type\nnorth,north,1\n", "on line 2 of 'bad.csv', which are not linked"),
        (
            "source,target,type\nnorth,south,1\nnorth,south,1\n",
            "('north', 'south') again on line 3 of 'bad.csv'",
        ),
        ("source,target,type\nnorth,south,1\nsouth,north,1\n", "stands for both directions"),
        ("source,target,type\nnorth,south,-1\n", "line 2, column 'type' holds '-1'"),
        ("source,target,type\nnorth,south,1.5\n", "is not a whole number from 0 to 999"),
        (
            "source,target,type\nnorth,south,1000000000\n",
            "'1000000000', which is not a whole number from 0 to 999",
        ),
        ("source,target,weight\nnorth,south,\n", "line 2, column 'weight' holds ''"),
        ("source,target,type\nnorth,south, \n", "write 0 for a link like most"),
        ("source,target,weight\nnorth,south,1_000\n", "'1_000', which is not a finite number"),
        ("source,target,weight\n", "it holds a header only"),
        ("source,target,type,wieght\nnorth,south,1,2\n", "Did you mean 'weight'?"),
        ("source,target,Types\nnorth,south,1\n", "Did you mean 'type'?"),
        ("source,target,weight\nnorth,south,inf\n", "is not a finite number"),
        ("source,target,weight\nnorth,south,0,5\n", "line 2 has 4 cells and line 1 has 3"),
        ("source,target,weight\nnorth,south,1e90\n", "`--links` to hold weights"),
    ]:
        (tmp_path / "bad.csv").write_text(text)
        err = _create(refused, "--links", "bad.csv")
        assert message in err, err
        assert "--links" in err
        assert not (tmp_path / "typed.db").exists()
    err = _create(refused, "--links", "none.csv")
    assert "Cannot read `--links` 'none.csv'" in err
    err = _create(refused, "--feedback", "pair")
    assert "--feedback" in err


def test_other_columns_of_links_and_graphs_are_left_out_with_a_warning(run, tmp_path):
    (tmp_path / "links.csv").write_text("source,target,km,weight\nnorth,south,5,2\n")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        said = _create(run, "--links", "links.csv").err
        assert (
            said
            == "gbb: warning: Left out 'km' of `--links` 'links.csv': only types and wei"
            + ("ghts are read.\n")
        )
        (tmp_path / "farm.csv").write_text("from,to,weight\nnorth,south,2\nsouth,east,3\n")
        said = _create(run, name="other.db").err
        assert "Left out 'weight', as a graph holds edges only" in said
        assert "`--links`" in said
        done = _create(run, "--links", "farm.csv", name="own.db")
        assert done.err == ""
        assert "weighted" in done.out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "forbid farm.db --agent North --arm left",
            "`--agent` to name an agent, but got 'North'. D",
        ),
        (
            "forbid farm.db --agent x --arm left",
            "but got 'x'. Agents are called 'north', 'south', 'east'.",
        ),
        ("forbid farm.db --agent north --arm LEFT", "but got 'LEFT'. Did you mean 'left'?"),
        (
            "tell farm.db 1 -",
            "`REWARDS` to have shape (6,), one per directed edge, but got (2,): [1",
        ),
        ("create z.db path:1 --arms arms.csv", "Expected `GRAPH` to have at least one edge"),
    ],
)
def test_errors_say_what_the_user_wrote_and_the_cure(farm, refused, given, said):
    farm("ask", "farm.db")
    assert said in refused(*given.split(), stdin="[1, 2]")


@pytest.mark.parametrize("header", ["source,target", "FROM,To", " u , v ", "Agent1,agent2"])
def test_headers_are_read_alike_in_all_files(run, tmp_path, header):
    farm = GRAPH.replace("source,target", header)
    (tmp_path / "farm.csv").write_text(farm)
    (tmp_path / "links.csv").write_text(farm.replace("\n", ",2\n").replace(",2", ",Weight", 1))
    _create(run, "--links", "links.csv")
    with Controller.open("sqlite:///typed.db") as controller:
        assert set(controller.problem.edge_weights) == {2.0}
    run("ask", "typed.db")
    run("tell", "typed.db", 1, "-", stdin=rewards(0.5).replace("source,target", header))
    plan = "AGENT,Arm\nnorth,left\nsouth,left\neast,right\n"
    (tmp_path / "plan.csv").write_text(plan)
    done = run("attach", "typed.db", "plan.csv", "-", stdin=rewards().replace("reward", "Reward"))
    assert done.out == "attached; 2 rounds told\n"


def test_rewards_per_agent_from_the_shell(run, refused, tmp_path):
    _create(run, "--feedback", "agent")
    run("ask", "typed.db", "--count", 4)
    run("tell", "typed.db", 1, "-", stdin="agent,reward\nnorth,1.5\neast,0.25\n")
    run("tell", "typed.db", 1, "-", stdin='{"rewards": {"east": 0.25, "north": 1.5}}')
    run("tell", "typed.db", 2, "-", stdin="[0.5, 1, 1.5]")
    run("tell", "typed.db", 3, "-", stdin='[["south", 2]]')
    err = refused("tell", "typed.db", 4, "-", stdin="source,target,reward\nnorth,south,1\n")
    assert "have the columns agent, reward" in err
    err = refused("tell", "typed.db", 4, "-", stdin="agent,value\nnorth,1\n")
    assert "have the columns agent, reward" in err
    err = refused("tell", "typed.db", 4, "-", stdin='[["north", "south", 1]]')
    assert "Write [[agent, reward], ...]" in err
    plan = json.dumps({"north": "left", "south": "left", "east": "right"})
    (tmp_path / "plan.json").write_text(plan)
    run("attach", "typed.db", "plan.json", "-", "--key", "a", stdin="agent,reward\nnorth,1\n")
    run("export", "typed.db", "--out", "all.csv")
    rows = list(csv.DictReader((tmp_path / "all.csv").read_text().splitlines()))
    paid = [row for row in rows if row["reward"]]
    assert [(row["agent"], row["reward"]) for row in paid][:2] == [
        ("north", "1.5"),
        ("east", "0.25"),
    ]
    assert (paid[-1]["agent"], paid[-1]["arm"]) == ("north", "left")
    assert len(paid) == 2 + 3 + 1 + 1
    assert len(rows) == 4 * 3  # every arm: an agent's reward depends on its neighbours'
    assert json.loads(run("estimate", "typed.db", "--format", "json").out)[0]["N"] is None
    facts = json.loads(run("status", "typed.db", "--format", "json").out)
    assert (facts["feedback"], facts["rounds"]) == ("agent", 4)
    assert run("recommend", "typed.db", "--format", "json").out


def test_one_reward_in_all_from_the_shell(run, refused, tmp_path):
    _create(run, "--feedback", "global")
    for trial, text in enumerate(("2.5\n", "[2.5]", '{"rewards": 2.5}', "reward\n2.5\n"), start=1):
        run("ask", "typed.db")
        run("tell", "typed.db", trial, "-", stdin=text)
        run("tell", "typed.db", trial, "-", stdin="2.5")
    run("ask", "typed.db")
    assert "be one number" in refused("tell", "typed.db", 5, "-", stdin='{"rewards": {"north": 1}}')
    assert "finite" in refused("tell", "typed.db", 5, "-", stdin="nan")
    run("export", "typed.db", "--out", "all.csv")
    rows = list(csv.DictReader((tmp_path / "all.csv").read_text().splitlines()))
    assert [row["reward"] for row in rows] == ["2.5"] * 4
    assert set(json.loads(rows[0]["allocation"])) == {"north", "south", "east"}


def test_a_policy_is_named_with_its_settings(run, refused):
    named = "jointoful:starts=2,lam=3"
    shown = run("create", "one.db", *CREATE, "--policy", named, "--delta", "0.2").out
    assert shown.startswith("created 'default'")
    with Controller.open("sqlite:///one.db") as controller:
        policy = controller.policy
        assert (policy.name, policy.starts, policy.lam, policy.delta) == ("JointOFUL", 2, 3.0, 0.2)
    told = refused("create", "two.db", *CREATE, "--policy", "UniformRandom:lam=3")
    assert "UniformRandom has no setting 'lam'; it has none." in told
    told = refused("create", "two.db", *CREATE, "--policy", "OFUL:lan=3")
    assert "OFUL has no setting 'lan'; it has cut, delta, lam, radius. Did you mean 'lam'?" in told


def test_a_policy_has_its_own_radius_and_no_settings_of_others(run, refused):
    options = ["farm.csv", "--undirected", "--arms", "arms.csv"]
    run("create", "one.db", *options, "--policy", "JointOFUL")
    with Controller.open("sqlite:///one.db") as controller:
        assert controller.policy.radius == "default"
    run("create", "two.db", *options)
    with Controller.open("sqlite:///two.db") as controller:
        assert controller.policy.radius == "paper"
    told = refused("create", "three.db", *options, "--policy", "UniformRandom", "--delta", "0.1")
    assert "`--delta` is no setting of UniformRandom" in told
    assert not Path("three.db").exists()


def test_attached_rounds_are_retracted_from_the_shell(farm, refused, tmp_path):
    (tmp_path / "plan.csv").write_text("agent,arm\nnorth,left\nsouth,left\neast,right\n")
    (tmp_path / "rewards.csv").write_text(rewards())
    for _ in range(2):  # the key may be attached anew
        farm("attach", "farm.db", "plan.csv", "rewards.csv", "--key", "monday")
        done = farm("retract", "farm.db", "--key", "monday", "--reason", "typo")
        assert done.out == "the attached round is taken back; 0 rounds told, 0 open\n"
    farm("attach", "farm.db", "plan.csv", "rewards.csv")
    number = json.loads(farm("history", "farm.db", "--kind", "attach", "--format", "json").out)[-1]
    assert "0 rounds told" in farm("retract", "farm.db", "--event", number["seq"]).out
    assert "`--key` to be that of an attached round" in refused("retract", "farm.db", "--key", "x")
    assert "exactly one of `TRIAL`, `--key` and `--event`" in refused("retract", "farm.db")


def test_a_trial_times_out_from_the_shell(farm, refused):
    farm("ask", "farm.db", "--timeout", "0.001")
    farm("ask", "farm.db")
    told = refused("tell", "farm.db", "1", "-", stdin=rewards())
    assert "trial 1, which timed out after 0.001 s. Retract it first, then tell it." in told
    assert farm("retract", "farm.db", "1").out.startswith("trial 1 is open again")
    farm("tell", "farm.db", "1", "-", stdin=rewards())
    assert "`--timeout` to be a finite number > 0" in refused("ask", "farm.db", "--timeout", "0")
    both = refused("ask", "farm.db", "--trial", "2", "--timeout", "5")
    assert "`--trial` and `--timeout` cannot be combined" in both


def test_watch_has_the_exit_codes_of_monitoring_systems(farm):
    assert farm("watch", "farm.db").out == "ok: no alerts; 0 rounds told\n"
    farm("ask", "farm.db")
    late = farm("watch", "farm.db", "--stale", "0", "--once", code=1)
    assert re.fullmatch(
        r"warning: stale since [-\d]+ [:\d]+: Trial 1 not told for too.*\n", late.out
    )
    shown = json.loads(farm("status", "farm.db", "--format", "json").out)["alerts"]
    assert [alert["kind"] for alert in shown] == ["stale"]
    assert "warning: stale since" in farm("status", "farm.db").out
    with Controller.open("sqlite:///farm.db") as controller, controller._log.write() as turn:
        settle(turn, {"drift": "The world has changed."})
    lines = farm("watch", "farm.db", code=2).out.splitlines()
    assert [line.split(" since")[0] for line in lines] == ["critical: drift", "warning: stale"]
    for wrong in (
        ["watch", "nowhere.db"],
        ["watch", "farm.db", "--stale", "-1"],
        ["watch", "farm.db", "--stale", "soon"],
        ["watch", "farm.db", "--every", "0"],
        ["watch", "farm.db", "--every", "1", "--once"],
        ["watch"],
    ):
        outcome = farm(*wrong, code=3)
        assert outcome.out == ""
        assert outcome.err.startswith("gbb: error: ")
        assert outcome.err.count("\n") == 1


def test_watch_goes_on_and_prints_what_begins_and_ends(farm, monkeypatch):
    farm("ask", "farm.db")
    steps = iter([lambda: None, lambda: Controller.open("sqlite:///farm.db").fail(1)])

    def sleep(_seconds):
        step = next(steps, None)
        if step is None:
            raise KeyboardInterrupt
        step()

    monkeypatch.setattr("gbb._cli.control.watch.time.sleep", sleep)
    done = farm("watch", "farm.db", "--every", "9", "--stale", "0", code=130)
    began, ended = done.out.splitlines()
    assert began.startswith("warning: stale since")
    assert ended == "ok: stale has ended"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            "north,south,much",
            "but got 'much' for ('north', 'south') on line 3 of 'r.csv'. Leave the",
        ),
        ('north,south,"0,9"', "on line 3 of 'r.csv'. Write 0.9, with a point."),
        (
            "north,south,0,9",
            "line 3 has 4 cells and line 1 has 3; write numbers with a point: 0.5.",
        ),
        (
            "north,nroth,1",
            "`REWARDS` on line 3 of 'r.csv' to name an agent, but got 'nroth'. Did you",
        ),
        ("north,kitchen,1", "but got 'kitchen'. Agents are called 'north', 'south', 'east'."),
        ("east,south,1", "no link twice, but got ('east', 'south') again on line 3 of 'r.csv'."),
        ("east,east,1", "but got ('east', 'east') on line 3 of 'r.csv', which are not linked."),
    ],
)
def test_what_is_wrong_with_rewards_is_found_in_the_file(farm, refused, tmp_path, row, said):
    farm("ask", "farm.db")
    (tmp_path / "r.csv").write_text(f"source,target,reward\neast,south,1\n{row}\n")
    assert said in refused("tell", "farm.db", 1, "r.csv")


def test_a_blank_cell_is_a_missing_reward(farm, refused):
    farm("ask", "farm.db", "--count", 2)
    farm("tell", "farm.db", 1, "-", stdin="source,target,reward\nnorth,south,\nsouth,north,1\n")
    farm("tell", "farm.db", 1, "-", stdin='[["north", "south", null], ["south", "north", 1]]')
    said = refused("tell", "farm.db", 2, "-", stdin="source,target,reward\nnorth,south,\n")
    assert "hold at least one reward, but got none. Use --fail or --abandon" in said


@pytest.mark.usefixtures("farm")
def test_an_unknown_agent_of_an_allocation_is_found_in_it(refused):
    said = refused("predict", "farm.db", "north=left,south=left,kitchen=left")
    assert "`ALLOCATION` to name an agent, but got 'kitchen'. Agents are called" in said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "tell farm.db r.csv 2",
            "Expected `TRIAL` to be a whole number, but got 'r.csv'. The order ",
        ),
        ("tell farm.db r.csv 2", " The order is URL TRIAL [REWARDS]."),
        ("tell farm.db 1 -", "take it back with `gbb control retract URL 1` first."),
        (
            "create x.db farm.csv --undirected",
            "Missing option '--arms': the arms, a CSV with names",
        ),
        (
            "create farm.db farm.csv --undirected --arms arms.csv",
            "Use it as it is, or give another --n",
        ),
        ("create x.db one.csv --arms arms.csv", "columns source and target, but got name."),
        (
            "create x.db words.csv --undirected --arms arms.csv",
            "the columns source and target, but got name,neighbour.",
        ),
        (
            "create x.db farm.csv --undirected --arms twice.csv",
            "line 4 names the arm 'a', as line 2 d",
        ),
        ("create x.db farm.csv --undirected --arms ch.csv", "head the names with the word arm"),
        (
            "create x.db farm.csv --undirected --arms bad.csv",
            "`--arms` 'bad.csv' to hold finite num",
        ),
    ],
)
def test_a_new_users_mistakes_have_a_cure(farm, refused, tmp_path, given, said):
    for name, text in {
        "one.csv": "name\nnorth\n",
        "words.csv": "name,neighbour\nnorth,south\nsouth,east\n",
        "twice.csv": "arm,x\na,1\nb,2\na,3\n",
        "ch.csv": "channel\nch1\nch2\n",
        "bad.csv": "arm,x\na,1\nb,up\n",
    }.items():
        (tmp_path / name).write_text(text)
    farm("ask", "farm.db")
    farm("tell", "farm.db", 1, "-", stdin=rewards())
    assert said in refused(*given.split(), stdin=rewards(2.0))


def test_arms_that_have_names_only_are_one_hot(run, tmp_path):
    (tmp_path / "channels.csv").write_text("arm\nch1\nch2\nch3\n")
    done = run("create", "x.db", "farm.csv", "--undirected", "--arms", "channels.csv")
    assert "the arms have names only: one-hot, d = 3\n" in done.out
    with Controller.open("sqlite:///x.db") as controller:
        assert controller.problem.arms.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        assert controller.problem.arm_names == ("ch1", "ch2", "ch3")


def test_a_file_says_where_agents_stand(run, refused, tmp_path):
    file = tmp_path / "places.csv"
    args = [
        "create",
        "x.db",
        "farm.csv",
        "--undirected",
        "--arms",
        "arms.csv",
        "--positions",
        "places.csv",
    ]
    for text, said in {
        "agent,x\nnorth,1\n": "have the columns agent, x, y",
        "agent,x,y\nnorth,1,2\nwest,1,2\n": "`--positions` on line 3 of 'places.csv' to name an a",
        "agent,x,y\nnorth,1,2\nnorth,1,2\n": "no agent twice, but got 'north' again on line 3 of",
        "agent,x,y\nnorth,1,2\n": "a row for each agent, but got none for 'south' in 'places.csv'",
        "agent,x,y\neast,0,0\nnorth,1,2\nsouth,1,\n": "line 4 holds '', which is not a finite",
    }.items():
        file.write_text(text)
        assert said in refused(*args)
    file.write_text("agent,x,y\neast,0,0.5\nnorth,1,2\nsouth,1,-3\n")
    run(*args)
    with Controller.open("sqlite:///x.db") as controller:
        graph = controller.problem.graph
        assert graph.names == ("north", "south", "east")
        assert graph.positions.tolist() == [[1.0, 2.0], [1.0, -3.0], [0.0, 0.5]]
    (tmp_path / "farm.csv").write_text("source,target,x\nnorth,south,2\nsouth,east,3\n")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert "a file of their own, `--positions`" in run("create", "y.db", *args[2:]).err


def test_numbers_and_words_of_the_shell_agree(farm):
    farm("ask", "farm.db")
    assert "; 1 round told, 0 open" in farm("tell", "farm.db", 1, "-", stdin=rewards()).out
    assert re.search(r"edge_rewards\s+6\s", farm("status", "farm.db").out)
