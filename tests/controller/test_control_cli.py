"""``gbb control``: a network driven from the shell, by CSV and JSON; errors on one line."""

import csv
import io
import json
import warnings

import pytest

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
    before = sorted(path.name for path in tmp_path.iterdir())
    assert message in refused(*args.split(), stdin=stdin)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert json.loads(farm("status", "farm.db", "--format", "json").out)["events"] == 2
