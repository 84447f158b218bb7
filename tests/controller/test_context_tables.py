"""Contexts in tables of rounds, and in the shell: by names, and refused on one line."""

import json

import numpy as np
import pandas as pd
import pytest

import gbb
from control import context_for, drive, environment, plain, small, url_of
from gbb.cli import main
from gbb.controller import Controller


def fed(folder, kind, feedback="edge", rounds=6):
    folder.mkdir(exist_ok=True)
    problem = small(named=True, contexts=kind, feedback=feedback)
    controller = Controller.create(url_of(folder), problem, "ThompsonSampling", 1)
    drive(controller, environment(problem), np.random.default_rng(0), rounds)
    return controller


@pytest.mark.parametrize(
    ("kind", "feedback"),
    [("regimes", "edge"), ("vector", "edge"), ("vector", "agent"), ("regimes", "global")],
)
def test_what_is_exported_is_imported_bit_for_bit(kind, feedback, tmp_path):
    controller = fed(tmp_path / "one", kind, feedback)
    problem = controller.problem
    last = controller.ask(context_for(problem, 3))
    some = {"edge": {("cell-0", "cell-1"): 0.1}, "agent": {"cell-2": 1 / 3}, "global": 2 / 7}
    controller.tell(last, some[feedback])
    known = context_for(problem, 4)
    controller.attach(last.arms, np.ones(problem.observations), context=known, key="k")
    table = controller.export_rounds()
    path = tmp_path / "rounds.csv"
    table.to_csv(path, index=False)
    other = fed(tmp_path / "two", kind, feedback, rounds=0)
    dry = other.import_rounds(path, dry_run=True)
    assert (dry.new, other._log.refresh().seq) == (8, 1)
    assert other.import_rounds(path).new == 8
    ours, theirs = controller._log.state, other._log.state
    assert plain(ours.record) == plain(theirs.record)
    asked = [each.content["context"] for each in controller.history("ask")]
    back = [each.content["context"] for each in other.history("attach")]
    assert back[:-1] == asked
    assert other.import_rounds(path).new == 0  # and once
    assert controller.import_rounds(path).new == 0
    again, left = other.export_rounds(), ["key", "trial", "time"]
    assert again.drop(columns=left).equals(table.drop(columns=left))


def table(**changes):
    """Two rounds in wide form, with changes to some columns."""
    agents = {f"cell-{i}": ["tilt-0", "tilt-1"] for i in range(4)}
    links = {"cell-0->cell-1": [0.5, 0.25], "cell-1->cell-0": [1.0, ""]}
    frame = {"key": ["a", "b"], "context": ["day", "night"], **agents, **links, **changes}
    return pd.DataFrame({name: cells for name, cells in frame.items() if cells is not None})


def test_rounds_in_wide_form_have_contexts(tmp_path):
    controller = fed(tmp_path, "regimes", rounds=0)
    found = controller.import_rounds(table())
    assert (found.rounds, found.first["context"]) == (2, "day")
    assert controller._log.state.record.N.sum((1, 2)).tolist() == [2, 1]
    with pytest.raises(gbb.InputError, match="another round under the key 'b'"):
        controller.import_rounds(table(context=["day", "day"]))


LONG = {
    "key": ["a", "a"],
    "source": ["cell-0", "cell-1"],
    "source_arm": ["tilt-0", "tilt-1"],
    "target": ["cell-1", "cell-0"],
    "target_arm": ["tilt-1", "tilt-0"],
    "reward": [1.0, 2.0],
}


