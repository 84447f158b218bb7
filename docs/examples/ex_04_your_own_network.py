"""
Your own network
================

Links come from a CSV, JSON or GraphML file, from networkx, or from a list of pairs
(``gbb.Graph.read``, ``from_networkx`` and ``from_edges``). Names stay with agents and arms.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import gbb

folder = Path(tempfile.mkdtemp())
(folder / "links.csv").write_text(
    "from,to\nhall,kitchen\nhall,porch\nkitchen,porch\nporch,garden\ngarden,shed\n"
)
graph = gbb.Graph.read(folder / "links.csv", undirected=True)
problem = gbb.Problem(graph, np.eye(3), sigma=0.2, S=2.0, arm_names=["red", "green", "blue"])
print(graph.names, graph.m)

# %%
# A loop of your own needs no simulator: select, measure, update.


def measure(i, j, arms):
    """Read your instruments here. These neighbours like to differ, green and blue most."""
    return {frozenset((0, 1)): 0.7, frozenset((0, 2)): 0.6, frozenset((1, 2)): 1.0}.get(
        frozenset((arms[i], arms[j])), 0.1
    )


policy = gbb.policies.JointOFUL(problem, cut=gbb.cuts.best(graph))
state, rng, earned = policy.init(), np.random.default_rng(0), []
for _ in range(120):
    choice = policy.select(state, rng)
    rewards = [measure(i, j, choice.allocation) + 0.2 * rng.normal() for i, j in graph.edges]
    state = policy.update(state, choice, rewards)
    earned.append(sum(rewards))
last = {graph.label(i): problem.arm_names[arm] for i, arm in enumerate(choice.allocation)}
print(last)

# %%
fig, (left, right) = plt.subplots(1, 2, width_ratios=(3, 2))
left.plot(np.convolve(earned, np.ones(10) / 10, "valid"))
left.set(xlabel="round", ylabel="sum of the rewards", title="Mean over ten rounds")
net = graph.to_networkx().to_undirected()
nx.draw_networkx(
    net,
    nx.spring_layout(net, seed=1),
    ax=right,
    node_color=[
        {"red": "#D55E00", "green": "#009E73", "blue": "#56B4E9"}[last[str(name)]] for name in net
    ],
    node_size=900,
    font_size=7,
    edge_color="#888888",
)
right.set_title("The last allocation")
right.axis("off")
right.margins(0.2)
fig.suptitle("Five rooms learn their colours")
