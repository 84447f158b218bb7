"""
Two arms are not enough
=======================

A couple over a cut colours the network with two arms. On a lattice of triangles every triangle then keeps a worthless link, and
no amount of learning helps.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import gbb
from gbb.plotting import plot_fraction

lattice = nx.triangular_lattice_graph(3, 6)
graph = gbb.Graph.from_networkx(nx.convert_node_labels_to_integers(lattice))
M_star = np.array([[0.0, 1.0, 0.8], [1.2, 0.0, 1.0], [0.9, 1.1, 0.0]])  # like arms pay nothing
problem = gbb.Problem(graph, np.eye(3), sigma=0.5, S=2.6)
env = gbb.Environment(problem, M_star)
cut = gbb.cuts.best(graph)
kinds = [
    gbb.policies.ImprovedOFUL,
    gbb.policies.KCutOFUL,
    gbb.policies.JointOFUL,
    gbb.policies.ThompsonSampling,
]
thirds = gbb.cuts.kcut(graph, 3, seed=0)
policies = [kind(problem, cut=thirds if kind is gbb.policies.KCutOFUL else cut) for kind in kinds]
result = gbb.simulate(env, policies, rounds=1500, runs=3, seed=0)

# %%
# ``KCutOFUL`` is the extension that the paper's conclusion names: a cut into three parts and a triple of arms.

fig, (left, right) = plt.subplots(1, 2, width_ratios=(3, 2), figsize=(8, 3.4))
plot_fraction(result, left, window=50, alphas=False)
best = gbb.optimum.solve(problem, M_star)
where = dict(enumerate(nx.get_node_attributes(lattice, "pos").values()))
net = graph.to_networkx().to_undirected()
nx.draw_networkx(
    net,
    where,
    ax=right,
    node_color=np.array(["#0072B2", "#E69F00", "#009E73"])[best.allocation],
    with_labels=False,
    node_size=120,
    edge_color="#888888",
)
right.set_title(f"The optimum, proven: {best.proven}")
right.axis("off")
fig.suptitle("A lattice of triangles needs three arms")
