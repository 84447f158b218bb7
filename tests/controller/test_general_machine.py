"""The state machine of test_machine.py on a problem with edge types: any order of calls."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
import test_machine
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

import gbb
from gbb.controller import Controller
from gbb.controller.log import log

K, GRAPHS = test_machine.K, test_machine.GRAPHS
GENERAL = sorted(
    name
    for name in gbb.policies.names()
    if (kind := gbb.policies.find(name)).controllable and not kind.requires
)


def type_of(source, target):
    """Each link has an edge of either type."""
    return int(source < target)


def types_of(graph):
    return [type_of(graph.names[i], graph.names[j]) for i, j in graph.edges]


class Model(test_machine.Model):
    """The same, with tables for each type."""

    def tables(self, *, paired=False):
        N, Y = np.zeros((2, K, K)), np.zeros((2, K, K))
        if paired:
            return N, Y  # the two directions of a link are never alike
        for what, allocation, rewards in self.learnt:
            if what == "discount":
                N, Y = N / 2, Y / 2
            for (i, j), value in rewards.items():
                N[type_of(i, j), allocation[i], allocation[j]] += 1
                Y[type_of(i, j), allocation[i], allocation[j]] += value
        return N, Y


class Machine(test_machine.Machine):
    """Two types of edges, whole-numbered rewards."""

    @initialize(policy=st.sampled_from(GENERAL), seed=st.integers(0, 9))
    def start(self, policy, seed):
        memory = Path("/dev/shm")
        self.folder = tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)
        self.url = f"sqlite:///{self.folder.name}/control.db"
        types = types_of(GRAPHS[0])
        problem = gbb.Problem(GRAPHS[0], np.eye(K), S=9.0, sigma=1.0, edge_types=types)
        self.every, log.SNAPSHOT_EVENTS = log.SNAPSHOT_EVENTS, 4
        fixed = test_machine.FIXED.get(policy, {})
        self.fixed, self.guarded = bool(fixed), policy == "Conservative"
        cut = gbb.cuts.greedy(problem.graph)
        chosen = gbb.policies.build(policy, problem, cut=cut, radius="complete", **fixed)
        self.controller = Controller.create(self.url, problem, chosen, seed)
        self.model = Model(GRAPHS[0])

    @rule(graph=st.sampled_from(GRAPHS))
    def replace_graph(self, graph):
        types = types_of(graph)
        self.refused(lambda: self.controller.replace_graph(graph))
        if self.fixed and set(graph.names) - set(self.model.graph.names):
            self.refused(lambda: self.controller.replace_graph(graph, edge_types=types))
            return
        self.controller.replace_graph(graph, edge_types=types)
        old = {name: self.model.allowed[name] for name in self.model.graph.names}
        self.model.graph = graph
        self.model.allowed = {name: old.get(name, set(range(K))) for name in graph.names}
        self.model.events += 1


TestMachine = pytest.mark.no_cover(Machine.TestCase)  # long
TestMachine.settings = settings(stateful_step_count=30)
