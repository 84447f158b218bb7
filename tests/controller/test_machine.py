"""A state machine: any order of calls, against a plain model in memory."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import gbb
from control import replayed, same_state
from gbb.controller import Controller
from gbb.controller.log import log

K = 3
GRAPHS = [
    gbb.Graph.from_edges(edges, names=names, undirected=True)
    for names, edges in [
        (["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "a")]),
        (["b", "c", "d", "e"], [("b", "c"), ("c", "d"), ("d", "e"), ("b", "e")]),
        (["a", "e"], [("a", "e")]),
        (["c", "a"], [("a", "c")]),
    ]
]


FIXED = {
    "FixedAllocation": {"allocation": np.zeros(3, int)},
    "Conservative": {"baseline": np.zeros(3, int), "eps": 1.0, "floor": 0.0},
}
"""Policies with an arm for every agent by name."""


class Model:
    """What a controller is, in dictionaries and loops."""

    def __init__(self, graph):
        self.graph = graph
        self.open = {}
        self.told, self.asked = {}, {}
        self.closed = {}
        self.learnt = []
        self.allowed = {name: set(range(K)) for name in graph.names}
        self.attached, self.keys, self.events = 0, {}, 1

    def learn(self, trial, allocation, rewards):
        self.learnt.append((trial, allocation, rewards))

    def tables(self, *, paired=False):
        """N and Y by going through everything that counts, or all links seen in both directions."""
        N, Y = np.zeros((K, K)), np.zeros((K, K))
        for what, allocation, rewards in self.learnt:
            if what == "discount":
                N, Y = N / 2, Y / 2
            for (i, j), value in rewards.items():
                if paired and (j, i) not in rewards:
                    continue
                N[allocation[i], allocation[j]] += 1
                Y[allocation[i], allocation[j]] += value
        return N, Y

    def links(self, graph):
        return [(graph.names[i], graph.names[j]) for i, j in graph.edges]


class Machine(RuleBasedStateMachine):
    """Whole-numbered rewards, so that sums are exact."""

    @initialize(
        policy=st.sampled_from(
            [name for name in gbb.policies.names() if gbb.policies.find(name).controllable]
        ),
        seed=st.integers(0, 9),
    )
    def start(self, policy, seed):
        memory = Path("/dev/shm")  # many small commits, and the disk is not what is tested here
        self.folder = tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)
        self.url = f"sqlite:///{self.folder.name}/control.db"
        problem = gbb.Problem(GRAPHS[0], np.eye(K), S=9.0, sigma=1.0)
        fixed = FIXED.get(policy, {})
        # Small enough that the rules cross a snapshot now and then.
        self.every, log.SNAPSHOT_EVENTS = log.SNAPSHOT_EVENTS, 4
        self.fixed, self.guarded = bool(fixed), policy == "Conservative"
        cut = gbb.cuts.greedy(problem.graph)
        chosen = gbb.policies.build(policy, problem, cut=cut, exploration=3, **fixed)
        self.controller = Controller.create(self.url, problem, chosen, seed)
        self.model = Model(GRAPHS[0])

    def teardown(self):
        if hasattr(self, "every"):
            log.SNAPSHOT_EVENTS = self.every
        if hasattr(self, "controller"):
            self.controller.close()
            self.folder.cleanup()

    @rule()
    def ask(self):
        trial = self.controller.ask()
        model = self.model
        assert trial.id == len(model.open) + len(model.told) + len(model.closed) + 1
        assert trial.round == self.rounds + 1
        assert list(trial.allocation) == list(model.graph.names)
        assert all(trial.allocation[name] in model.allowed[name] for name in model.graph.names)
        model.open[trial.id] = (model.graph, trial.allocation)
        model.events += 1

    @precondition(lambda self: self.model.open)
    @rule(data=st.data())
    def tell(self, data):
        id = data.draw(st.sampled_from(sorted(self.model.open)))
        graph, allocation = self.model.open.pop(id)
        links = self.model.links(graph)
        some = data.draw(st.lists(st.sampled_from(links), min_size=1, unique=True))
        rewards = {link: float(data.draw(st.integers(-9, 9))) for link in some}
        self.controller.tell(id, rewards)
        self.model.told[id] = rewards
        self.model.asked[id] = (graph, allocation)
        self.model.learn(id, allocation, rewards)
        self.model.events += 1

    @precondition(lambda self: self.model.told)
    @rule(data=st.data())
    def tell_again(self, data):
        id = data.draw(st.sampled_from(sorted(self.model.told)))
        self.controller.tell(id, self.model.told[id])
        link = next(iter(self.model.told[id]))
        self.refused(lambda: self.controller.tell(id, {**self.model.told[id], link: 99.0}))

    @precondition(lambda self: self.model.open)
    @rule(data=st.data(), kind=st.sampled_from(["fail", "abandon"]))
    def close(self, data, kind):
        id = data.draw(st.sampled_from(sorted(self.model.open)))
        getattr(self.controller, kind)(id)
        self.model.closed[id] = kind
        self.model.asked[id] = self.model.open.pop(id)
        self.model.events += 1
        self.refused(lambda: self.controller.tell(id, {("a", "b"): 1.0}))

    @precondition(lambda self: self.model.asked)
    @rule(data=st.data())
    def retract(self, data):
        model = self.model
        id = data.draw(st.sampled_from(sorted(model.asked)))
        self.controller.retract(id)
        model.open[id] = model.asked.pop(id)
        model.told.pop(id, None)
        model.closed.pop(id, None)
        model.learnt = [row for row in model.learnt if row[0] != id]
        model.events += 1
        self.controller.retract(id)  # the same again changes nothing

    @precondition(lambda self: self.model.open)
    @rule(data=st.data())
    def retract_what_is_open(self, data):
        id = data.draw(st.sampled_from(sorted(self.model.open)))
        closed = [entry for entry in self.controller.history("retract") if entry.trial_id == id]
        if closed:
            self.controller.retract(id)
        else:
            self.refused(lambda: self.controller.retract(id))

    @rule(data=st.data(), kind=st.sampled_from(["forbid", "pin", "allow"]))
    def arms(self, data, kind):
        agent = data.draw(st.sampled_from(self.model.graph.names))
        arm = data.draw(st.integers(0, K - 1))
        row = self.model.allowed[agent]
        left = {"forbid": row - {arm}, "pin": {arm}, "allow": row | {arm}}[kind]
        if not left or (self.guarded and 0 not in left):  # the arms of its baseline stay allowed
            self.refused(lambda: getattr(self.controller, kind)(agent, arm))
            return
        getattr(self.controller, kind)(agent, arm)
        self.model.allowed[agent] = left
        self.model.events += 1

    @rule(graph=st.sampled_from(GRAPHS))
    def replace_graph(self, graph):
        if self.fixed and set(graph.names) - set(self.model.graph.names):
            self.refused(lambda: self.controller.replace_graph(graph))
            return
        self.controller.replace_graph(graph)
        old = {name: self.model.allowed[name] for name in self.model.graph.names}
        self.model.graph = graph
        self.model.allowed = {name: old.get(name, set(range(K))) for name in graph.names}
        self.model.events += 1

    @rule(data=st.data(), key=st.sampled_from([None, "first", "second"]))
    def attach(self, data, key):
        graph = self.model.graph
        if key in self.model.keys:
            allocation, rewards = self.model.keys[key]
            self.controller.attach(allocation, rewards, key=key)
            link = next(iter(rewards))
            other = {**rewards, link: 99.0}
            self.refused(lambda: self.controller.attach(allocation, other, key=key))
            return
        allocation = {name: data.draw(st.integers(0, K - 1)) for name in graph.names}
        rewards = {link: float(data.draw(st.integers(-9, 9))) for link in self.model.links(graph)}
        self.controller.attach(allocation, rewards, key=key)
        self.model.learn(("attached", key), allocation, rewards)
        if key is not None:
            self.model.keys[key] = (allocation, rewards)
        self.model.attached += 1
        self.model.events += 1

    @precondition(lambda self: self.model.keys)
    @rule(data=st.data())
    def retract_attached(self, data):
        model, key = self.model, data.draw(st.sampled_from(sorted(self.model.keys)))
        self.controller.retract(key=key)
        del model.keys[key]
        model.learnt = [row for row in model.learnt if row[0] != ("attached", key)]
        model.attached -= 1
        model.events += 1
        self.controller.retract(key=key)  # the same again changes nothing

    @rule()
    def discount(self):
        self.controller.discount(0.5)
        self.model.learn("discount", {}, {})
        self.model.events += 1

    @rule()
    def reopen(self):
        self.controller.close()
        self.controller = Controller.open(self.url)

    @rule()
    def look(self):
        advice = self.controller.recommend()
        allowed = self.model.allowed
        assert all(advice.allocation[name] in allowed[name] for name in self.model.graph.names)
        assert advice.low <= advice.reward <= min(advice.high, advice.upper_bound)

    def refused(self, call):
        before = self.controller._log.state.seq
        try:
            call()
        except gbb.InputError:
            assert self.controller._log.refresh().seq == before
        else:
            raise AssertionError("it should have been refused")

    @property
    def rounds(self):
        return len(self.model.told) + self.model.attached

    @invariant()
    def agrees(self):
        if not hasattr(self, "controller"):
            return
        state = self.controller._log.state
        assert state.seq == self.model.events
        assert sorted(state.open) == sorted(self.model.open)
        for record, paired in ((state.record, False), (state.record.two_way_part, True)):
            N, Y = self.model.tables(paired=paired)
            assert np.array_equal(record.N, N)
            assert np.array_equal(record.Y, Y)
        assert state.rounds == self.rounds
        for id, (graph, allocation) in self.model.open.items():
            assert state.problem_on(state.open[id].graph).graph == graph
            assert state.open[id].allocation.tolist() == list(allocation.values())
        assert same_state(replayed(self.controller), state)


TestMachine = pytest.mark.no_cover(Machine.TestCase)  # long
TestMachine.settings = settings(stateful_step_count=30)
