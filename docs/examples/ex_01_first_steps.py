"""
First steps
===========

A graph, a problem, a hidden matrix, a policy, a result: the five things of every script.
"""

import matplotlib.pyplot as plt
import numpy as np

import gbb
from gbb.plotting import plot_fraction

graph = gbb.Graph.complete(5)  # agents and links
problem = gbb.Problem(graph, arms=np.eye(5), sigma=1.0, S=6.0)  # what the learner knows
M_star = gbb.instances.absolute_normal(5, seed=1, zeta=0.0)
env = gbb.Environment(problem, M_star)  # what it does not
policy = gbb.policies.ImprovedOFUL(problem, cut=gbb.cuts.best(graph))
result = gbb.simulate(env, policy, rounds=2000, runs=5, seed=0)
print(result)

# %%
# ``fraction`` is the share of the optimal reward in each round; ``regret`` and ``alpha_regret`` are cumulative.

fig, ax = plt.subplots()
plot_fraction(result, ax)
ax.set_title("ImprovedOFUL on a complete graph of five agents")
