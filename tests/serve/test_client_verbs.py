"""The same code on a controller and on a client: the same verbs, the same answers."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import math
from datetime import datetime

import numpy as np
import pandas as pd
import pytest

import gbb
from control import context_for, environment, noise_of, pay, small, url_of
from gbb.client import Client
from gbb.controller import BaseController, Controller, RewardWarning
from gbb.controller.log import log
from gbb.graph import Graph
from gbb.problem import Problem

NOT_OVER_THE_WIRE = {
    "backup": "the service's own files: `gbb control backup`",
    "copy": "the service's own storage: `gbb control copy`",
    "delete": "for good: `gbb control delete`, where the storage is",
    "execute": "a client has one once it is built on requests",
    "import_rounds": "a bulk: `gbb control import`, where the storage is",
    "missing_shards": "shards stand beside their controller",
    "names": "a client has one controller; GET /v1/controllers lists them",
    "open": "the constructor is it",
    "policy": "an object that lives where the controller is; status() has its name",
    "refresh": "every answer of a service is of now",
    "rehearse": "create() refuses the same, and keeps nothing then",
    "rename": "the service's own storage: `gbb control rename`",
    "replay": "minutes of computing: `gbb control replay`, where the storage is",
    "state": "an object that lives where the controller is",
    "tell_all_tables": "shards stand beside their controller",
    "tell_tables": "shards stand beside their controller",
}
"""Verbs of a controller that a client has not, and why."""

names = itertools.count()


def verbs_of(kind: type) -> set[str]:
    found = {**vars(kind), **(vars(BaseController) if kind is Controller else {})}
    return {name for name in found if not name.startswith("_")}


def test_a_client_has_every_verb_or_a_reason():
    missing = verbs_of(Controller) - verbs_of(Client)
    assert missing == NOT_OVER_THE_WIRE.keys()
    assert verbs_of(Client) <= verbs_of(Controller)


@pytest.mark.parametrize("verb", sorted(verbs_of(Controller) - NOT_OVER_THE_WIRE.keys()))
def test_verbs_take_the_same_arguments(verb):
    ours, theirs = (getattr(kind, verb) for kind in (Client, Controller))
    if isinstance(theirs, property) or verb == "create":
        return
    wanted, found = (inspect.signature(each).parameters for each in (theirs, ours))
    left_out = {"edge_counts", "parts"}  # of networks in shards
    assert [n for n in wanted if n not in left_out] == [
        n for n in found if n != "cut" or n in wanted
    ]
    for name in found.keys() & wanted.keys():
        assert found[name].default == wanted[name].default
        assert found[name].kind == wanted[name].kind


@pytest.fixture(autouse=True)
def as_the_server(monkeypatch):
    """Snapshots come as often here as there, whatever other tests of this process have set."""
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", 1000)


def both(server, tmp_path, problem, **settings):
    """A controller and a client of another one, made alike."""
    name = f"both-{next(names)}"
    here = Controller.create(url_of(tmp_path), problem, seed=3, name=name, **settings)
    there = Client.create(server.url, problem, seed=3, name=name, **settings)
    return here, there


def same(one, other) -> None:  # noqa: PLR0912
    """Equal to the last bit, but for when and where it was, and by whom."""
    assert type(one) is type(other)
    if dataclasses.is_dataclass(one) and not isinstance(one, Graph):
        for field in dataclasses.fields(one):
            if field.name not in ("time", "since", "by"):
                same(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, Problem):
        assert repr(one) == repr(other)
        assert one.settings().keys() == other.settings().keys()
        same(one.graph, other.graph)
        same(one.arms, other.arms)
    elif isinstance(one, Graph):
        assert one == other
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for key in one.keys() - {"url", "since"}:
            same(one[key], other[key])
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for mine, theirs in zip(one, other, strict=True):
            if not isinstance(mine, datetime):
                same(mine, theirs)
    elif isinstance(one, float) and math.isnan(one):
        assert math.isnan(other)
    else:
        assert one == other


PROBLEMS = {
    "named": {"named": True},
    "numbers": {},
    "links": {"named": True, "feedback": "link"},
    "agents": {"feedback": "agent"},
    "global": {"named": True, "feedback": "global"},
    "regimes": {"named": True, "contexts": "regimes"},
    "vector": {"contexts": "vector"},
    "edge types": {"contexts": "edge types"},
    "edge features": {"contexts": "edge features"},
}


def play(controller, problem, rounds=12):
    """Everything that a controller does, in order; what it answered."""
    env, rng = environment(problem), noise_of(5)
    known = [context_for(problem, number) for number in range(100)]
    yield controller.name
    for number in range(rounds):
        trial = controller.ask(known[number])
        yield trial
        controller.tell(trial, pay(env, trial, rng))
    yield (trial := controller.ask(known[0], timeout=1000.0))
    yield (trial := controller.next(trial, pay(env, trial, rng), known[1]))
    yield controller.open_trials()
    yield controller.trial(trial.id)
    controller.fail(trial.id, "storm")
    if problem.contexts is None:
        several = controller.ask_many(3)
    else:
        several = controller.ask_many(3, contexts=known[2:5])
    yield several
    controller.abandon(several[0])
    paid = pay(env, several[1], rng)
    controller.tell(several[1], paid)
    controller.retract(several[1], "typo")
    controller.tell(several[1], paid)
    arms = several[2].allocation
    controller.attach(arms, pay(env, several[2], rng), key="k", context=several[2].context)
    controller.retract(key="k")
    yield controller.recommend(known[0], seconds=1.0)
    yield controller.predict(arms, known[0])
    yield controller.predict(several[2].arms, known[0])
    if problem.contexts is not None:
        yield controller.recommend_table([known[0], known[1]], seconds=1.0).to_dict("list")
    yield controller.estimate()
    yield controller.diagnose(worst=3)
    yield controller.problem
    first = problem.graph.labels[0]
    arm = 0 if problem.arm_names is None else problem.arm_names[0]
    controller.forbid(first, arm)
    yield controller.status()
    controller.pin([first], 1 if problem.arm_names is None else problem.arm_names[1])
    yield controller.ask(known[0])
    controller.allow(None)
    controller.discount(0.5)
    controller.set_policy("ThompsonSampling", lam=2.0)
    yield controller.ask(known[0])
    yield controller.watch(stale=1e6)
    yield controller.check()
    yield controller.rewards(last=5)
    yield controller.history()
    yield controller.history("tell", last=3)
    yield controller.history(last=20, brief=True)
    yield controller.history(["ask", "tell"], after=3, last=4)
    yield controller.history(before=9, last=4)
    if problem.contexts is not None and problem.contexts.kind.startswith("edge"):
        return  # contexts of edges fit into no table
    yield controller.export_rounds().drop(columns=["key", "time"]).to_dict("list")


@pytest.mark.parametrize("kind", PROBLEMS)
def test_the_same_code_runs_on_both(server, tmp_path, kind):
    problem = small(**PROBLEMS[kind])
    here, there = both(server, tmp_path, problem, delta=0.05)
    with here, there:
        for one, other in zip(play(here, problem), play(there, problem), strict=True):
            same(one, other)
        assert {entry.by for entry in there.history()} == {"local"}
        assert {entry.by for entry in here.history()} == {None}


def test_rewards_in_every_form(server, tmp_path):
    problem = small(named=True)
    path = tmp_path / "rewards.csv"
    path.write_text("source,target,reward\ncell-0,cell-1,0.5\ncell-1,cell-0,0.25\n")
    rows = [("cell-0", "cell-1", 0.5), ("cell-1", "cell-0", 0.25)]
    forms = [
        path,
        str(path),
        pd.DataFrame(rows, columns=["source", "target", "reward"]),
        {row[:2]: row[2] for row in rows},
        np.full(problem.m, 0.5),
        [0.5] * problem.m,
    ]
    here, there = both(server, tmp_path, problem)
    with here, there:
        for form in forms:
            for each in (here, there):
                each.tell(each.ask(), form)
        same(here.history("tell"), there.history("tell"))
        same(here.estimate(), there.estimate())


def test_graphs_and_what_is_known_of_links(server, tmp_path):
    graph = Graph.from_edges([("a", "b"), ("b", "c"), ("d", "a")], undirected=True)
    rng = np.random.default_rng(0)
    place = rng.uniform(size=(graph.n, 2))
    graph = Graph(graph.indptr, graph.indices, graph.names, place)
    types = (graph.sources + graph.indices) % 2
    weights = 1.0 + (graph.sources + graph.indices) / 10
    allowed = np.ones((4, 2), dtype=bool)
    allowed[1, 0] = False
    given = {"edge_types": types, "edge_weights": weights}
    problem = gbb.Problem(graph, np.eye(2), S=3.0, L=1.5, allowed=allowed, **given)
    here, there = both(server, tmp_path, problem)
    with here, there:
        same(here.problem, there.problem)
        assert there.problem.graph.positions.tolist() == place.tolist()
        assert there.problem.allowed.tolist() == allowed.tolist()
        for each in (here, there):
            each.tell(each.ask(), np.ones(graph.m))
            each.ask()
        bigger = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "e")], undirected=True)
        other = {"edge_types": np.array([0, 0, 1, 1, 0, 0]), "edge_weights": np.ones(bigger.m)}
        for each in (here, there):
            each.replace_graph(bigger, **other)
        same(here.problem, there.problem)
        same(here.ask(), there.ask())
        old = [[trial.allocation for trial in each.open_trials()] for each in (here, there)]
        assert old[0] == old[1]
        same(here.history(), there.history())


def test_what_is_refused_is_refused_in_the_same_words(server, tmp_path):
    problem = small(named=True)
    here, there = both(server, tmp_path, problem)
    wrong = [
        lambda c: c.tell(99, [0.0] * problem.m),
        lambda c: c.tell(1, {("cell-0", "nobody"): 1.0}),
        lambda c: c.tell(1, {("cell-0", "cell-1"): math.nan}),
        lambda c: c.tell(1, {"cell-0": 1.0}),
        lambda c: c.next(1, {"cell-0": 1.0}),
        lambda c: c.tell(1, [0.0]),
        lambda c: c.tell("one", [0.0]),
        lambda c: c.fail(7),
        lambda c: c.trial(99),
        lambda c: c.retract(),
        lambda c: c.ask("noon"),
        lambda c: c.ask(timeout=-1.0),
        lambda c: c.ask_many(0),
        lambda c: c.attach({"cell-0": "tilt-0"}, [0.0] * problem.m),
        lambda c: c.forbid("nobody", "tilt-0"),
        lambda c: c.pin("cell-0", ["tilt-0", "tilt-1"]),
        lambda c: c.discount(0.0),
        lambda c: c.set_policy("Nobody"),
        lambda c: c.predict([0]),
        lambda c: c.history("tale"),
        lambda c: c.history(last=0),
        lambda c: c.replace_graph("graph"),
        lambda c: c.diagnose(),
    ]
    with here, there:
        for each in (here, there):
            each.ask()
        for act in wrong:
            said = []
            for each in (here, there):
                with pytest.raises(gbb.InputError) as error:
                    act(each)
                said.append(str(error.value))
            assert said[0] == said[1]


def test_warnings_come_over_the_wire(server, tmp_path):
    here, there = both(server, tmp_path, small(named=True))
    with here, there:
        for each in (here, there):
            trial = each.ask()
            with pytest.warns(RewardWarning, match="outside"):
                each.tell(trial, {("cell-0", "cell-1"): 1e6})


def test_the_only_controller_need_not_be_named(forks, tmp_path):
    with forks.serving(f"sqlite:///{tmp_path / 'one.db'}") as server:
        with pytest.raises(gbb.InputError, match="this service has none"):
            gbb.Client(server.url)
        Client.create(server.url, small(), name="a b/c").close()
        with gbb.Client(server.url) as client:
            assert client.name == "a b/c"
            assert client.ask().id == 1
        Client.create(server.url, small(), name="other").close()
        with pytest.raises(gbb.InputError, match="'a b/c', 'other'"):
            gbb.Client(server.url)
        with (
            pytest.raises(
                gbb.InputError, match=r"no controller 'x'\. There are 'a b/c', 'other'\."
            ),
            gbb.Client(server.url, "x") as client,
        ):
            client.ask()


def test_what_a_client_cannot_reach_is_one_line():
    with pytest.raises(OSError, match=r"Cannot reach the service at http://127\.0\.0\.1:9: "):
        gbb.Client("http://127.0.0.1:9", "x", patience=0.1).ask()
    with pytest.raises(gbb.InputError, match=r"`patience`.* 3000, .*for an hour"):
        gbb.Client("http://127.0.0.1:9", "x", patience=1e6)
    wrong = ("http://host:99999", "http://host:x", "http://[::1", "http://user:secret@host")
    for url in ("farm.db", "ftp://host", "http://", *wrong):
        with pytest.raises(gbb.InputError, match="url"):
            gbb.Client(url, "x")
    with pytest.raises(gbb.InputError, match=r"Write http://127\.0\.0\.1:8931\."):
        gbb.Client("127.0.0.1:8931", "x")
    policy = gbb.policies.build("OFUL", small(), cut=gbb.cuts.greedy(small().graph))
    with pytest.raises(gbb.InputError, match="`policy` to be the name"):
        Client.create("http://127.0.0.1:9", small(), policy)


def test_what_a_client_cannot_use_is_one_line(server):
    url = "http://127.0.0.1:1"
    named = Client(server.url, "nobody's")
    wrong = {
        "`url`": [
            lambda: Client("http://h:99999"),
            lambda: Client("http://h:a"),
            lambda: Client(1),
        ],
        "`name`": [lambda: Client(url, ""), lambda: Client(url, 5)],
        "`token`": [lambda: Client(url, "x", ""), lambda: Client(url, "x", 5)],
        "`seconds`": [lambda: named.recommend(seconds="soon")],
        "cannot be sent as JSON": [lambda: named.tell(1, [object()])],
    }
    for words, calls in wrong.items():
        for call in calls:
            with pytest.raises(gbb.InputError, match=words) as said:
                call()
            assert "\n" not in str(said.value)


def test_a_blank_reward_is_missing_over_the_wire(server, tmp_path):
    here, there = both(server, tmp_path, small(named=True))
    links = [("cell-0", "cell-1"), ("cell-1", "cell-0")]
    table = pd.DataFrame(links, columns=["source", "target"]).assign(reward=[0.5, math.nan])
    with here, there:
        for each in (here, there):
            each.tell(each.ask(), {links[0]: 0.5, links[1]: None})
            each.tell(each.ask(), table)
        assert [(paid.reward, paid.observed) for paid in there.rewards()] == [
            (paid.reward, paid.observed) for paid in here.rewards()
        ]
