"""
5. Real networks
================

Plants are not the paper's problem word for word. Links differ, some agents may not play some arms, a meter
reports one number for several links, and conditions change through the day. All of that is *data* of the problem;
policies and their loop stay the same:

.. math:: y^{(i,j)}_t = \\sum_k f^{(i,j)}_{t,k}\\; x^{(i)\\top}_t \\mathbf{M}_k\\, x^{(j)}_t + \\eta^{(i,j)}_t .

With known features :math:`f`, each link mixes several hidden matrices. Features that are always 1 give the paper; a single 1 among
zeros gives *edge types*; features that change with :math:`t` are *contexts*.
"""

import matplotlib.pyplot as plt
import numpy as np

import gbb

graph = gbb.Graph.grid(3, 4)
rows, cols = np.divmod(np.arange(graph.n), 4)
across = [int(rows[i] == rows[j]) for i, j in graph.edges]  # 1: along a row, 0: along a column
allowed = np.ones((graph.n, 3), dtype=bool)
allowed[0] = [True, False, False]  # agent 0 is stuck at its first arm

plant = gbb.Problem(
    graph, np.eye(3), sigma=0.3, S=2.0, edge_types=across, allowed=allowed, feedback="agent"
)
matrices = np.random.default_rng(2).uniform(0, 1, (2, 3, 3))  # one for each type of link
env = gbb.Environment(plant, matrices)
cut = gbb.cuts.best(graph)
print(
    f"{plant.types} edge types; one number per agent: {env.draw(1, np.zeros(12, int), np.random.default_rng(0)).shape}"
)

# %%
# Policies play this plant as they play the paper's problem: they estimate one matrix for each type, from sums, and never
# choose a forbidden arm.

names = ("UniformRandom", "JointOFUL", "ThompsonSampling")
policies = [gbb.policies.build(name, plant, cut=cut) for name in names]
result = gbb.simulate(env, policies, rounds=600, runs=4, seed=0)
print(result["fraction"].isel(round=slice(-100, None)).mean(["run", "round"]).round(3).to_series())

# %%
# **Contexts** are known before the round. Here the matrix of the day differs from that of the night, and a learner
# that is told which it is learns each of them once:

times = gbb.contexts.Regimes(["day", "night"])
daily = gbb.Problem(graph, np.eye(3), sigma=0.3, S=2.0, contexts=times)
world = gbb.Environment(daily, matrices)
clock = ["day", "night"] * 300
told = gbb.simulate(
    world, gbb.policies.ThompsonSampling(daily, cut=cut), rounds=600, contexts=clock, seed=0
)

fig, ax = plt.subplots()
ax.plot(
    result["round"],
    result["fraction"].sel(policy="ThompsonSampling").mean("run").rolling(round=30).mean(),
    label="two edge types, a number per agent",
)
ax.plot(
    told["round"],
    told["fraction"].isel(policy=0).mean("run").rolling(round=30).mean(),
    label="day and night",
)
ax.set(
    xlabel="round",
    ylabel="fraction of the optimum",
    ylim=(0.5, 1.02),
    title="The same policy on two problems that are not the paper's",
)
ax.legend(loc="lower right")

# %%
# Is the model right at all? :func:`gbb.diagnose` predicts rounds that it has not seen and says whether what is left looks
# like noise. Hand the plant's rounds to a problem that knows of one type of link only:

rng = np.random.default_rng(5)
played = rng.integers(0, 3, (200, graph.n))
links = gbb.Environment(
    gbb.Problem(graph, np.eye(3), sigma=0.3, S=2.0, edge_types=across), matrices
)
paid = np.array([links.draw(1, arms, rng) for arms in played])
for types in (None, across):
    model = gbb.Problem(
        graph, np.eye(3), sigma=0.3, S=2.0, **({"edge_types": types} if types else {})
    )
    print(gbb.diagnose(model, played, paid), end="\n\n")

# %%
# .. admonition:: Exercise
#
#    Let ``feedback="global"`` report a single number for the whole plant. How many more rounds does it take?
#
# .. admonition:: Answer
#    :class: dropdown
#
#    Change the argument and compare the round at which the moving average passes 0.95. One number per round carries less than
#    twelve. The estimate still converges, since the sum varies with the allocation, but it takes more rounds.
