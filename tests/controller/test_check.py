"""``check`` reads what opening does not: everything before the snapshot, and every page."""

import json

import numpy as np
import pytest
from test_damage import change, made

import gbb
from control import drive, environment, small, url_of
from gbb.cli import main
from gbb.controller import Controller, StorageError
from gbb.controller.log import log
from gbb.controller.state import snapshot


def test_a_whole_log_is_found_in_order(tmp_path):
    url = made(tmp_path, every=5)
    found = Controller.open(url).check()
    assert (found.events, found.rounds, found.snapshot, found.pages) == (17, 8, 16, True)


def test_an_event_before_the_snapshot_that_was_changed_is_found(tmp_path):
    url = made(tmp_path, every=5)
    change(tmp_path, "UPDATE gbb_events SET time = time + 1 WHERE seq = 4")
    controller = Controller.open(url)  # reads from the snapshot on
    with pytest.raises(StorageError, match="event 4 is missing or is not what was written"):
        controller.check()


def test_an_index_that_lost_a_row_is_found(tmp_path):
    url = made(tmp_path)
    change(
        tmp_path,
        "DROP INDEX gbb_events_by_trial",
        "CREATE INDEX gbb_events_by_trial ON gbb_events (study, trial, seq) WHERE seq <> 4",
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = replace(sql, ' WHERE seq <> 4', '')",
    )
    with pytest.raises(StorageError, match="log is damaged: SQLite says 'row 4 missing from index"):
        Controller.open(url).check()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [('"rounds":8', '"rounds":9', "another 'rounds' than the log"), ('"seq"', '"sep"', "damaged")],
)
def test_a_snapshot_that_says_something_else_is_found(old, new, said, tmp_path):
    url = made(tmp_path, every=16)
    controller = Controller.open(url)
    with controller._log.read() as view:
        text = view.study.snapshot().decode()
    body = text.partition(" ")[2].replace(old, new)
    mark = snapshot._checksum(body) if old == '"rounds":8' else "0"
    change(tmp_path, f"UPDATE gbb_snapshots SET content = CAST('{mark} {body}' AS BLOB)")
    with pytest.raises(StorageError, match=f"The snapshot .*{said}"):
        controller.check()


@pytest.mark.parametrize(
    "policy", [name for name in gbb.policies.names() if gbb.policies.find(name).controllable]
)
def test_every_policy_is_what_its_snapshot_says(policy, tmp_path, monkeypatch):
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", 9)
    problem = small()
    chosen = gbb.policies.build(
        policy, problem, cut=gbb.cuts.greedy(problem.graph), horizon=20, radius="paper"
    )
    with Controller.create(url_of(tmp_path), problem, chosen) as controller:
        drive(controller, environment(problem), np.random.default_rng(0), 10)
        assert controller.check().snapshot in (19, 20, 21)


def test_the_shell_checks(tmp_path, capsys):
    made(tmp_path, every=5)
    file = str(tmp_path / "control.db")

    def run(*args):
        with pytest.raises(SystemExit) as stop:
            main(["control", "check", file, *args])
        return stop.value.code, capsys.readouterr()

    code, said = run()
    assert code == 0
    assert "17, each as it was written" in said.out
    code, said = run("--format", "json")
    found = {"name": "default", "events": 17, "rounds": 8, "snapshot": 16, "pages": True}
    assert json.loads(said.out) == found
    change(tmp_path, "UPDATE gbb_events SET kind = 'fail' WHERE seq = 5")
    code, said = run()
    assert code == 2
    assert "event 5 is missing or is not what was written" in " ".join(said.err.split())
