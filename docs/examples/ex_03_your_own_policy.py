"""
Your own policy
===============

A policy has three methods: ``init``, ``select`` and ``update``. Its state is yours to define; the loop, the seeds, the
comparison and the controller come with it.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import gbb
from gbb.plotting import plot_fraction
from gbb.policies import Choice, Learned, Policy


class BestReply(Policy[Learned]):
    """One agent in turn answers its neighbours' arms as the estimate says; the others stay."""

    def init(self):
        return Learned(0, gbb.learning.empty(self.problem))

    def select(self, state, rng):
        if state.rounds < 30:
            return Choice(rng.integers(0, self.problem.K, self.problem.n))
        pays = gbb.Ridge(self.problem, state.record, 1.0).means[0]
        pays = pays + pays.T  # both directions of a link
        arms = np.zeros(self.problem.n, dtype=int)
        for agent in [*range(self.problem.n)] * 3:
            arms[agent] = pays[:, arms[self.problem.graph.neighbours(agent)]].sum(axis=1).argmax()
        return Choice(arms)

    def update(self, state, choice, rewards):
        seen = gbb.learning.observe(self.problem, choice.allocation, np.asarray(rewards))
        return Learned(state.rounds + 1, state.record.merge(seen))


graph = gbb.Graph.random(12, p=0.4, seed=1)
problem = gbb.Problem(graph, np.eye(3), sigma=0.5, S=3.0)
env = gbb.Environment(problem, gbb.instances.absolute_normal(3, seed=5, zeta=0.0, frobenius=3.0))

with warnings.catch_warnings():
    warnings.simplefilter("ignore", gbb.simulation.SlowPolicyWarning)  # it is played round by round
    result = gbb.compare(env, [BestReply, "ImprovedOFUL"], rounds=400, runs=4, seed=0, record=1)
gbb.comparison(result).round(3)  # what each lost, with 95 % intervals, and beside the first

# %%
fig, ax = plt.subplots()
plot_fraction(result, ax, window=25, alphas=False)
ax.set_title("A policy of 20 lines beside the paper's best")

# %%
# Kept in ``best_reply.py``, ``gbb compare links.csv --undirected --policy best_reply:BestReply --plot picture.png`` plays it from its folder.
# Put the class into a package with an entry point, and ``gbb simulate --policy BestReply`` plays it too; a contract of two lines
# tests it on every kind of problem: :doc:`../developer/adding-a-policy`.
