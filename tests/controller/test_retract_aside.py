"""Retracting replays the log while others write, and attached rounds are taken back too."""

import functools
import time
from contextlib import contextmanager

import numpy as np
import pytest

import gbb
from control import drive, environment, plain, replayed, same_state, small, url_of
from gbb.controller import Controller, RewardWarning
from gbb.controller.commands import retract as verb
from gbb.controller.log.database import Database
from gbb.controller.state.fold import LEARNT, fold
from gbb.controller.state.specs import encode_graph
from gbb.controller.state.state import begin


@pytest.fixture
def problem():
    return small(named=True)


def content_by_plain_replay(controller, trial):
    """What a retraction of ``trial`` says now, by a replay of all events at once."""
    log = controller._log
    state, events = log.refresh(), list(log.events())
    own = [event for event in events if event.trial == trial]
    closing = [event for event in own if event.kind in ("tell", "fail", "abandon", "timeout")][-1]
    back = [event for event in events if event.kind == "retract"]
    gone = {closing.seq, *(s for event in back for s in (event.seq, event.content["of"]))}
    told = closing.kind == "tell"
    kept = [e for e in events if (e.seq not in gone if told else e.seq < closing.seq)]
    without = functools.reduce(fold, kept[1:], begin(kept[0]))
    ask, before = without.open[trial], [event for event in events if event.seq < own[0].seq]
    rounds = sum(event.kind in LEARNT for event in before)
    rounds -= sum(e.kind == "retract" and e.content["closed_by"] in LEARNT for e in before)
    content = {
        "of": closing.seq,
        "closed_by": closing.kind,
        "ask": [rounds + 1 if told else ask.round, ask.setup, ask.graph, ask.couple],
    }
    if ask.graph not in {state.setup.graph_seq, *state.past_problems}:
        content["ask_graph"] = encode_graph(without.problem_on(ask.graph))
    if told:
        content |= without.record.to_dict()
        late = (event.kind == "warning" and event.seq > closing.seq for event in own)
        content["far"] = sum(late)
    return content


def last_event(controller):
    return [event for event in controller._log.events() if event.kind == "retract"][-1]


def same_content(event, content):
    def bare(value):
        return [bare(each) for each in value] if isinstance(value, list | tuple) else plain(value)

    assert event.kind == "retract"
    assert list(event.content) == list(content)
    for name, value in content.items():
        assert bare(event.content[name]) == bare(value), name


def test_the_event_is_that_of_a_replay_of_everything(problem, tmp_path):
    """Over graphs, discounts, partial rewards, far rewards, and trials given up or opened again."""
    controller = Controller.create(url_of(tmp_path), problem, seed=1)
    env, rng = environment(problem), np.random.default_rng(0)
    drive(controller, env, rng, 3)
    with pytest.warns(RewardWarning):
        controller.tell(controller.ask(), np.full(problem.m, 1e60))
    controller.tell(controller.ask(), {("cell-0", "cell-1"): 0.3})
    controller.fail(controller.ask())
    controller.abandon(controller.ask())
    controller.attach([0, 1, 2, 0], rng.standard_normal(problem.m), key="kept")
    controller.discount(0.7)
    drive(controller, env, rng, 2)
    controller.replace_graph(gbb.Graph.from_edges([("cell-3", "cell-1")], undirected=True))
    controller.tell(controller.ask(), [1.0, 2.0])
    for trial in (4, 6, 1, 7, 5, 9, 10, 2):
        expected = content_by_plain_replay(controller, trial)
        controller.retract(trial)
        same_content(last_event(controller), expected)
        assert same_state(replayed(controller), controller._log.state)


@contextmanager
def watched_lock(monkeypatch):
    """Counts what is folded for a retraction, inside and outside the lock."""
    counts, inside = {"inside": 0, "outside": 0}, []
    writing, real = Database.write, verb.fold

    @contextmanager
    def watched(self, study):
        with writing(self, study) as connection:
            inside.append(True)
            try:
                yield connection
            finally:
                inside.pop()

    def counted(state, event):
        counts["inside" if inside else "outside"] += 1
        return real(state, event)

    with monkeypatch.context() as patch:
        patch.setattr(Database, "write", watched)
        patch.setattr(verb, "fold", counted)
        yield counts


def test_nothing_is_replayed_while_others_wait(problem, tmp_path, monkeypatch):
    controller = Controller.create(url_of(tmp_path), problem, seed=1)
    drive(controller, environment(problem), np.random.default_rng(0), 40)
    with watched_lock(monkeypatch) as counts:
        controller.retract(7)
    assert counts == {"inside": 0, "outside": 79}


def test_what_others_write_meanwhile_counts(problem, tmp_path):
    url = url_of(tmp_path)
    one, other = Controller.create(url, problem, seed=1), Controller.open(url)
    env, rng = environment(problem), np.random.default_rng(0)
    drive(one, env, rng, 5)
    found = verb.prepare(one._log, 2, None, None)
    drive(other, env, rng, 3)
    other.discount(0.5)
    expected = content_by_plain_replay(other, 2)
    with one._log.write() as turn:
        assert verb.finish(turn, found, "")
    same_content(last_event(other), expected)
    assert same_state(replayed(one), one._log.state)