@pytest.mark.parametrize(
    ("kind", "frame", "said"),
    [
        ("regimes", table(context=None), "it has no column 'context'"),
        ("regimes", table(context=["day", "dusk"]), "row 2 has no context: .* but got 'dusk'"),
        ("regimes", table(context=["day", ""]), "row 2 has no 'context'"),
        ("vector", table(), "it has no column 'context wind'"),
        ("vector", table(**{"context wind": [1, 2], "context load": [0, 0]}), "row 2 has no cont"),
        ("vector", table(**{"context wind": [1, ""], "context load": [0, 0]}), "row 2 has no 'con"),
        ("vector", table(**{"context wind": ["x", 1], "context load": [0, 0]}), "finite number"),
        ("edge types", table(), "contexts that fit into a few cells: regimes, or a vector"),
        (
            "regimes",
            pd.DataFrame({**LONG, "context": ["day", "night"]}),
            "row 2 has another context than line 1, the same round",
        ),
    ],
)
def test_tables_with_bad_contexts_are_refused_and_nothing_is_kept(kind, frame, said, tmp_path):
    controller = fed(tmp_path, kind, rounds=0)
    for dry_run in (True, False):
        with pytest.raises(gbb.InputError, match=said) as error:
            controller.import_rounds(frame, dry_run=dry_run)
        assert "\n" not in str(error.value)
    assert controller._log.refresh().seq == 1


def test_contexts_of_edges_are_not_exported_as_a_table(tmp_path):
    controller = fed(tmp_path, "edge types", rounds=1)
    with pytest.raises(gbb.InputError, match=r"A backup \(\.jsonl\) holds everything"):
        controller.export_rounds()
    controller.backup(tmp_path / "all.jsonl")
    gbb.controller.restore(tmp_path / "all.jsonl", f"sqlite:///{tmp_path / 'again.db'}")
    with Controller.open(f"sqlite:///{tmp_path / 'again.db'}") as again:
        assert plain(again._log.state.record) == plain(controller._log.state.record)


