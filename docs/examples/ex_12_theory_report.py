"""
Reading the theory report
=========================

Every number that the paper derives from an instance, in one call.
"""

import matplotlib.pyplot as plt
import numpy as np

import gbb

graph = gbb.Graph.complete(5)
problem = gbb.Problem(graph, np.eye(3), S=4.0)


def report_at(zeta):
    """The report of one instance whose best couple's diagonal entries are scaled by zeta."""
    M = gbb.instances.absolute_normal(3, seed=2, zeta=zeta, frobenius=4.0, distinct_couple=True)
    return gbb.theory.report(gbb.Environment(problem, M), cut=gbb.cuts.best(graph))


report = report_at(0.0)
for name in ("gamma", "epsilon", "alpha_1", "alpha_2", "alpha_3"):
    print(f"{name:8s} {getattr(report, name):.3f}")
print(
    "best couple along a link, and over the cut:", report.best_couple, report.best_couple_over_cut
)
print(
    f"bound on the alpha-regret after 20,000 rounds: {report.regret_bound(20_000):,.0f}, sharper: {report.regret_bound_sharp(20_000):,.0f}"
)

# %%
# - ``gamma``: how much the worst unwanted edge-arm pays, relative to the mean edge of the optimum;
# - ``epsilon``: what choosing the couple over the cut, rather than along one link, gains;
# - ``alpha_2 = 1 - ((m1 + m2)/m (1 - gamma) - epsilon)``: the share that the improved algorithm has no regret against;
# - ``alpha_3``: the same for the best product distribution over the cut (past the paper).

zetas = np.linspace(0, 1, 21)
reports = [report_at(zeta) for zeta in zetas]
fig, ax = plt.subplots()
for name, style in (
    ("gamma", "-"),
    ("epsilon", "-."),
    ("alpha_1", "--"),
    ("alpha_2", ":"),
    ("alpha_3", "-"),
):
    ax.plot(zetas, [getattr(each, name) for each in reports], style, label=name)
ax.set(xlabel="zeta", ylim=(0, 1.05), title="One instance as its unwanted edge-arms pay more")
ax.legend(ncols=5, fontsize="small", loc="upper center")

# %%
# Which of the theorems' assumptions hold is part of the report, too:

for assumption in gbb.theory.check_assumptions(
    gbb.Environment(problem, gbb.instances.absolute_normal(3, seed=2, frobenius=4.0))
):
    print(assumption)
