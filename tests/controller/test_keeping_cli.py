"""``gbb control import | export | backup | restore | copy | rename | delete`` from the shell."""

import io
import json

import pytest

from gbb.cli import main
from gbb.controller import Controller

LOG = """round,source,target,arm_source,arm_target,reward
1,north,south,left,right,0.5
1,south,north,right,left,
2,south,east,left,left,0.25
"""


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """A farm, and the command line in its folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "farm.csv").write_text("source,target\nnorth,south\nsouth,east\neast,north\n")
    (tmp_path / "arms.csv").write_text("arm,yaw,pitch\nleft,0.8,0.6\nright,0.6,0.8\n")
    (tmp_path / "log.csv").write_text(LOG)

    def call(command, code=0):
        monkeypatch.setattr("sys.stdin", io.StringIO())
        with pytest.raises(SystemExit) as stop:
            main(["control", *command.split()])
        said = capsys.readouterr()
        assert stop.value.code == code, said.err
        if code:
            assert said.out == ""
            assert said.err.startswith("gbb: error: ")
            assert said.err.count("\n") == 1
        return said.err if code else said.out

    call("create farm.db farm.csv --undirected --arms arms.csv --S 2 --sigma 0.1")
    return call


def test_a_log_is_imported_exported_and_imported_again(run, tmp_path):
    dry = run("import farm.db log.csv --dry-run")
    assert "would import 2 rounds; nothing is written" in dry
    assert "north left, south right" in dry
    facts = json.loads(run("import farm.db log.csv --format json"))
    assert (facts["rounds"], facts["new"], facts["missing"], facts["told"]) == (2, 2, 1, 2)
    assert "imported 0 rounds; 2 rounds told" in run("import farm.db log.csv")
    run("ask farm.db")
    run("export farm.db --out all.csv")
    run("create again.db farm.csv --undirected --arms arms.csv --S 2 --sigma 0.1")
    assert "imported 2 rounds" in run("import again.db all.csv")
    run("ask again.db")
    run("export again.db --out again.csv")
    told = [(tmp_path / name).read_text().splitlines() for name in ("all.csv", "again.csv")]
    without_time = [[[*row.split(",")[:2], *row.split(",")[3:]] for row in rows] for rows in told]
    assert without_time[0] == without_time[1]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("import farm.db no.csv", "Cannot read `LOG` 'no.csv': No such file"),
        ("import farm.db wrong.csv", "Cannot read `LOG` 'wrong.csv': line 3 holds 'x' as 'reward'"),
        ("import farm.db log.csv --key rond", "`--key` to name a column of the table, but got 'ro"),
        ("backup farm.db .", "`FILE` to name a file, but got the directory"),
        ("backup farm.db b.jsonl --name x", "`--name` to be one of 'default'"),
        ("restore log.csv other.db", "Cannot read `FILE` 'log.csv': it is no backup of gbb"),
        ("restore no.jsonl other.db", "Cannot read `FILE` 'no.jsonl': No such file"),
        ("copy farm.db default default", "`NEW_NAME` to be new, but got 'default'"),
        ("copy farm.db x y", "to be one of 'default'"),
        ("rename farm.db x y", "to be one of 'default'"),
        ("delete farm.db default", "`--yes` to repeat the name"),
        ("delete farm.db default --yes farm", "`--yes` to repeat the name, 'default'"),
    ],
)
def test_errors_are_one_line(run, command, said, tmp_path):
    (tmp_path / "wrong.csv").write_text(LOG.replace("0.25", "0.25").replace(",\n", ",x\n"))
    assert said in run(command, code=2)
    assert not (tmp_path / "other.db").exists()
    assert Controller.open(f"sqlite:///{tmp_path / 'farm.db'}").status()["events"] == 1


def test_a_controller_is_kept(run):
    run("import farm.db log.csv")
    assert run("backup farm.db all.jsonl") == "wrote all.jsonl: 'default' (3 events)\n"
    assert run("export farm.db --out one.jsonl") == "wrote one.jsonl\n"
    assert run("restore all.jsonl new.db") == "restored 'default' (3 events)\n"
    assert run("restore one.jsonl new.db --new-name twin") == "restored 'twin' (3 events)\n"
    assert run("copy new.db twin third") == "copied 'twin' to 'third'\n"
    assert "in the other storage" in run("copy new.db third default --to far.db")
    assert run("rename far.db default mill") == "'default' is called 'mill' now\n"
    assert run("delete new.db twin --yes twin") == "deleted 'twin'\n"
    for where in ("farm.db", "new.db --name default", "new.db --name third", "far.db"):
        assert "each as it was written" in run(f"check {where}")
        assert json.loads(run(f"status {where} --format json"))["rounds"] == 2
    asks = {
        run(f"ask {where} --format csv") for where in ("farm.db", "new.db --name third", "far.db")
    }
    assert len(asks) == 1
