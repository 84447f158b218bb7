"""
Safety
======

A plant that runs well must not suffer while it learns. ``Conservative`` lets a policy play only where the reward summed so far is
certain to stay above a share ``1 - eps`` of what the present setting would have earned.
"""

import matplotlib.pyplot as plt
import numpy as np

import gbb

graph = gbb.Graph.grid(3, 4)
M_star = np.array([[0.1, 0.1, 0.7], [0.1, 0.6, 0.3], [1.0, 0.9, 0.7]])
problem = gbb.Problem(graph, np.eye(3), sigma=0.3, S=2.0)
env = gbb.Environment(problem, M_star)
baseline = [2] + [1] * 11  # how the plant runs today
bold = gbb.policies.JointOFUL(problem, cut=gbb.cuts.best(graph))
safe = gbb.policies.Conservative(
    problem, policy=bold, baseline=baseline, eps=0.05, floor=0.0, max_changes=2
)

earned = {}
for policy in (bold, safe):
    steps = list(gbb.simulation.play(env, policy, 400, seed=0))
    earned[policy.name] = np.cumsum([step.expected for step in steps])

# %%
today = env.expected_reward(np.array(baseline)) * np.arange(1, 401)
fig, ax = plt.subplots()
for (name, total), colour in zip(earned.items(), ("#CC79A7", "#0072B2"), strict=True):
    ax.plot(total / today, label=name, color=colour)
    print(f"{name}: never below {min(total / today):.3f} of today's sum")
ax.axhline(0.95, color="black", linestyle=":", label="the promise")
ax.set(
    xlabel="round",
    ylabel="reward so far over the baseline's",
    title="Learning without ever owing more than 5 %",
)
ax.legend()
