"""The state machine of test_machine.py where edges change their types from round to round."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
import test_machine
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

import gbb
from gbb.contexts import EdgeTypes
from gbb.controller import Controller
from gbb.controller.log import log

K, GRAPHS = test_machine.K, test_machine.GRAPHS
PLAYED = sorted(
    name
    for name in gbb.policies.names()
    if (kind := gbb.policies.find(name)).controllable
    and not kind.requires
    and name != "Conservative"
)


class Model(test_machine.Model):
    """The same, with tables for each type; an edge's type is that of its round."""

    def __init__(self, graph):
        super().__init__(graph)
        self.types = {}

    def tables(self, *, paired=False):
        N, Y = np.zeros((2, K, K)), np.zeros((2, K, K))
        for what, allocation, rewards in self.learnt:
            if what == "discount":
                N, Y = N / 2, Y / 2
                continue
            types = self.types[what]
            for (i, j), value in rewards.items():
                alone = (j, i) not in rewards or types[i, j] != types[j, i]
                if types[i, j] < 0 or (paired and alone):
                    continue
                N[types[i, j], allocation[i], allocation[j]] += 1
                Y[types[i, j], allocation[i], allocation[j]] += value
        return N, Y


class Machine(test_machine.Machine):
    """Two types of edges, which change from round to round, and whole-numbered rewards."""

    @initialize(policy=st.sampled_from(PLAYED), seed=st.integers(0, 9))
    def start(self, policy, seed):
        memory = Path("/dev/shm")
        self.folder = tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)
        self.url = f"sqlite:///{self.folder.name}/control.db"
        problem = gbb.Problem(GRAPHS[0], np.eye(K), S=9.0, sigma=3.0, contexts=EdgeTypes(2))
        self.every, log.SNAPSHOT_EVENTS = log.SNAPSHOT_EVENTS, 4
        fixed = test_machine.FIXED.get(policy, {})
        self.fixed, self.guarded = bool(fixed), False
        cut = gbb.cuts.greedy(problem.graph)
        chosen = gbb.policies.build(policy, problem, cut=cut, **fixed)
        self.controller = Controller.create(self.url, problem, chosen, seed)
        self.model = Model(GRAPHS[0])

    def draw_types(self, data):
        links = self.model.links(self.model.graph)
        kinds = np.random.default_rng(data.draw(st.integers(0, 99))).integers(-1, 2, len(links))
        return dict(zip(links, kinds.tolist(), strict=True))

    @rule(data=st.data())
    def ask(self, data):
        types, model = self.draw_types(data), self.model
        self.refused(self.controller.ask)
        trial = self.controller.ask(list(types.values()))
        assert trial.context == list(types.values())
        assert all(trial.allocation[name] in model.allowed[name] for name in model.graph.names)
        model.open[trial.id] = (model.graph, trial.allocation)
        model.types[trial.id] = types
        model.events += 1

    @rule(data=st.data(), key=st.sampled_from([None, "first", "second"]))
    def attach(self, data, key):
        model, graph = self.model, self.model.graph
        if key in model.keys:
            allocation, rewards, types = model.keys[key]
            self.controller.attach(allocation, rewards, context=list(types.values()), key=key)
            other = [-1 if each >= 0 else 0 for each in types.values()]
            self.refused(
                lambda: self.controller.attach(allocation, rewards, context=other, key=key)
            )
            return
        allocation = {name: data.draw(st.integers(0, K - 1)) for name in graph.names}
        paid = data.draw(st.integers(-9, 9))
        rewards = {link: float(paid + place) for place, link in enumerate(model.links(graph))}
        types = self.draw_types(data)
        self.controller.attach(allocation, rewards, context=list(types.values()), key=key)
        what = ("attached", key) if key is not None else ("attached", None, model.events)
        model.learn(what, allocation, rewards)
        model.types[what] = types
        if key is not None:
            model.keys[key] = (allocation, rewards, types)
        model.attached += 1
        model.events += 1

    @rule(data=st.data())
    def look(self, data):
        advice = self.controller.recommend(list(self.draw_types(data).values()))
        allowed = self.model.allowed
        assert all(advice.allocation[name] in allowed[name] for name in self.model.graph.names)
        assert advice.low <= advice.reward <= min(advice.high, advice.upper_bound)


TestMachine = pytest.mark.no_cover(Machine.TestCase)  # long
TestMachine.settings = settings(stateful_step_count=30, max_examples=10)
