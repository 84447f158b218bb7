"""``gbb control``: a network driven from the shell, by CSV and JSON; errors on one line."""

import csv
import io
import json
import warnings
from pathlib import Path

import pytest

from gbb._cli.control_answers import FIELDS
from gbb.cli import main

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
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
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
    assert told.out == "trial 1 is closed; 1 rounds told, 0 open\n"
    (tmp_path / "rewards.csv").write_text(rewards(0.7, LINKS))
    options = "--arms arms.csv --name second --policy uniformrandom"
    farm("create", "farm.db", "complete:4", *options.split(" "))
    assert "agents" in farm("status", "farm.db", "--name", "second").out
    assert "1" in farm("ask", "farm.db", "--name", "second").out


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
    assert set(data) == set(FIELDS)
    assert data["low"] <= data["reward"] <= data["high"] <= data["upper_bound"] <= 6 * 2
    farm("retract", "farm.db", 1, "--reason", "wrong unit")
    assert farm("recommend", "farm.db").err == ""


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
        assert done.out == "attached; 1 rounds told\n"
    text = refused("attach", "farm.db", "plan.csv", "-", "--key", "may-1", stdin=rewards(0.6))
    assert "attached as `--key` 'may-1' to be what was attached before" in text
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
        ([], "assumed S = 1 and sigma = 1, as not given"),
        (["--S", "2"], "assumed sigma = 1, as not given"),
        (["--sigma", "0.2"], "assumed S = 1, as not given"),
        (["--S", "2", "--sigma", "0.2"], None),
    ],
)
def test_create_says_what_it_assumes(run, options, said):
    lines = run("create", "new.db", "path:3", "--arms", "arms.csv", *options).out.splitlines()
    assert len(lines) == (1 if said is None else 2)
    assert said is None or lines[1].startswith(said)


def test_the_lines_of_the_readme_work_as_written(run, tmp_path):
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    lines = [line.split() for line in text.splitlines() if line.startswith("gbb control ")]
    assert [line[2] for line in lines] == ["create", "ask", "tell", "recommend"]
    (tmp_path / "links.csv").write_text(GRAPH)
    (tmp_path / "settings.csv").write_text(ARMS)
    (tmp_path / "rewards.csv").write_text(rewards(0.5))
    for line in lines:
        done = run(*line[2:])
        assert done.err == ""
        assert "assumed" not in done.out


@pytest.mark.parametrize(
    ("args", "stdin", "message"),
    [
        ("ask no.db", "", "no file 'no.db'"),
        ("ask farm.db --format xml", "", "`--format` to be one of"),
        ("ask farm.db --name other", "", "`name` to be one of 'default', but got 'other'"),
        ("ask farm.db --count 0", "", "`count` to be a whole number >= 1"),
        ("ask farm.db --trial 7", "", "`trial` to be open, but got 7"),
        ("tell farm.db 9 -", rewards(), "unknown trial 9"),
        ("tell farm.db 1", "", "one of REWARDS, --fail and --abandon"),
        ("tell farm.db 1 - --fail", rewards(), "one of REWARDS, --fail and --abandon"),
        ("tell farm.db 1 missing.csv", "", "Cannot read `REWARDS` 'missing.csv': No such file"),
        ("tell farm.db 1 -", "", "it is no CSV"),
        ("tell farm.db 1 -", "a,b\n1,2\n", "columns source, target, reward, but got a, b"),
        ("tell farm.db 1 -", rewards("nan"), "finite numbers only, but got 'nan'"),
        ("tell farm.db 1 -", rewards("much"), "finite numbers only, but got 'much'"),
        ("tell farm.db 1 -", rewards(1, [("north", "west")]), "name an agent, but got 'west'"),
        ("tell farm.db 1 -", "[1, 2", "it is no JSON"),
        ("tell farm.db 1 -", '{"trial": 1}', "`REWARDS` to be JSON rows"),
        ("tell farm.db 1 -", "[1, 2, 3]", "Did you pass undirected edges"),
        ("attach farm.db - arms.csv", "[1]", "`ALLOCATION` to be JSON like"),
        ("attach farm.db arms.csv -", rewards(), "columns agent, arm, but got arm, yaw, pitch"),
        ("forbid farm.db --agent north", "", "`--arm` to be given"),
        ("forbid farm.db --arm left --pin --allow", "", "one of --pin and --allow, but got both"),
        ("forbid farm.db --arm left --arm right --pin", "", "be one arm with --pin"),
        ("forbid farm.db --arm up", "", "`arm` to be one of"),
        ("forbid farm.db --arm left --arm right --arm straight", "", "`forbid` to leave every age"),
        ("history farm.db --kind bogus", "", "`--kind` to be one of 'abandon', 'allow', 'ask', 'a"),
        ("history farm.db --kind asks", "", "Did you mean 'ask'?"),
        ("retract farm.db 1", "", "`trial` to be closed, but got trial 1, which is open"),
        ("retract farm.db 9", "", "unknown trial 9"),
        ("attach farm.db plan.csv - --key=", rewards(), "`--key` to be a text that is not empty"),
        ("recommend farm.db --out .csv/x.csv", "", "Cannot write `--out` '.csv/x.csv': Not a dir"),
        ("export farm.db --out folder.csv", "", "`--out` to name a file, but got the directory"),
        ("ask postgresql:/me:secret@host/db", "", "`url` to be a database URL, but got 'postgresq"),
        ("export farm.db --out all.txt", "", "`--out` to end in .json or .csv"),
        ("history farm.db --out all", "", "`--out` to end in .json or .csv"),
        ("create farm.db complete:3 --arms arms.csv", "", "'default', which is there already"),
        ("create other.db complete:3 --arms no.csv", "", "'no.csv': No such file"),
        ("create other.db complete:3 --arms arms.csv --policy X", "", "policy` to be one of"),
        ("create other.db complete:3 --arms arms.csv --S -1", "", "S` to be a finite number > 0"),
        ("create mysql://x complete:3 --arms arms.csv", "", "start with sqlite: or postgresql:"),
    ],
)
def test_mistakes_are_one_line(farm, refused, tmp_path, args, stdin, message):  # noqa: PLR0917
    farm("ask", "farm.db")
    (tmp_path / "plan.csv").write_text("agent,arm\nnorth,left\nsouth,left\neast,right\n")
    (tmp_path / ".csv").write_text("a file where a folder would have to be")
    (tmp_path / "folder.csv").mkdir()
    before = sorted(path.name for path in tmp_path.iterdir())
    text = refused(*args.split(), stdin=stdin)
    assert message in text
    assert "secret" not in text
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert json.loads(farm("status", "farm.db", "--format", "json").out)["events"] == 2
