"""Backup, restore, copy, rename, delete: the same controller, bit for bit, or nothing at all."""

import hashlib
import json

import numpy as np
import pytest

import gbb
from control import drive, environment, noise_of, replayed, same_state, small, url_of
from gbb.controller import Controller, StorageError, restore


@pytest.fixture
def fed(tmp_path):
    """A controller with rounds of every kind."""
    with Controller.create(url_of(tmp_path), small(named=True), seed=2, name="farm") as made:
        drive(made, environment(made.problem), noise_of(0), 12)
        trial = made.ask()
        made.tell(trial, {("cell-0", "cell-1"): 0.5})
        made.retract(trial, "a slip")
        made.attach(np.zeros(4, dtype=int), np.ones(12), key="elsewhere")
        made.forbid("cell-2", "tilt-1")
        made.ask()
    return url_of(tmp_path)


def events_of(controller):
    return [
        (e.seq, e.kind, e.trial, e.time, e.text, e.data, e.seal) for e in controller._log.events()
    ]


def check_same(one: Controller, other: Controller) -> None:
    """Every event, the state and the asks that follow."""
    assert events_of(one) == events_of(other)
    assert same_state(one._log.state, other._log.state)
    other.check()
    assert [one.ask().arms.tolist() for _ in range(3)] == [
        other.ask().arms.tolist() for _ in range(3)
    ]


def test_what_is_restored_is_the_same_bit_for_bit(fed, tmp_path):
    with Controller.open(fed) as controller:
        assert controller.backup(tmp_path / "farm.jsonl") == controller.status()["events"]
        other = f"sqlite:///{tmp_path / 'other.db'}"
        assert restore(tmp_path / "farm.jsonl", other) == {"farm": controller.status()["events"]}
        with Controller.open(other) as again:
            check_same(controller, again)


def test_a_backup_of_several_is_restored_whole_or_one_at_a_time(fed, tmp_path):
    from gbb.controller.log.backup import write_backup  # noqa: PLC0415
    from gbb.controller.log.store import Store  # noqa: PLC0415

    Controller.create(fed, small(), name="second").close()
    path = tmp_path / "all.jsonl"
    assert list(write_backup(Store(fed), path)) == ["farm", "second"]
    other = f"sqlite:///{tmp_path / 'other.db'}"
    assert restore(path, other, "second") == {"second": 1}
    with pytest.raises(gbb.InputError, match="`name` to be new, but got 'second'"):
        restore(path, other)
    with pytest.raises(gbb.InputError, match=r"this storage has|one of 'second'"):
        Controller.open(other, "farm")  # nothing of what was refused
    assert restore(path, other, "farm", "old farm").keys() == {"old farm"}
    with Controller.open(other, "old farm") as again, Controller.open(fed, "farm") as first:
        assert events_of(again) == events_of(first)
        again.check()
    with pytest.raises(gbb.InputError, match="`new_name` to be left out where several"):
        restore(path, f"sqlite:///{tmp_path / 'third.db'}", new_name="x")


