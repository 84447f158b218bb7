"""
What is known before a round
============================

The load of a network is known before each round, and the matrix moves with it: :math:`\\mathbf{M}(c) = \\mathbf{M}_0 + c\\,\\mathbf{M}_1`.
A learner that is told the load is compared with one that is not.
"""

import matplotlib.pyplot as plt
import numpy as np

import gbb

rng = np.random.default_rng(3)
graph = gbb.Graph.circle(6)
M = np.stack([rng.uniform(0, 1, (3, 3)), rng.uniform(-1, 1, (3, 3))])
load = gbb.contexts.Vector(["base", "load"])
problem = gbb.Problem(graph, np.eye(3), sigma=0.2, S=4.0, contexts=load)
env = gbb.Environment(problem, M)
loads = [(1.0, float(c)) for c in rng.uniform(0, 1, 500)]
cut = gbb.cuts.best(graph)

told = gbb.simulate(
    env, gbb.policies.ThompsonSampling(problem, cut=cut), rounds=500, contexts=loads, seed=0
)

# %%
# The other learner plays the paper's problem on the same plant, whose matrix changes under it.


class Untold:
    """The same network, seen without its load."""

    problem = gbb.Problem(graph, np.eye(3), sigma=0.2, S=4.0)

    def expected(self, t, allocation):
        return env.at(loads[t - 1]).expected_reward(allocation)

    def draw(self, t, allocation, rng):
        return env.during([loads[t - 1]]).draw(1, allocation, rng)


blind = gbb.simulate(
    Untold(), gbb.policies.ThompsonSampling(Untold.problem, cut=cut), rounds=500, seed=0
)
best = np.array(
    [gbb.optimum.solve(env.at(each).problem, env.at(each).M_star).value for each in loads]
)
fig, ax = plt.subplots()
for label, found in (("told the load", told), ("not told", blind)):
    lost = best - found["expected_reward"].squeeze().to_numpy()
    ax.plot(np.cumsum(lost), label=label)
ax.set(xlabel="round", ylabel="cumulative regret", title="What it costs not to know the load")
ax.legend()
