"""
Diagnose a wrong model
======================

The library assumes that a link pays by the two arms at its ends. Before acting on that, ask whether the data agree:
``diagnose`` predicts rounds it has not seen and compares what is left with the noise. Repeated allocations are what shows the noise: whatever
else varies is the model's fault.
"""

import matplotlib.pyplot as plt
import numpy as np

import gbb

graph = gbb.Graph.grid(4, 4)
problem = gbb.Problem(graph, np.eye(3), sigma=0.3, S=3.0)
env = gbb.Environment(problem, gbb.instances.absolute_normal(3, seed=0, frobenius=3.0))
rng = np.random.default_rng(0)
played = np.repeat(rng.integers(0, 3, (50, graph.n)), 3, axis=0)  # each allocation three times
pairwise = np.array([env.draw(1, arms, rng) for arms in played])
print(gbb.diagnose(problem, played, pairwise))

# %%
# Now let a third agent meddle: a link pays less whenever the next agent in line plays arm 0, as a wake does that reaches past
# its neighbour.

third = (graph.edges[:, 1] + 1) % graph.n
meddled = pairwise - 1.5 * (played[:, third] == 0)
found = gbb.diagnose(problem, played, meddled)
print(found)

# %%
shares = {}
for strength in np.linspace(0, 2, 9):
    said = gbb.diagnose(problem, played, pairwise - strength * (played[:, third] == 0))
    shares[strength] = (said.within, said.ceiling)
fig, ax = plt.subplots()
within, ceiling = np.array(list(shares.values())).T
ax.plot(list(shares), ceiling, "s--", color="#D55E00", label="what noise leaves to predict")
ax.plot(list(shares), within, "o-", color="#0072B2", label="what the pairwise model predicts")
ax.set(
    xlabel="how much a third agent meddles",
    ylabel="share of the variance",
    ylim=(0, 1),
    title="The gap is what the model misses",
)
ax.legend()
