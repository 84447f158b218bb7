"""Calls as one transaction with their answer, and what the history says of who made them."""

import json

import networkx as nx
import numpy as np
import pytest

import gbb
from gbb._support.json_text import as_json
from gbb.controller import KeyReusedError
from gbb.controller.commands import alerts, retract
from gbb.controller.controller import create_once
from gbb.controller.log import store
from gbb.controller.messages import Ask, Attach, Retract, Tell, Watch


@pytest.fixture
def problem():
    return gbb.Problem(gbb.Graph.complete(4), np.eye(3), sigma=0.1, S=2.0)


@pytest.fixture
def controller(tmp_path, problem):
    with gbb.Controller.create(f"sqlite:///{tmp_path}/one.db", problem, "JointOFUL") as made:
        yield made


def ask(controller, key, count=1, by="ann"):
    return controller.execute(Ask.from_json({"count": count}), by=by, key=key)


def asked(done):
    return [trial["trial"] for trial in done.to_json()["trials"]]


def test_the_same_request_is_answered_the_same_and_done_once(controller):
    first, again = ask(controller, "a"), ask(controller, "a")
    assert not first.repeated
    assert again.repeated
    assert again.to_json() == json.loads(as_json(first.to_json()))
    assert asked(again) == [1]
    assert asked(ask(controller, "a", by="bob")) == [2]  # everybody has keys of their own
    assert controller.status()["trials"] == 2


def test_another_request_under_a_key_is_refused_and_changes_nothing(controller):
    ask(controller, "a")
    before = controller.refresh().seq
    with pytest.raises(KeyReusedError, match="'a' was used for another request"):
        ask(controller, "a", 2)
    with pytest.raises(KeyReusedError, match="'a' was used for another request"):
        controller.execute(Watch.from_json({}), by="ann", key="a")
    assert controller.refresh().seq == before
    assert asked(ask(controller, "b")) == [2]


@pytest.mark.parametrize("key", ["", "x" * 201, "a\nb", "schlüssel"])
def test_keys_that_are_none_are_refused(controller, key):
    with pytest.raises(gbb.InputError, match="`key` to be 1 to 200 printable ASCII characters"):
        ask(controller, key)


def test_an_error_leaves_neither_events_nor_an_answer(controller, monkeypatch):
    def fail(_):
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(alerts, "look_after", fail)
        with pytest.raises(RuntimeError):
            ask(controller, "a")
    assert controller.refresh().seq == 1
    assert controller.status()["trials"] == 0
    assert not ask(controller, "a").repeated


def test_a_retraction_of_a_service_replays_while_others_write(controller, monkeypatch):
    """As in process: nothing is replayed under the lock, and once is enough."""
    controller.tell(controller.ask(), np.zeros(12))
    inside, real = [], retract.prepare

    def prepare(log, *args):
        with gbb.Controller.open(log.store.url) as other:
            other.ask()
        inside.append(True)
        return real(log, *args)

    monkeypatch.setattr(retract, "prepare", prepare)
    done = [
        controller.execute(Retract.from_json({"trial": 1}), by="ann", key="r") for _ in range(2)
    ]
    assert [each.repeated for each in done] == [False, True]
    assert [each.to_json()["open"] for each in done] == [2, 2]
    assert [entry.kind for entry in controller.history()].count("retract") == 1


def test_the_history_says_who_and_a_backup_keeps_it(controller, tmp_path):
    trial = controller.ask()
    controller.execute(Tell.build({"trial": trial, "rewards": np.zeros(12)}), by="ann")
    assert [entry.by for entry in controller.history()] == [None, None, "ann"]
    controller.backup(tmp_path / "copy.jsonl")
    gbb.controller.restore(tmp_path / "copy.jsonl", f"sqlite:///{tmp_path}/two.db")
    with gbb.Controller.open(f"sqlite:///{tmp_path}/two.db") as other:
        assert [entry.by for entry in other.history()] == [None, None, "ann"]
        assert other.check().rounds == 1


def test_an_attached_round_may_say_who_attached_it(controller):
    fields = {"allocation": [0, 1, 2, 0], "rewards": [0.0] * 12, "key": "r1"}
    controller.execute(Attach.from_json(fields), by="ann")
    assert controller.history()[-1].by == "ann"
    assert controller.check().rounds == 1


def test_warnings_about_rewards_stand_in_the_answer(controller, recwarn):
    controller.ask()
    tell = Tell.from_json({"trial": 1, "rewards": [50.0] * 12})
    done = [controller.execute(tell, by="ann", key="t") for _ in range(2)]
    assert "lie outside" in done[0].to_json()["warnings"][0]
    assert done[1].to_json() == done[0].to_json()
    assert not recwarn.list


