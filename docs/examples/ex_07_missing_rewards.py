"""
The controller with missing rewards
===================================

A controller learns from what arrives: some links late, some never, one by mistake.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import gbb

graph = gbb.Graph.grid(2, 3)
problem = gbb.Problem(graph, np.eye(3), sigma=0.3, S=2.5)
plant = gbb.Environment(problem, np.random.default_rng(4).uniform(0, 1, (3, 3)))
optimum = gbb.optimum.solve(problem, plant.M_star).value
edges = [tuple(edge) for edge in graph.edges.tolist()]

paid = {}
for share in (0.0, 0.5, 0.8):
    rng = np.random.default_rng(0)
    url = f"sqlite:///{Path(tempfile.mkdtemp()) / 'plant.db'}"
    with gbb.Controller.create(url, problem, "ThompsonSampling", seed=0) as controller:
        earned = []
        for _ in range(150):
            trial = controller.ask()
            rewards = plant.draw(trial.id, trial.arms, rng)
            known = rng.random(len(edges)) >= share  # the others never arrive
            told = {edge: y for edge, y, here in zip(edges, rewards, known, strict=True) if here}
            if told:
                controller.tell(trial, told)
            else:
                controller.fail(trial, "no meter answered")
            earned.append(plant.expected_reward(trial.arms) / optimum)
        paid[share] = earned
        if share == 0.8:
            trial = controller.ask()
            controller.tell(trial, {edges[0]: 1.9})  # a slip of the pen
            controller.retract(trial, "typed 1.9 for 0.19")
            controller.tell(trial, {edges[0]: 0.19})
            print([entry.kind for entry in controller.history(last=5)])

# %%
fig, ax = plt.subplots()
for share, earned in paid.items():
    ax.plot(
        np.convolve(earned, np.ones(15) / 15, "valid"), label=f"{share:.0%} of the rewards missing"
    )
ax.set(
    xlabel="round",
    ylabel="fraction of the optimum",
    title="Missing rewards slow it down and do not mislead it",
)
ax.legend(loc="lower right")