@pytest.mark.parametrize("damage", ["cut", "changed", "tail", "other", "version", "nothing"])
def test_a_backup_that_is_not_whole_is_refused(fed, tmp_path, damage):
    path = tmp_path / "farm.jsonl"
    with Controller.open(fed) as controller:
        controller.backup(path)
    data = path.read_bytes()
    path.write_bytes(
        {
            "cut": data[: len(data) // 2],
            "changed": data.replace(b'"kind":"tell"', b'"kind":"fail"', 1),
            "tail": data[:-1],
            "other": b"source,target\n1,2\n",
            "version": data.replace(b'"version":1', b'"version":9', 1),
            "nothing": b"",
        }[damage]
    )
    with pytest.raises(gbb.InputError, match=r"Cannot read `path` .*farm.jsonl"):
        restore(path, f"sqlite:///{tmp_path / 'other.db'}")
    assert not (tmp_path / "other.db").exists()


def test_copies_go_their_own_ways(fed, tmp_path):
    with Controller.open(fed) as first:
        with (
            first.copy("twin") as twin,
            first.copy("farm", f"sqlite:///{tmp_path / 'b.db'}") as far,
        ):
            assert events_of(twin) == events_of(first)
            assert same_state(replayed(twin), twin._log.state)
            check_same(first, far)
            twin.ask()
            assert first.status()["trials"] == 17
            for each in (first, twin, far):
                each.check()
        with pytest.raises(gbb.InputError, match="`name` to be new, but got 'twin'"):
            first.copy("twin")
    assert Controller.open(fed, "twin").status()["name"] == "twin"


def test_a_renamed_controller_goes_on_and_others_are_told(fed):
    with Controller.open(fed) as first, Controller.open(fed) as other:
        asks = first.ask().arms
        first.rename("mill")
        assert first.name == first.status()["name"] == "mill"
        with pytest.raises(StorageError, match="'farm' is called 'mill' now"):
            other.ask()
        first.rename("mill")  # the same again changes nothing
        first.ask()
        first.check()
    with pytest.raises(gbb.InputError, match="one of 'mill'"):
        Controller.open(fed, "farm")
    with Controller.open(fed, "mill") as again:
        assert same_state(replayed(again), again._log.state)
        assert asks.shape == again.ask().arms.shape
        with Controller.create(fed, small(), name="farm"):
            with pytest.raises(gbb.InputError, match="`name` to be new, but got 'farm'"):
                again.rename("farm")
            with pytest.raises(gbb.InputError, match="not empty"):
                again.rename(" ")
        assert again.name == "mill"
        again.check()


def test_what_is_deleted_is_gone_and_nothing_else(fed):
    with Controller.create(fed, small(), name="second") as second:
        with Controller.open(fed, "farm") as first, Controller.open(fed, "farm") as other:
            with pytest.raises(
                gbb.InputError, match="`name` to repeat the controller's name, 'farm'"
            ):
                first.delete("second")
            first.delete("farm")
            with pytest.raises(StorageError, match="'farm' is not there any more"):
                other.ask()
        second.ask()
        second.check()
    with Controller.open(fed) as left:
        assert left.name == "second"
    with Controller.create(fed, small(), name="farm") as anew:
        assert anew.status()["events"] == 1


def test_controllers_are_listed_by_name(fed, tmp_path):
    Controller.create(fed, small(), name="barn").close()
    assert Controller.names(fed) == ["barn", "farm"]
    with pytest.raises(gbb.InputError, match="lead to a controller"):
        Controller.names(tmp_path / "none.db")


def test_lines_of_a_backup_are_json(fed, tmp_path):
    with Controller.open(fed) as controller:
        controller.backup(tmp_path / "farm.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "farm.jsonl").read_text().splitlines()]
    assert lines[0] == {"gbb": "backup", "version": 1}
    assert lines[1]["controller"] == "farm"
    assert lines[1]["events"] == len(lines) - 3
    assert len(lines[-1]["sha256"]) == 64


@pytest.mark.parametrize(
    "change",
    [
        lambda head, _: head.update(events="abc"),
        lambda head, _: head.update(events=None),
        lambda head, _: head.update(events=0),
        lambda head, _: head.update(events=3),
        lambda head, _: head.update(controller="\ud800"),
        lambda _, event: event.update(data="é"),
        lambda _, event: event.update(time="x"),
        lambda _, event: event.update(trial=10**30),
        lambda _, event: event.update(text=5),
        lambda _, event: event.update(kind="\ud800"),
        lambda _, event: event.pop("seal"),
    ],
)
def test_a_backup_that_says_what_none_does_is_refused_whatever_its_digest(fed, tmp_path, change):
    path, made = tmp_path / "farm.jsonl", tmp_path / "again.db"
    Controller.open(fed).backup(path)
    lines = [json.loads(line) for line in path.read_text().splitlines()[:-1]]
    change(lines[1], lines[4])
    data = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
    digest = hashlib.sha256(data).hexdigest()
    path.write_bytes(data + json.dumps({"sha256": digest}).encode() + b"\n")
    with pytest.raises((gbb.InputError, StorageError)) as said:
        restore(path, f"sqlite:///{made}")
    assert "\n" not in str(said.value)
    with pytest.raises((gbb.InputError, StorageError)):
        Controller.open(f"sqlite:///{made}")


def test_a_backup_writes_over_nothing_but_a_backup(fed, tmp_path):
    controller = Controller.open(fed)
    (tmp_path / "notes.csv").write_text("agent,arm\n")
    for taken in (tmp_path / "control.db", tmp_path / "notes.csv"):
        kept = taken.read_bytes()
        with pytest.raises(gbb.InputError, match="`path` to be a new file, or a backup"):
            controller.backup(taken)
        assert taken.read_bytes() == kept
    for _ in range(2):
        controller.backup(tmp_path / "farm.jsonl")