@pytest.mark.parametrize("rival", [2, 4])
def test_another_retraction_meanwhile_starts_anew(problem, tmp_path, monkeypatch, rival):
    """Of another trial: both are gone. Of the same: it is open again, and once is enough."""
    url = url_of(tmp_path)
    one, other = Controller.create(url, problem, seed=1), Controller.open(url)
    env, rng = environment(problem), np.random.default_rng(0)
    drive(one, env, rng, 5)
    prepare, calls = verb.prepare, []

    def disturbed(*args):
        found = prepare(*args)
        if not calls:
            rivals = prepare(other._log, rival, None, None)
            with other._log.write() as turn:
                assert verb.finish(turn, rivals, "")
        calls.append(found)
        return found

    monkeypatch.setattr("gbb.controller.commands.retract.prepare", disturbed)
    one.retract(2)
    assert len(calls) == 2
    gone = {2, rival}
    assert set(one._log.state.open) == gone
    assert len(one.history("retract")) == len(gone)
    Y = sum(
        row[2]
        for e in one.history("tell")
        if e.trial_id not in gone
        for row in e.content["rewards"]
    )
    assert one._log.state.record.Y.sum() == pytest.approx(Y)
    assert same_state(replayed(one), one._log.state)


def test_an_attached_round_is_taken_back_by_its_key(problem, tmp_path):
    url = url_of(tmp_path)
    controller = Controller.create(url, problem, seed=1)
    right = Controller.create(url, problem, seed=1, name="right")
    env, rng = environment(problem), np.random.default_rng(0)
    good, bad = rng.standard_normal(problem.m), np.full(problem.m, 1e60)
    rounds = [env.draw(1, np.zeros(4, dtype=int), rng) for _ in range(3)]
    for each in (controller, right):
        each.attach([0, 0, 0, 0], rounds[0])
    with pytest.warns(RewardWarning):
        controller.attach([0, 1, 2, 0], bad, key="monday")
    for each in (controller, right):
        each.attach([0, 0, 0, 0], rounds[1], key="tuesday")
    assert controller.recommend().caveat is not None
    controller.retract(key="monday", reason="wrong unit")
    assert controller.recommend().caveat is None
    one, other = controller._log.state, right._log.state
    assert plain(one.record) == plain(other.record)
    assert plain(one.memory) == plain(other.memory)
    assert one.rounds == other.rounds == 2
    assert set(one.keys) == {"tuesday"}
    before = one.seq
    controller.retract(key="monday")  # the same again changes nothing
    assert controller._log.refresh().seq == before
    (entry,) = controller.history("retract")
    assert entry.trial_id is None
    assert {k: entry.content[k] for k in ("closed_by", "key", "reason")} == {
        "closed_by": "attach",
        "key": "monday",
        "reason": "wrong unit",
    }
    controller.attach([0, 1, 2, 0], good, key="monday")  # anew
    right.attach([0, 1, 2, 0], good, key="monday")
    assert plain(controller._log.state.record) == plain(right._log.state.record)
    controller.retract(key="monday")  # and again
    assert plain(controller._log.state.record) == plain(other.record)
    assert same_state(replayed(controller), controller._log.state)
    assert same_state(Controller.open(url, "default")._log.state, controller._log.state)
    with pytest.raises(gbb.InputError, match="`key` to be that of an attached round, but got 'x'"):
        controller.retract(key="x")


def test_one_without_a_key_is_taken_back_by_its_event(problem, tmp_path):
    controller = Controller.create(url_of(tmp_path), problem, seed=1)
    drive(controller, environment(problem), np.random.default_rng(0), 2)
    record = controller._log.state.record
    controller.attach([0, 1, 2, 0], np.ones(problem.m))
    (entry,) = controller.history("attach")
    controller.retract(event=entry.seq)
    assert plain(controller._log.state.record) == plain(record)
    controller.retract(event=entry.seq)
    assert controller.status()["events"] == entry.seq + 1
    for wrong, got in ((3, "which is one of kind 'tell'"), (99, "which is none")):
        with pytest.raises(gbb.InputError, match=f"`event` to be that of an .*{wrong}, {got}"):
            controller.retract(event=wrong)
    with pytest.raises(gbb.InputError, match="exactly one of `trial`, `key` and `event`"):
        controller.retract()
    with pytest.raises(gbb.InputError, match="exactly one of `trial`, `key` and `event`"):
        controller.retract(1, key="x")


def test_the_lock_is_held_for_a_moment_only(problem, tmp_path, monkeypatch):
    """Whatever the log's length."""
    controller = Controller.create(url_of(tmp_path), problem, seed=1)
    drive(controller, environment(problem), np.random.default_rng(0), 150)
    held, writing = [], Database.write

    @contextmanager
    def timed(self, study):
        with writing(self, study) as connection:
            began = time.perf_counter()
            yield connection
        held.append(time.perf_counter() - began)

    monkeypatch.setattr(Database, "write", timed)
    controller.retract(3)
    assert len(held) == 1
    assert held[0] < 0.5
