"""Calls as one transaction with their answer, and what the history says of who made them."""

import threading

import networkx as nx
import numpy as np
import pytest

import gbb
from gbb.controller import KeyReusedError
from gbb.controller.log import store

BODY = b'{"count": 1}'


@pytest.fixture
def problem():
    return gbb.Problem(gbb.Graph.complete(4), np.eye(3), sigma=0.1, S=2.0)


@pytest.fixture
def controller(tmp_path, problem):
    with gbb.Controller.create(f"sqlite:///{tmp_path}/one.db", problem, "JointOFUL") as made:
        yield made


def ask(controller, key, body=BODY, by="ann"):
    with controller.as_one(by=by, key=key, body=body) as call:
        if not call.repeated:
            trial = controller.ask()
            call.answer = {"trial": trial.id, "allocation": trial.allocation}
    return call


def test_the_same_request_is_answered_the_same_and_done_once(controller):
    first, again = ask(controller, "a"), ask(controller, "a")
    assert not first.repeated
    assert again.repeated
    assert again.answer["trial"] == first.answer["trial"] == 1
    assert list(again.answer["allocation"].values()) == list(first.answer["allocation"].values())
    assert ask(controller, "a", by="bob").answer["trial"] == 2  # everybody has keys of their own
    assert controller.status()["trials"] == 2


def test_another_request_under_a_key_is_refused_and_changes_nothing(controller):
    ask(controller, "a")
    before = controller.head()
    with pytest.raises(KeyReusedError, match="'a' was used for another request"):
        ask(controller, "a", b'{"count": 2}')
    assert controller.head() == before
    assert ask(controller, "b").answer["trial"] == 2


@pytest.mark.parametrize("key", ["", "x" * 201, "a\nb", "schlüssel"])
def test_keys_that_are_none_are_refused(controller, key):
    with pytest.raises(gbb.InputError, match="`key` to be 1 to 200 printable ASCII characters"):
        ask(controller, key)


def test_an_error_leaves_neither_events_nor_an_answer(controller):
    def fail():
        with controller.as_one(by="ann", key="a", body=BODY) as call:
            controller.ask()
            call.answer = {"trial": 1}
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert controller.head() == 1
    assert controller.status()["trials"] == 0
    assert not ask(controller, "a").repeated


def test_a_part_that_fails_is_left_out_and_the_rest_is_kept(controller):
    with controller.as_one(by="ann") as call:
        trial = controller.ask()
        with pytest.raises(gbb.InputError):
            controller.tell(trial, {(0, 9): 1.0})
        controller.tell(trial, np.zeros(12))
        call.answer = {}
    assert [entry.kind for entry in controller.history()] == ["create", "ask", "tell"]
    assert controller.check().events == 3


def test_what_was_done_in_the_block_is_seen_in_it(controller):
    with controller.as_one(by="ann") as call:
        trial = controller.ask()
        controller.tell(trial, np.zeros(12))
        assert controller.status()["rounds"] == 1
        assert [entry.kind for entry in controller.history()][-1] == "tell"
        controller.retract(trial)
        assert [open.id for open in controller.open_trials()] == [trial.id]
        call.answer = {}
    assert controller.status()["rounds"] == 0
    assert controller.check().events == 4


def test_other_threads_see_nothing_of_it_before_it_is_kept(controller):
    seen = []
    with controller.as_one(by="ann") as call:
        controller.ask()
        thread = threading.Thread(target=lambda: seen.append(controller._log.state.trials))
        thread.start()
        thread.join()
        call.answer = {}
    assert seen == [0]


def test_the_history_says_who_and_a_backup_keeps_it(controller, tmp_path):
    trial = controller.ask()
    with controller.as_one(by="ann") as call:
        controller.tell(trial, np.zeros(12))
        call.answer = {}
    assert [entry.by for entry in controller.history()] == [None, None, "ann"]
    controller.backup(tmp_path / "copy.jsonl")
    gbb.controller.restore(tmp_path / "copy.jsonl", f"sqlite:///{tmp_path}/two.db")
    with gbb.Controller.open(f"sqlite:///{tmp_path}/two.db") as other:
        assert [entry.by for entry in other.history()] == [None, None, "ann"]
        assert other.check().rounds == 1


def test_an_attached_round_may_say_who_attached_it(controller):
    with controller.as_one(by="ann") as call:
        controller.attach([0, 1, 2, 0], np.zeros(12), key="r1")
        call.answer = {}
    assert controller.history()[-1].by == "ann"
    assert controller.check().rounds == 1


def test_warnings_about_rewards_stand_in_the_answer(controller, recwarn):
    trial = controller.ask()
    with controller.as_one(by="ann", key="t", body=b"50") as call:
        controller.tell(trial, np.full(12, 50.0))
        call.answer = {"rounds": 1}
    assert "lie outside" in call.answer["warnings"][0]
    assert not recwarn.list


def test_a_controller_is_created_once(tmp_path, problem):
    url, given = f"sqlite:///{tmp_path}/new.db", {"by": "ann", "key": "k", "body": BODY}
    first = gbb.Controller.create_as(url, problem, "JointOFUL", name="farm", **given)
    again = gbb.Controller.create_as(url, problem, "JointOFUL", name="farm", **given)
    assert not first.repeated
    assert again.repeated
    assert again.answer == first.answer
    with pytest.raises(gbb.InputError, match="there already"):
        gbb.Controller.create_as(url, problem, "JointOFUL", name="farm", by="ann", key="k2")
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
        call = gbb.Controller.create_as(url, problem, "JointOFUL", name="farm", by="a", key="k")
        assert call.repeated is expected
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
