"""The file under a controller: gone, replaced, empty, a stranger's, or on a full disk."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import gbb
from control import drive, environment, small, url_of
from gbb.cli import main
from gbb.controller import Controller, StorageError
from gbb.controller.commands.trials import append_ask
from gbb.controller.log import database


@pytest.fixture
def controller(tmp_path):
    with Controller.create(url_of(tmp_path), small()) as controller:
        drive(controller, environment(small()), np.random.default_rng(0), 3)
        yield controller


def test_a_deleted_file_acknowledges_nothing(controller, tmp_path):
    trial = controller.ask()
    (tmp_path / "control.db").rename(tmp_path / "away.db")
    for call in (lambda: controller.tell(trial, np.zeros(12)), controller.ask, controller.status):
        with pytest.raises(StorageError, match=r"control.db' was deleted or replaced while it was"):
            call()
    (tmp_path / "away.db").rename(tmp_path / "control.db")
    controller.tell(trial, np.zeros(12))  # back in its place
    assert Controller.open(url_of(tmp_path)).status()["rounds"] == 4


def test_a_replaced_file_acknowledges_nothing(controller, tmp_path):
    file = tmp_path / "control.db"
    shutil.copy(file, tmp_path / "copy.db")
    (tmp_path / "copy.db").replace(file)
    with pytest.raises(
        StorageError, match=r"control.db' was deleted or replaced while it was open"
    ):
        controller.ask()


def test_a_file_that_goes_during_a_call_acknowledges_nothing(controller, tmp_path):
    before = controller._log.state.seq

    def stopped():
        with controller._log.write() as turn:
            append_ask(turn)
            (tmp_path / "control.db").unlink()

    with pytest.raises(StorageError, match="was deleted or replaced"):
        stopped()
    assert controller._log.state.seq == before


def test_a_deleted_write_ahead_file_acknowledges_nothing(controller, tmp_path):
    (tmp_path / "control.db-wal").unlink()
    with pytest.raises(StorageError, match=r"control.db-wal' was deleted or replaced while it was"):
        controller.ask()


def test_few_rounds_wait_in_the_write_ahead_file(controller, tmp_path):
    """A database whose write-ahead file is lost has all but the last rounds."""
    drive(controller, environment(small()), np.random.default_rng(1), 60)
    shutil.copy(tmp_path / "control.db", tmp_path / "copy.db")  # without the write-ahead file
    with Controller.open(f"sqlite:///{tmp_path / 'copy.db'}") as copy:
        assert copy.status()["rounds"] >= 63 - 20
    size = (tmp_path / "control.db-wal").stat().st_size
    assert size < 2 * database.CHECKPOINT * 4096


def test_an_older_copy_put_back_in_place_is_missed(controller, tmp_path):
    """With the same file beneath, so that only the log can tell."""
    file = tmp_path / "control.db"
    controller._log.store.database.release()  # no connection is left open
    old = file.read_bytes()
    drive(controller, environment(small()), np.random.default_rng(1), 3)
    controller._log.store.database.release()  # no connection is left open
    with file.open("r+b") as same:
        same.write(old)
        same.truncate()
    with pytest.raises(StorageError, match="log is damaged"):
        controller.ask()


def test_a_slow_file_of_rewards_keeps_nobody_waiting(controller, tmp_path):
    pipe, trial = tmp_path / "rewards.csv", controller.ask()
    os.mkfifo(pipe)
    teller = threading.Thread(target=controller.tell, args=(trial, pipe))
    teller.start()
    time.sleep(0.3)
    with Controller.open(url_of(tmp_path)) as other:
        began = time.monotonic()
        other.abandon(other.ask())
        assert time.monotonic() - began < 30
    pipe.write_text("source,target,reward\n0,1,1.0\n")
    teller.join(60)
    assert not teller.is_alive()
    assert controller.status()["rounds"] == 4


def test_a_table_of_many_columns_is_read_at_once(controller, tmp_path):
    names = [f"c{place}" for place in range(40_000)]
    (tmp_path / "wide.csv").write_text(f"{','.join(names)}\n")
    began = time.process_time()
    with pytest.raises(gbb.InputError, match=r"to have the columns source, .* c7, "):
        controller.tell(controller.ask(), tmp_path / "wide.csv")
    assert time.process_time() - began < 10


def test_a_create_that_was_stopped_at_once_is_said_and_made_again(tmp_path):
    (tmp_path / "control.db").touch()
    with pytest.raises(gbb.InputError, match="is empty, as one that was being made when it was st"):
        Controller.open(url_of(tmp_path))
    assert Controller.create(url_of(tmp_path), small()).ask().id == 1


def test_a_create_on_a_full_disk_is_one_line(tmp_path):
    code = f"""