def test_a_controller_is_created_once(tmp_path, problem):
    url, given = f"sqlite:///{tmp_path}/new.db", {"name": "farm", "by": "ann", "body": b"{}"}
    first, seen = create_once(url, problem, "JointOFUL", 0, {}, key="k", **given)
    again, repeated = create_once(url, problem, "JointOFUL", 0, {}, key="k", **given)
    assert not seen
    assert repeated
    assert again == first
    with pytest.raises(gbb.InputError, match="there already"):
        create_once(url, problem, "JointOFUL", 0, {}, key="k2", **given)
    with gbb.Controller.open(url) as made:
        assert made.history()[0].by == "ann"


def test_answers_are_let_go_after_their_time(controller, monkeypatch):
    ask(controller, "a")
    monkeypatch.setattr(store, "KEPT", -1.0)
    monkeypatch.setattr(store, "CLEANUP_PERIOD", 1)
    ask(controller, "b")
    assert not ask(controller, "a").repeated


def test_a_deleted_controller_leaves_no_answers(tmp_path, problem):
    url = f"sqlite:///{tmp_path}/new.db"
    for expected in (False, False):
        given = {"name": "farm", "by": "a", "key": "k", "body": b""}
        assert create_once(url, problem, "JointOFUL", 0, {}, **given)[1] is expected
        gbb.Controller.open(url).delete("farm")


def test_pages_of_the_history_are_parts_of_the_whole(controller):
    for i in range(7):
        controller.tell(controller.ask(), np.full(12, i / 10))
        if i == 3:
            late = controller.ask()
            controller.replace_graph(gbb.Graph.path(5))
            controller.tell(late, np.ones(12))
            controller.replace_graph(gbb.Graph.complete(4))
    whole = controller.history()
    told = [entry for entry in whole if entry.kind == "tell"]

    def same(some, others):
        assert [(e.seq, e.content) for e in some] == [(e.seq, e.content) for e in others]

    same(controller.history(last=5), whole[-5:])
    same(controller.history(last=5, after=3), whole[3:8])
    same(controller.history(last=5, before=9), whole[3:8])
    same(controller.history(after=4, before=9), whole[4:8])
    same(controller.history("tell", last=3), told[-3:])
    same(controller.history("tell", last=3, after=0), told[:3])


def test_the_last_rewards_are_those_that_count(controller):
    for i in range(6):
        controller.tell(controller.ask(), np.full(12, i / 10))
    controller.tell(controller.ask(), {(0, 1): 0.5})
    controller.attach([0, 1, 2, 0], np.zeros(12))
    controller.retract(5)
    found = controller.rewards(5)
    assert [(p.round, p.trial) for p in found] == [(3, 3), (4, 4), (5, 6), (6, 7), (7, None)]
    assert [p.reward for p in found] == pytest.approx([2.4, 3.6, 6.0, 0.5, 0.0])
    assert [(p.observed, p.possible) for p in found][-2:] == [(1, 12), (12, 12)]
    assert len(controller.rewards(50)) == 7


def test_a_graph_keeps_where_its_agents_stand(tmp_path):
    g = nx.Graph([("b", "a"), ("a", "c")])
    nx.set_node_attributes(g, {"a": 0.0, "b": 1.5, "c": 2.0}, "x")
    nx.set_node_attributes(g, {"a": 1.0, "b": 1.0, "c": -3.0}, "y")
    nx.write_graphml(g, tmp_path / "g.graphml")
    graph = gbb.Graph.read(tmp_path / "g.graphml")
    assert dict(zip(graph.names, graph.positions.tolist(), strict=True)) == {
        "a": [0.0, 1.0],
        "b": [1.5, 1.0],
        "c": [2.0, -3.0],
    }
    graph.write(tmp_path / "g.json")
    again = gbb.Graph.read(tmp_path / "g.json")
    assert np.array_equal(again.positions, graph.positions)
    problem = gbb.Problem(graph, np.eye(2), sigma=0.1, S=1.0)
    with gbb.Controller.create(f"sqlite:///{tmp_path}/g.db", problem):
        pass
    with gbb.Controller.open(f"sqlite:///{tmp_path}/g.db") as opened:
        assert np.array_equal(opened.problem.graph.positions, graph.positions)
    del g.nodes["a"]["x"]
    assert gbb.Graph.from_networkx(g).positions is None
