"""
3. Learning on a network
========================

Now the matrix is hidden. A policy chooses an allocation each round, sees what every directed edge paid, and
chooses again. The paper's two algorithms are optimistic about couples:

- ``OFUL`` (Algorithm 1) looks for the couple that pays most along *one link*,
- ``ImprovedOFUL`` (Algorithm 3) for the couple that pays most *over the whole cut*, uncut links included.

As nobody can be asked to find what is NP-hard, a policy is measured by its :math:`\\alpha`-regret: what it lost
against :math:`\\alpha` times the optimum,

.. math:: R_\\alpha(T) = \\sum_{t=1}^{T} \\Bigl[ \\alpha \\sum_{(i,j) \\in E} x_\\star^{(i)\\top} \\mathbf{M}_\\star x_\\star^{(j)} - \\sum_{(i,j) \\in E} x_t^{(i)\\top} \\mathbf{M}_\\star x_t^{(j)} \\Bigr].
"""

import matplotlib.pyplot as plt
import numpy as np

import gbb
from gbb.plotting import plot_fraction

graph = gbb.Graph.complete(5)
problem = gbb.Problem(graph, arms=np.eye(5), sigma=1.0, S=4.0)
M_star = gbb.instances.absolute_normal(5, seed=6, zeta=0.0, frobenius=4.0, distinct_couple=True)
env = gbb.Environment(problem, M_star)
cut = gbb.cuts.best(graph)

names = ["OFUL", "ImprovedOFUL", "ExploreThenCommit", "UniformRandom"]
policies = [gbb.policies.build(name, problem, cut=cut, horizon=5000) for name in names]
result = gbb.simulate(env, policies, rounds=5000, runs=10, seed=0)
print(result.sizes)

# %%
# A result is an :class:`xarray.Dataset` over policy, run and round. Seeds are paired: run 3 of every policy meets
# the same noise, so that their difference is not luck.

print(result["fraction"].isel(round=slice(-500, None)).mean(["run", "round"]).round(3).to_series())

# %%
fig, ax = plt.subplots()
plot_fraction(result, ax, window=100)
ax.set_title("Share of the optimal reward, round by round; lines are each policy's alpha")

# %%
# ``OFUL`` ends at a couple whose uncut links pay nothing. ``ImprovedOFUL`` counts them in and stays above
# its own line, :math:`\alpha_2`. Once a policy is above its line in every round, its :math:`\alpha`-regret falls:

fig, ax = plt.subplots()
for name in names[:3]:
    ax.plot(result["round"], result["alpha_regret"].sel(policy=name).mean("run"), label=name)
ax.axhline(0, color="black", linewidth=0.8)
ax.set(
    xlabel="round",
    ylabel="cumulative alpha-regret",
    title="The alpha-regret, each policy against its own alpha",
)
ax.legend()

# %%
# .. admonition:: Exercise
#
#    ``ImprovedOFUL(problem, cut=cut, radius="symmetric")`` uses a smaller radius that is just as valid, because
#    both directions of a link are always played together. How many rounds does it save to reach 95 % of its
#    final level?
#
# .. admonition:: Answer
#    :class: dropdown
#
#    Add the policy to the list and compare the rounds at which the moving average of ``fraction`` crosses 0.95 of its
#    last value. The symmetric block has :math:`d (d + 1) / 2 = 15` parameters in place of :math:`d^2 = 25`, and
#    its radius follows the data instead of a worst case.