import os, resource, signal
from control import small
from gbb.controller import Controller, StorageError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for most in (0, 2000, 8192, 20_000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
    try:
        Controller.create({url_of(tmp_path)!r}, small())
        raise SystemExit("it should have failed")
    except StorageError as error:
        print(error)
    assert os.listdir({str(tmp_path)!r}) == [], "files are left"
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
Controller.create({url_of(tmp_path)!r}, small())
"""
    paths = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=paths
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert all(line.startswith("Cannot use 'sqlite:///") and "isk" in line for line in lines)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///file::memory:?uri=true",
        "sqlite:///file:kept?mode=memory&uri=true",
        "sqlite:///control.db?timeout=x",
        "sqlite:///:memory:",
    ],
)
def test_a_url_that_is_no_plain_file_is_refused(url):
    with pytest.raises(gbb.InputError, match="`url` to name a file, with no opt"):
        Controller.create(url, small())


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT "
HOSTILE = {
    "events": f"""
        DROP TABLE gbb_events;
        CREATE VIEW gbb_events AS {ENDLESS} 1 AS study, 1 AS seq, 'x' AS kind, x AS trial,
            1.0 AS time, 'x' AS content, x'' AS data, 1 AS seal FROM n WHERE x < 0;""",
    "studies": f"""
        ALTER TABLE gbb_studies RENAME TO old;
        CREATE VIEW gbb_studies AS {ENDLESS} x AS id, 'n' || x AS name, 1 AS head, 1 AS seal
            FROM n;""",
    "trigger": f"""
        CREATE TRIGGER slow AFTER INSERT ON gbb_events BEGIN
            INSERT INTO gbb_about SELECT x, x FROM ({ENDLESS} x FROM n); END;""",
    "generated": """
        ALTER TABLE gbb_studies ADD COLUMN more TEXT
            GENERATED ALWAYS AS (hex(zeroblob(500000000))) VIRTUAL;""",
}


@pytest.mark.parametrize("how", HOSTILE)
def test_a_file_from_a_stranger_cannot_hang_the_reader(how, tmp_path, capsys):
    Controller.create(url_of(tmp_path), small()).close()
    with sqlite3.connect(tmp_path / "control.db") as connection:
        connection.executescript(HOSTILE[how])
    connection.close()
    with pytest.raises(SystemExit) as stop:
        main(["control", "status", str(tmp_path / "control.db")])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert "was not made by gbb" in said


def test_a_process_may_change_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    problem = gbb.Problem(gbb.Graph.complete(3), np.eye(2))
    with Controller.create("sqlite:///farm.db", problem, "UniformRandom") as controller:
        trial = controller.ask()
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        controller.tell(trial, np.zeros(problem.m))
        assert controller.status()["rounds"] == 1


def test_controllers_of_one_process_keep_their_file_while_others_come_and_go(tmp_path):
    """Opening a second one must not take the first one's locks away, and with them its writes."""
    url = url_of(tmp_path)
    for name in ("one", "two"):
        Controller.create(url, small(), name=name).close()
    with Controller.open(url, "one") as one:
        one.ask()
        with Controller.open(url, "two"):
            code = f"import gbb; gbb.Controller.open({url!r}, 'two').close()"
            subprocess.run([sys.executable, "-c", code], check=True)
            one.ask()
            code = f"import gbb; print(gbb.Controller.open({url!r}, 'one').status()['trials'])"
            seen = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert seen.stdout == b"2\n"


@pytest.mark.parametrize("place", [".", ".."])
def test_a_folder_is_no_database(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for call in (Controller.open, lambda url: Controller.create(url, small())):
        with pytest.raises(gbb.InputError, match="`url` to name a file, but got the folder"):
            call(place)
