"""
Certify an optimum
==================

The best allocation is NP-hard to find, but an answer can be *certified*: ``solve`` returns the best allocation found, and a bound
that no allocation exceeds.
"""

import matplotlib.pyplot as plt
import numpy as np

import gbb

M = gbb.instances.absolute_normal(4, seed=0, zeta=0.0)
sizes, gaps = (8, 12, 16, 24, 40, 60), []
for n in sizes:
    problem = gbb.Problem(gbb.Graph.random(n, p=0.4, seed=n), arms=np.eye(4))
    best = gbb.optimum.solve(problem, M, seconds=1.0)
    gaps.append(best.gap)
    print(
        f"n = {n:2d}: {best.value:8.2f} of at most {best.upper_bound:8.2f}, found by {best.method}, bound by {best.bound_method}"
    )

# %%
fig, ax = plt.subplots()
ax.bar([str(n) for n in sizes], 100 * np.array(gaps), color="#0072B2")
ax.set(
    xlabel="agents", ylabel="gap, % of the bound", title="What is left to prove after one second"
)

# %%
# A result of :func:`gbb.simulate` on such a graph also holds ``proven_fraction``: reward over the *bound*, the share that is certain.
# With ``pip install 'graphical-bilinear-bandits[exact]'`` toulbar2 closes more of the gaps: :doc:`../solvers`.
