"""
6. Certified control
====================

Now the rewards come from a machine that runs for months. The *controller* is the same learner with a memory on disk: you
**ask** for the next allocation, apply it, and **tell** what the links paid. Each call is one transaction. Kill the process at any
moment and open it again: nothing that was acknowledged is lost.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import gbb

folder = Path(tempfile.mkdtemp())
links = [
    ("west", "north"),
    ("north", "east"),
    ("east", "south"),
    ("south", "west"),
    ("west", "east"),
]
graph = gbb.Graph.from_edges(links, undirected=True)
problem = gbb.Problem(
    graph,
    [[1.0, 0.0], [0.8, 0.6], [0.8, -0.6]],
    sigma=0.1,
    S=2.0,
    arm_names=["straight", "left", "right"],
)
farm = gbb.Environment(problem, [[1.0, 0.4], [-0.3, 0.9]])  # stands for the machine
weather = np.random.default_rng(1)

controller = gbb.Controller.create(f"sqlite:///{folder / 'farm.db'}", problem, "JointOFUL", seed=0)
trial = controller.ask()
print(trial.allocation)

# %%
# Meters fail. Tell what there is; the rest is simply not learnt from.


def measure(trial):
    """What the links paid, by name; one in ten is missing."""
    rewards = farm.draw(trial.id, trial.arms, weather)
    pairs = [(graph.label(i), graph.label(j)) for i, j in graph.edges.tolist()]
    return {
        pair: float(y) for pair, y in zip(pairs, rewards, strict=True) if weather.random() > 0.1
    }


controller.tell(trial, measure(trial))

# %%
# A **recommendation** comes with an interval that holds at the stated confidence, and with an upper bound on what *any* allocation
# could earn. The lower end over that bound is a share of the optimum that is certified.

history = []
for t in range(1, 1001):
    trial = controller.ask()
    controller.tell(trial, measure(trial))
    if t in (5, 10, 25, 60, 150, 400, 1000):
        advice = controller.recommend(seconds=0.2)
        history.append((t, advice.low, advice.reward, advice.high, advice.upper_bound))

rounds, low, reward, high, bound = np.array(history).T
optimum = gbb.optimum.solve(problem, farm.M_star).value
fig, ax = plt.subplots()
ax.fill_between(rounds, low, high, alpha=0.25, color="#0072B2", label="its interval")
ax.plot(rounds, reward, "o-", color="#0072B2", label="predicted reward of the recommendation")
ax.plot(rounds, bound, "s--", color="#D55E00", label="no allocation earns more")
ax.axhline(optimum, color="black", linewidth=0.8, label="the optimum (hidden from the learner)")
ax.set(
    xscale="log",
    xlabel="round",
    ylabel="reward per round",
    title="What a recommendation is known to earn",
)
ax.legend(fontsize="small")
print(advice.allocation, f"at least {advice.low / advice.upper_bound:.0%} of the optimum")

# %%
# Operators keep the last word: they forbid arms and pin agents, and the log remembers who was told what and when.

controller.forbid("north", ["left", "right"])  # its yaw motor is stuck
print(controller.ask().allocation)
print(controller.check())
controller.close()

# %%
# .. admonition:: Exercise
#
#    Open the database again, ask, and end the process before you tell. What does ``open_trials()`` say when you come back?
#
# .. admonition:: Answer
#    :class: dropdown
#
#    The trial is still open: an ask is written before it is answered. Tell it, fail it, or give ``ask`` a ``timeout`` so that it
#    closes by itself. :doc:`../controller` has the rest; ``gbb serve farm.db`` puts a page on top.
