"""A log that is not what was written is refused in one line: its tail, its names, its trials."""

import dataclasses
import json
import sqlite3

import numpy as np
import pytest

import gbb
from control import context_for, drive, environment, small, url_of
from gbb.controller import Controller, StorageError
from gbb.controller.log import events, log, store
from gbb.controller.state import snapshot


def change(folder, *statements):
    """Do to a closed database what nobody should."""
    with sqlite3.connect(folder / "control.db") as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def made(folder, rounds=8, *, names=("default",), every=10_000):
    """A closed database of controllers with some rounds each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "SNAPSHOT_EVENTS", every)
        for seed, name in enumerate(names):
            with Controller.create(url_of(folder), small(), seed=seed, name=name) as controller:
                drive(controller, environment(small()), np.random.default_rng(seed), rounds)
    return url_of(folder)


@pytest.mark.parametrize("last", [1, 7, 16])
def test_a_log_whose_tail_is_gone_is_refused(last, tmp_path):
    url = made(tmp_path)
    change(tmp_path, f"DELETE FROM gbb_events WHERE seq > {last}")
    with pytest.raises(StorageError, match=f"it ends with event {last}, but event 17 was written"):
        Controller.open(url)


def test_a_tail_that_goes_while_the_log_is_open_is_missed(tmp_path):
    url = made(tmp_path)
    controller = Controller.open(url)
    change(tmp_path, "DELETE FROM gbb_events WHERE seq > 7", "UPDATE gbb_studies SET head = 7")
    for call in (controller.ask, controller.status, controller.history):
        with pytest.raises(StorageError, match="log is damaged"):
            call()


def test_a_name_that_leads_to_another_controller_is_refused(tmp_path):
    url = made(tmp_path, names=("farm1", "farm2"))
    change(
        tmp_path,
        "UPDATE gbb_studies SET name = 'x' WHERE name = 'farm2'",
        "UPDATE gbb_studies SET name = 'farm2' WHERE name = 'farm1'",
        "UPDATE gbb_studies SET name = 'farm1' WHERE name = 'x'",
    )
    for name in ("farm1", "farm2"):
        with pytest.raises(StorageError, match="or its name, is not what was written"):
            Controller.open(url, name)


def test_a_controller_whose_row_is_lost_is_not_there(tmp_path):
    url = made(tmp_path, names=("farm1", "farm2"))
    change(tmp_path, "DELETE FROM gbb_studies WHERE name = 'farm2'")
    with pytest.raises(gbb.InputError, match="one of 'farm1'"):
        Controller.open(url, "farm2")


@pytest.mark.parametrize("format", [9, 10])
def test_a_snapshot_of_any_version_beyond_the_log_is_missed(format, tmp_path):
    """Even where the row that says where the log ends was taken back with it."""
    url = made(tmp_path, every=5)
    with sqlite3.connect(tmp_path / "control.db") as connection:
        (text,) = connection.execute("SELECT content FROM gbb_snapshots").fetchone()
    connection.close()
    _, _, body = text.decode().partition(" ")
    changed = body.replace('"format":10', f'"format":{format}')
    text = f"{snapshot._checksum(changed)} {changed}".encode()
    with sqlite3.connect(tmp_path / "control.db") as connection:
        connection.execute("UPDATE gbb_snapshots SET content = ?", (text,))
        connection.execute("DELETE FROM gbb_events WHERE seq > 7")
    connection.close()
    with pytest.raises(StorageError, match="log is damaged: event 16 or the one before it is miss"):
        Controller.open(url)


def test_an_open_trial_whose_arms_were_changed_is_not_told(tmp_path):
    """Its ask lies before the snapshot, so that opening does not fold it."""
    url = url_of(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "SNAPSHOT_EVENTS", 5)
        with Controller.create(url, small()) as controller:
            waiting = controller.ask()
            drive(controller, environment(small()), np.random.default_rng(0), 8)
    played = waiting.arms.astype(np.uint8).tobytes().hex()
    other = "01020000"
    assert other != played
    change(
        tmp_path,
        f"UPDATE gbb_events SET data = CAST(X'{other}' || substr(data, 5) AS BLOB) WHERE trial = 1",
    )
    with pytest.raises(StorageError, match="event 2 is missing or is not what was written"):
        Controller.open(url).tell(1, np.zeros(12))


def test_a_told_trial_that_was_changed_is_not_compared_with(tmp_path):
    url = made(tmp_path, every=5)
    kept = Controller.open(url)
    change(tmp_path, "UPDATE gbb_events SET data = zeroblob(96) WHERE kind = 'tell' AND trial = 2")
    for call in (lambda: kept.tell(2, np.zeros(12)), lambda: kept.retract(2)):
        with pytest.raises(StorageError, match="is missing or is not what was written"):
            call()


def test_a_graph_that_was_changed_before_a_snapshot_is_not_used(tmp_path):
    """A repeated tell of a trial of the graph before must find that graph."""
    url = url_of(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "SNAPSHOT_EVENTS", 5)
        with Controller.create(url, small()) as controller:
            rounds = np.random.default_rng(0)
            for graph in (gbb.Graph.path(4), gbb.Graph.complete(4)):
                controller.replace_graph(graph)
                drive(controller, environment(controller.problem), rounds, 3)
            told = controller.history("tell")[0]
    change(tmp_path, "UPDATE gbb_events SET kind = 'grabh' WHERE seq = 2")
    rewards = np.array([reward for *_, reward in told.content["rewards"]])
    with pytest.raises(StorageError, match="event 2 is missing or is not what was written"):
        Controller.open(url).tell(told.trial_id, rewards)


FIRST = {
    "no keys": "{}",
    "no arrays": '{"problem":3,"graph":4,"policy":5,"seed":6}',
    "too deep": "[" * 200_000 + "]" * 200_000,
    "no JSON": "}{",
}


def sealed(file, text):
    """Put another first event in place, with all checksums as they should be."""
    with sqlite3.connect(file) as connection:
        (time,) = connection.execute("SELECT time FROM gbb_events WHERE seq = 1").fetchone()
        seal = events.seal(events.Event(1, "create", None, time, text, b"", 0), 0).seal
        connection.execute("UPDATE gbb_events SET content = ?, seal = ?", (text, seal))
        row = store.seal_row(1, "default", 1, seal)
        connection.execute("UPDATE gbb_studies SET head = 1, seal = ?", (row,))
    connection.close()


@pytest.mark.parametrize("how", FIRST)
def test_an_event_of_a_stranger_that_says_nonsense_is_one_line(how, tmp_path):
    url = made(tmp_path, 0)
    sealed(tmp_path / "control.db", FIRST[how])
    with pytest.raises(StorageError, match="vent 1 ") as caught:
        Controller.open(url)
    assert "\n" not in str(caught.value)


def test_a_seed_of_a_stranger_does_not_take_for_ever(tmp_path):
    url = made(tmp_path, 0)
    with sqlite3.connect(tmp_path / "control.db") as connection:
        (text,) = connection.execute("SELECT content FROM gbb_events").fetchone()
    connection.close()
    assert '"pool":4' in text
    sealed(tmp_path / "control.db", text.replace('"pool":4', '"pool":100000000'))
    with pytest.raises(StorageError, match="a pool of 100000000 numbers"):
        Controller.open(url)
    seed = np.random.SeedSequence(1, pool_size=2000)
    with pytest.raises(gbb.InputError, match="`seed` to have a pool of at most 1024"):
        Controller.create(url, small(), seed=seed, name="other")


def resealed(file, seq, **said):
    """Have an event say something else, with all checksums as they should be."""
    with sqlite3.connect(file) as connection:
        names = "seq, kind, trial, time, content, data"
        rows = connection.execute(f"SELECT {names} FROM gbb_events ORDER BY seq").fetchall()
        before = 0
        for row in rows:
            event = events.Event(*row, 0)
            if event.seq == seq:
                content = {**json.loads(event.text), **said}
                kept = {name: value for name, value in content.items() if value is not ...}
                event = dataclasses.replace(event, text=json.dumps(kept))
            before = events.seal(event, before).seal
            connection.execute(
                "UPDATE gbb_events SET content = ?, seal = ? WHERE seq = ?",
                (event.text, before, event.seq),
            )
        head = store.seal_row(1, "default", len(rows), before)
        connection.execute("UPDATE gbb_studies SET head = ?, seal = ?", (len(rows), head))
    connection.close()


ROWS = {
    "regimes": [[7.0], [-1.0], [0.5], [0.0, 0.0], [[0.0]], [1e308], ["a"], [], True, None, ...],
    "vector": [[5.0, 0.0], [1e308, 1e308], [0.1], [[0.1, 0.2]], {"wind": 0.1}, None, ...],
    "edge types": [[0.5] * 24, [7.0] * 24, [-3.0] * 24, [0.0] * 22, [0.0] * 12 + [2.0] * 12, ...],
    "edge features": [[5.0] * 24, [0.0], [1e300] * 24, ...],
    None: [[0.0]],
}
"""Contexts that no event of such a problem holds; none at all is the last of most."""


@pytest.mark.parametrize("kind", ROWS, ids=str)
def test_a_context_of_a_stranger_that_is_none_is_one_line(kind, tmp_path):
    """Of a round that waits, of one that was told, and of one that was attached."""
    problem, file = small(named=True, contexts=kind), tmp_path / "control.db"
    with Controller.create(url_of(tmp_path), problem, "JointOFUL", seed=1) as controller:
        controller.tell(controller.ask(context_for(problem, 1)), np.ones(12))
        controller.attach([0, 1, 2, 0], np.ones(12), context=context_for(problem, 2))
        controller.ask(context_for(problem, 3))
    whole = file.read_bytes()
    for row in ROWS[kind]:
        for seq in (2, 4, 5):
            for other in tmp_path.glob("control.db*"):
                other.unlink()
            file.write_bytes(whole)
            resealed(file, seq, context=row)
            with pytest.raises(
                StorageError, match=f"Event {seq} says what this .* context"
            ) as caught:
                Controller.open(url_of(tmp_path))
            assert "\n" not in str(caught.value)
