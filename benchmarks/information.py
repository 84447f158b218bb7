"""What information-directed sampling loses beside Thompson sampling, alone and behind a guard.

Prints Markdown. The setting is that of Figure 2; times are over ThompsonSampling's.

python benchmarks/information.py [MATRICES] [RUNS] [SEED OF THE FIRST MATRIX]
python benchmarks/information.py settings 40 16 1000      other powers of the regret, and floors
"""

from __future__ import annotations

import sys

import gbb
from gbb.policies import AnyPolicy, GuardedThompson, InformationDirected, ThompsonSampling
from guard import main

DEFAULTS = (20, 16, 12000)
"""Matrices, runs on each, and the seed of the first matrix. All was settled on seeds 1000 to 1039, and
these were named before they were first played. So were 13000 to 13019 and 14000 to 14039, with the same
settings, once the first had been seen."""

BETA = 0.9
SETTINGS = ((2.0, 0.0), (1.25, 0.0), (1.1, 0.0), (1.1, 0.1), (1.1, 0.3))
"""Powers of the regret and floors."""


def contenders(problem: gbb.Problem) -> list[AnyPolicy]:
    cut = gbb.cuts.greedy(problem.graph)
    return [
        ThompsonSampling(problem, cut=cut),
        InformationDirected(problem, cut=cut),
        GuardedThompson(problem, cut=cut, beta=BETA),
        InformationDirected(problem, cut=cut, beta=BETA, name="InformationDirected, guarded"),
    ]


def settings(problem: gbb.Problem) -> list[AnyPolicy]:
    cut = gbb.cuts.greedy(problem.graph)
    given = {"problem": problem, "cut": cut}
    return [
        ThompsonSampling(**given),
        *(
            InformationDirected(**given, power=x, floor=y, name=f"power {x:g}, floor {y:g}")
            for x, y in SETTINGS
        ),
    ]


if __name__ == "__main__":
    if "settings" in sys.argv:
        sys.argv.remove("settings")
        main(settings)
    else:
        main(contenders, DEFAULTS)
