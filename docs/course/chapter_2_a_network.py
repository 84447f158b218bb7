"""
2. A network
============

In a network, an agent's arm serves all its links at once. This is where the problem becomes hard: even
if you *knew* the matrix, finding the best *allocation* (an arm for every agent) is NP-hard in general.

.. math:: \\max_{x^{(1)}, \\ldots, x^{(n)}} \\; \\sum_{(i,j) \\in E} x^{(i)\\top} \\mathbf{M}_\\star\\, x^{(j)}

The paper's way out is to think in *couples*. Find the pair of arms :math:`(x, x')` that pays most along
one link, cut the agents into two sides, and let one side play :math:`x` and the other :math:`x'`. Links across the cut
then pay as well as any link can; links inside a side pay :math:`\\langle z_{xx}, \\theta_\\star \\rangle`, whatever that is.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import gbb

graph = gbb.Graph.random(10, p=0.4, seed=4)
problem = gbb.Problem(graph, arms=np.eye(3), S=3.0)
M_star = gbb.instances.absolute_normal(3, seed=3, zeta=0.0, frobenius=3.0, distinct_couple=True)
env = gbb.Environment(problem, M_star)
print(graph, M_star.round(2), sep="\n")

# %%
# ``zeta=0`` is the paper's hard case: the two arms of the best couple pay nothing with themselves, so that
# every uncut link is worthless. How many links can be cut? The greedy method (the paper's Algorithm 2)
# always cuts at least half of the edges, and usually more:

cut = gbb.cuts.greedy(graph)
print(f"cut {cut.m12 + cut.m21} of {graph.m} directed edges; inside: {cut.m1} and {cut.m2}")

# %%
# Ten agents with three arms are few enough to solve exactly. ``proven`` says that no allocation is better.

best = gbb.optimum.solve(problem, M_star)
couple = gbb.theory.couple_gain(env, cut)
over_cut = np.where(cut.sides == 0, *couple.best_couple_over_cut)
print(f"optimum {best.value:.2f} (proven: {best.proven})")
print(f"best couple over the cut {env.expected_reward(over_cut):.2f}")

# %%
# The best couple *over the cut*, :math:`(\tilde x_\star, \tilde x_\star')`, also counts what the uncut
# links pay; over the cut it is never worse than the best couple along one link. Here are both answers:

drawn = graph.to_networkx().to_undirected()
where = nx.spring_layout(drawn, seed=2)
colours = np.array(["#0072B2", "#E69F00", "#009E73"])
fig, axes = plt.subplots(1, 2)
for ax, arms, title in zip(
    axes,
    (over_cut, best.allocation),
    (
        f"A couple over the cut: {env.expected_reward(over_cut):.1f}",
        f"The optimum: {best.value:.1f}",
    ),
    strict=True,
):
    pays = [env.expected_edge_rewards(arms)[k] for k in range(graph.m)]
    width = {tuple(edge): pay for edge, pay in zip(graph.edges.tolist(), pays, strict=True)}
    widths = [0.5 + 1.5 * (width[i, j] + width[j, i]) for i, j in drawn.edges]
    nx.draw_networkx(
        drawn,
        where,
        ax=ax,
        node_color=colours[arms],
        edge_color="#888888",
        width=widths,
        node_size=260,
        font_color="white",
        font_size=8,
    )
    ax.set_title(title, fontsize="medium")
    ax.axis("off")
fig.suptitle("Colours are arms; thick links pay more")

# %%
# How much can a couple lose? Theorem 4.1 answers with a number for your instance: a couple over the cut
# earns at least :math:`\alpha_2` times the optimum, and the improved algorithm has no regret against that.

report = gbb.theory.report(env, cut=cut, optimum=best)
print(
    f"alpha_1 = {report.alpha_1:.3f}, alpha_2 = {report.alpha_2:.3f}, in fact {env.expected_reward(over_cut) / best.value:.3f}"
)

# %%
# .. admonition:: Exercise
#
#    Make the graph bipartite (:meth:`gbb.Graph.grid`) and compute ``alpha_2`` again. Then make it complete.
#    Which graph is the paper's worst case, and why?
#
# .. admonition:: Answer
#    :class: dropdown
#
#    A bipartite graph can be cut completely: :math:`m_1 = m_2 = 0` and :math:`\alpha_2 = 1`. On a complete graph nearly
#    half of the edges stay uncut whatever you do, so that :math:`\alpha_2` comes close to
#    :math:`\tfrac{1 + \gamma}{2} + \epsilon`.