FILES = {
    "farm.csv": "source,target\nwest,north\nnorth,east\neast,west\n",
    "arms.csv": "arm,cos,sin\nstraight,1,0\nleft,0.8,0.6\n",
    "regimes.csv": "regime\ncalm\nstorm\n",
    "numbers.csv": "number,max_size\nwind,2\nload,2\n",
    "types.csv": "type,symmetric\nnear,yes\nfar,yes\n",
    "features.csv": "feature,max_size\nslope,1\nwidth,1\n",
    "rewards.csv": "source,target,reward\nwest,north,0.7\nnorth,west,0.6\n",
    "plan.csv": "agent,arm\nwest,left\nnorth,left\neast,straight\n",
    "now.csv": "source,target,type,weight\nwest,north,near,1\nnorth,east,far,0.5\neast,west,,1\n",
    "winds.csv": "wind,load\n1.5,0\n-1,0.5\n",
}


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    """Run ``gbb control`` in a folder with some files: its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)

    def run(command, *more):
        with pytest.raises(SystemExit) as stop:
            main(["control", *command.split(), *more])
        said = capsys.readouterr()
        code = stop.value.code or 0
        assert (said.err.count("\n") == 1) == (code == 2), said.err
        return code, said.out if code == 0 else said.err

    return run


CREATE = "create x.db farm.csv --undirected --arms arms.csv --sigma 0.2 --S 2 --policy JointOFUL"


def test_a_controller_by_regimes_from_the_shell(shell, tmp_path):
    code, said = shell(f"{CREATE} --contexts regimes.csv --dry-run")
    assert (code, (tmp_path / "x.db").exists()) == (0, False)
    assert "regimes, 2: calm, storm" in said
    assert shell(f"{CREATE} --contexts regimes.csv")[0] == 0
    code, said = shell("ask x.db --context calm --format json")
    assert json.loads(said)["context"] == "calm"
    assert shell("tell x.db 1 rewards.csv")[0] == 0
    assert shell("attach x.db plan.csv rewards.csv --context storm --key k")[0] == 0
    assert json.loads(shell("recommend x.db --context storm --format json")[1])["proven"]
    assert shell("predict x.db plan.csv --context calm")[0] == 0
    assert "at calm: " in shell("history x.db")[1]
    assert "storm" in shell("estimate x.db --format csv")[1].splitlines()[-1]
    assert shell("table x.db --csv table.csv") == (0, "wrote table.csv\n")
    lines = (tmp_path / "table.csv").read_text().splitlines()
    assert lines[0] == "context,west,north,east,reward,low,high,proven"
    assert [line.split(",")[0] for line in lines[1:]] == ["calm", "storm"]
    assert shell("table x.db --contexts table.csv --format csv")[1].splitlines() == lines
    assert shell("export x.db --out rounds.csv")[0] == 0
    assert shell(f"{CREATE.replace('x.db', 'y.db')} --contexts regimes.csv")[0] == 0
    code, said = shell("import y.db rounds.csv")
    assert "its context" in said
    assert shell("table y.db --format csv")[1].splitlines() == lines
    seq = Controller.open("sqlite:///x.db").status()["events"]
    for wrong, why in [
        ("ask x.db", "`--context` to be one of 'calm', 'storm', but got None"),
        ("ask x.db --context clam", "Did you mean 'calm'?"),
        ("ask x.db --context 7", "one of 'calm', 'storm'"),
        ("ask x.db --trial 1 --context calm", "cannot be combined"),
        ("recommend x.db", "`--context`"),
        ("predict x.db plan.csv", "`--context`"),
        ("attach x.db plan.csv rewards.csv --context gale", "`--context`"),
        ("table x.db --contexts rewards.csv", "have a column regime"),
        ("table x.db --csv table.txt", ".csv"),
    ]:
        code, said = shell(wrong)
        assert code == 2
        assert why in said
    (tmp_path / "list.csv").write_text("regime\ncalm\ngale\n")
    assert "Context 2: " in shell("table x.db --contexts list.csv --csv table.csv")[1]
    assert (tmp_path / "table.csv").read_text().splitlines() == lines  # the old one, whole
    assert Controller.open("sqlite:///x.db").status()["events"] == seq


def test_a_controller_by_numbers_from_the_shell(shell):
    assert shell(f"{CREATE} --contexts numbers.csv")[0] == 0
    for odd, why in (("[0.5, true]", "got True"), ('["0.5", 1]', "got '0.5'")):
        code, said = shell("ask x.db --context", odd)
        assert code == 2
        assert f"`--context` to hold numbers, but {why}" in said
    assert Controller.open("sqlite:///x.db").problem.contexts.max_size == 2.0
    for given in ("wind=0.3,load=0.7", "load=0.7, wind=0.3", "0.3,0.7", '{"wind":0.3,"load":0.7}'):
        code, said = shell("ask x.db --format json --context", given)
        assert json.loads(said)["context"] == {"wind": 0.3, "load": 0.7}
    assert "at wind=0.3, load=0.7: " in shell("history x.db")[1]
    said = shell("table x.db --contexts winds.csv --format csv")[1].splitlines()
    assert said[0].startswith("context wind,context load,west")
    assert said[1].startswith("1.5,0.0,")
    for given, why in [
        ("wind=0.3", "have all of wind, load, but got no load"),
        ("0.3", "have 2 numbers (wind, load)"),
        ("wind=0.3,0.7", "NAME=NUMBER"),
        ("wind=nan,load=1", "`--context wind` to be a finite number"),
        ("wind=3,load=1", "at most 2 in size, but got 3"),
        ("wind=1,wind=2", "'wind' twice"),
        ("wind=1,laod=2", "Did you mean 'load'?"),
        ("{", "JSON"),
    ]:
        code, said = shell("ask x.db --context", given)
        assert code == 2
        assert why in said
    assert "be given for contexts of kind vector" in shell("table x.db")[1]
    assert Controller.open("sqlite:///x.db").status()["trials"] == 4


def test_contexts_of_edges_from_the_shell(shell, tmp_path):
    assert shell(f"{CREATE} --contexts types.csv")[0] == 0
    said = shell("ask x.db --context now.csv --format json")[1]
    found = json.loads(said)["context"]
    problem = Controller.open("sqlite:///x.db").problem
    row = problem.contexts.read(problem.graph, tuple(found)).reshape(2, -1)
    ends = [tuple(map(problem.graph.label, edge)) for edge in problem.graph.edges.tolist()]
    assert row[:, ends.index(("east", "north"))].tolist() == [1.0, 0.5]
    assert row[:, ends.index(("west", "east"))].tolist() == [-1.0, 0.0]
    now = FILES["now.csv"]
    (tmp_path / "few.csv").write_text(now.replace("east,west,,1\n", ""))
    (tmp_path / "odd.csv").write_text(now.replace("far", "afar"))
    rows = now.splitlines()
    each = [f"context,{rows[0]}", *(f"{name},{row}" for name in ("n", "s") for row in rows[1:])]
    (tmp_path / "list.csv").write_text("\n".join(each) + "\n")
    said = shell("table x.db --contexts list.csv --format csv")[1].splitlines()
    assert [line.split(",")[0] for line in said] == ["context", "n", "s"]
    assert "no row for the edge" in shell("ask x.db --context few.csv")[1]
    assert "Did you mean 'far'" in shell("ask x.db --context odd.csv")[1]
    assert "Cannot read `--context` 'none.csv'" in shell("ask x.db --context none.csv")[1]
    assert shell(f"{CREATE.replace('x.db', 'f.db')} --contexts features.csv")[0] == 0
    rows = [f"{i},{j},0.5,-0.25" for i, j in ends]
    (tmp_path / "f.csv").write_text("source,target,slope,width\n" + "\n".join(rows) + "\n")
    said = shell("ask f.db --context f.csv --format json")[1]
    assert json.loads(said)["context"] == [[0.5, -0.25]] * 6


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name\ncalm\n", "have one of the columns regime, number, type, feature"),
        ("regime,number\na,b\n", "have one of the columns"),
        ("regime\n", "it holds a header only"),
        ("regime,max_size\ncalm,1\n", "have, beside regime, nothing else"),
        ("regime\ncalm\ncalm\n", "'calm' more than once"),
        ('regime\ncalm\n""\n', "line 3 has no regime"),
        ("number,max_size\nwind,1\nload,2\n", "has '1' and others, and holds for all rows"),
        ("number,max_size\nwind,much\n", "has 'much', not a number"),
        ("number,max_size\nwind,-1\n", "`max_size`"),
        ("type,symmetric\nnear,perhaps\n", "not yes or no"),
    ],
)
def test_files_of_contexts_that_are_wrong(shell, tmp_path, text, why):
    (tmp_path / "contexts.csv").write_text(text)
    for more in ("--dry-run", ""):
        code, said = shell(f"{CREATE} --contexts contexts.csv {more}")
        assert code == 2
        assert why in said
    assert not (tmp_path / "x.db").exists()


def test_what_cannot_be_combined_with_contexts(shell, tmp_path):
    for more, why in [
        ("--baseline plan.csv", "`--baseline` cannot be combined with contexts"),
        ("--policy ExploreThenCommit --horizon 9", "JointOFUL and ThompsonSampling play any prob"),
    ]:
        code, said = shell(f"{CREATE} --contexts regimes.csv {more}")
        assert code == 2
        assert why in said
    assert not (tmp_path / "x.db").exists()
    assert shell(CREATE)[0] == 0
    assert "there are no contexts" in shell("ask x.db --context calm")[1]
    assert "to have contexts" in shell("table x.db --contexts regimes.csv")[1]


def test_names_in_brackets_are_shown_as_they_are(shell, tmp_path):
    (tmp_path / "odd.csv").write_text("regime\n[red]\ncalm\n")
    assert shell(f"{CREATE} --contexts odd.csv")[0] == 0
    code, said = shell("ask x.db --context [red]")
    assert code == 0
    assert "context [red]" in said
    assert "[red]" in shell("table x.db")[1]
