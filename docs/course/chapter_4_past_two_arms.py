"""
4. Past two arms
================

A couple uses two arms, however many agents there are. On an odd circle where neighbours should differ, two arms
must waste a link; three need not. The proof of Theorem 4.1 never says that the allocation must be a couple. It only needs
the *optimistic value of what is played* to be at least that of the best couple:

.. math:: U_t(a_t) \\ge U_t(\\text{best couple over the cut}).

So start from the best couple and improve it, agent by agent, as long as the optimistic value grows. The guarantee stays, and the
reward goes past the ceiling of two arms. That is ``JointOFUL``. ``ThompsonSampling`` runs the same search on a matrix drawn from the
posterior; nothing is proven of it here, and it learns fastest.
"""

import matplotlib.pyplot as plt
import numpy as np

import gbb
from gbb.plotting import plot_fraction

graph = gbb.Graph.circle(9)
M_star = np.array([[0.0, 1.0, 0.9], [1.0, 0.0, 1.1], [0.9, 1.1, 0.0]])
problem = gbb.Problem(graph, arms=np.eye(3), sigma=0.5, S=2.6)
env = gbb.Environment(problem, M_star)
cut = gbb.cuts.best(graph)

kinds = [gbb.policies.ImprovedOFUL, gbb.policies.JointOFUL, gbb.policies.ThompsonSampling]
result = gbb.simulate(env, [kind(problem, cut=cut) for kind in kinds], rounds=2000, runs=5, seed=0)

fig, ax = plt.subplots()
plot_fraction(result, ax, window=50, alphas=False)
couple = gbb.theory.couple_gain(env, cut).best_couple_over_cut
ceiling = env.expected_reward(np.where(cut.sides == 0, *couple)) / result.attrs["optimum"]
ax.axhline(ceiling, color="black", linestyle=":", linewidth=1)
ax.set_title("An odd circle of nine agents; dotted: the most that two arms can earn")

# %%
# What did the three of them play in the end?

for policy in result["policy"].to_numpy():
    last = result["fraction"].sel(policy=policy).isel(round=slice(-200, None)).mean()
    print(f"{policy:18s} {float(last):.3f} of the optimum over the last 200 rounds")

# %%
# A middle way keeps a proof and most of the speed: ``GuardedThompson`` plays what ``ThompsonSampling`` proposes
# whenever it is nearly as optimistic as ``JointOFUL``'s choice, and that choice otherwise.

guarded = gbb.policies.GuardedThompson(problem, cut=cut)
steps = list(gbb.simulation.play(env, guarded, 300, seed=1))
print(guarded.guarantee, sum(step.expected for step in steps) / 300 / result.attrs["optimum"])

# %%
# .. admonition:: Exercise
#
#    Where do two arms suffice? Try ``gbb.Graph.circle(10)`` and ``gbb.Graph.star(9)``, and explain what you see by
#    ``graph.is_bipartite``.
#
# .. admonition:: Answer
#    :class: dropdown
#
#    Both graphs are bipartite, so the best couple along one link can be played on *every* link: the ceiling is 1 and the
#    three policies end together. Past two arms there is something to gain only where some link must stay uncut.
