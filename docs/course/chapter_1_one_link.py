"""
1. One link
===========

Two agents share a link. Each round you choose an arm for both of them, and each of the two directions of the
link pays a reward that depends on *both* arms. You do not know the rewards; you see noisy ones. What do you
play?

This is the smallest graphical bilinear bandit. Agent :math:`i` plays arm :math:`x^{(i)}`, a vector, and the
directed edge :math:`(i, j)` pays

.. math:: y^{(i,j)} = x^{(i)\\top} \\mathbf{M}_\\star\\, x^{(j)} + \\eta^{(i,j)},

where :math:`\\mathbf{M}_\\star` is hidden and :math:`\\eta` is noise. With one-hot arms the entry
:math:`(a, b)` of the matrix is simply what an edge pays from arm :math:`a` to arm :math:`b`.
"""

import matplotlib.pyplot as plt
import numpy as np

import gbb

graph = gbb.Graph.path(2)
problem = gbb.Problem(graph, arms=np.eye(2), sigma=0.5, S=1.5)  # what the learner knows
M_star = np.array([[0.2, 0.9], [0.6, 0.3]])
env = gbb.Environment(problem, M_star)  # adds what it does not

print(graph.edges)  # both directions of the link

# %%
# If both agents play arm 0, the link pays 0.2 twice. If one plays 0 and the other 1, it pays 0.9 one way
# and 0.6 the other. Different arms are best here:

for arms in ([0, 0], [0, 1], [1, 1]):
    print(arms, env.expected_reward(arms))

# %%
# Everything a learner needs to remember is two tables: how often each pair of arms was played on an edge
# (``N``), and the sum of what it paid (``Y``). Ridge regression turns them into an estimate of the matrix,
# and into a width that says how far to trust it.

rng = np.random.default_rng(0)
record = gbb.learning.empty(problem)
for arms in ([0, 0], [0, 1], [0, 1], [1, 1]):
    arms = np.array(arms)
    record = record.merge(gbb.learning.observe(problem, arms, env.draw(1, arms, rng)))
print(record.N)
print(gbb.Ridge(problem, record, 1.0).M_hat.round(2))

# %%
# **Optimism in the face of uncertainty**: value each choice at the most that the data still allow, and play
# the best of these values. Either the choice is good, or playing it soon shows that it is not; no coin is ever
# tossed. With :math:`\phi` the sum of the edge-arms that a choice plays and :math:`\sqrt\beta` the radius of the
# confidence set, that value is
# :math:`\langle \phi, {\hat\theta} \rangle + \sqrt\beta\, \lVert \phi \rVert_{\mathbf{A}^{-1}}`.


def optimistic(record, radius):
    """The estimate and the optimistic value of each of the three choices."""
    ridge = gbb.Ridge(problem, record, 1.0)
    choices = [np.array(arms) for arms in ([0, 0], [0, 1], [1, 1])]
    totals = [ridge.total(arms) for arms in choices]
    return choices, np.array([(mean, mean + radius * width) for mean, width in totals])


record, played, values = gbb.learning.empty(problem), [], []
for _ in range(60):
    choices, both = optimistic(record, radius=1.5)
    best = int(np.argmax(both[:, 1]))
    played.append(best)
    values.append(both)
    paid = env.draw(1, choices[best], rng)
    record = record.merge(gbb.learning.observe(problem, choices[best], paid))

fig, ax = plt.subplots()
shown = np.array(values)
for each, (label, colour) in enumerate(
    zip(["both 0", "different", "both 1"], ["#0072B2", "#009E73", "#D55E00"], strict=True)
):
    ax.plot(shown[:, each, 1], color=colour, label=f"{label}: optimistic")
    ax.plot(shown[:, each, 0], color=colour, linestyle=":")
    ax.axhline(env.expected_reward(choices[each]), color=colour, linewidth=0.8, alpha=0.5)
ax.set(
    xlabel="round",
    ylabel="reward of the link",
    title="Optimistic values close in on the truth (thin lines)",
)
ax.legend(loc="upper right", fontsize="small")
print("rounds on each choice:", np.bincount(played, minlength=3))

# %%
# The optimistic value of a poor choice falls below the best one after a few tries, and it is not played
# again until the others' values have come down to it.
#
# .. admonition:: Exercise
#
#    Set ``radius=0``: be greedy. Run it with ten seeds. How often does it lock on to a wrong choice, and why can
#    optimism not?
#
# .. admonition:: Answer
#    :class: dropdown
#
#    The first choice that pays something has a positive estimate, the untried ones have zero, so greed
#    stays with what it tried first. An optimistic value only falls below the true one if the confidence set
#    misses the truth, which has a small probability by design; so a choice that is wrongly shunned is one
#    whose value is known to be lower.
#
# The library has this as a policy, with a proven radius in place of 1.5: :class:`gbb.policies.ImprovedOFUL`.
# Next: what changes when one arm must serve several links.
