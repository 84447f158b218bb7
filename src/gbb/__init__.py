"""Graphical bilinear bandits: one arm per agent of a network, rewards on its links.

After "An alpha-No-Regret Algorithm For Graphical Bilinear Bandits" (Rizk, Colin, Thomas, Laraki and
Chevaleyre, NeurIPS 2022).
"""

from gbb import adversary, cuts, experiments, instances, optimum, policies, theory
from gbb._checks import InputError
from gbb.adversary import AdversarialEnvironment
from gbb.cuts import Cut, KCut
from gbb.design import Design, g_optimal
from gbb.environment import Environment
from gbb.estimator import Record, Ridge
from gbb.graph import Graph
from gbb.problem import Problem
from gbb.simulation import compare, comparison, load, save, simulate, simulate_adversarial

__version__ = "0.1.0"

__all__ = [
    "AdversarialEnvironment",
    "Cut",
    "Design",
    "Environment",
    "Graph",
    "InputError",
    "KCut",
    "Problem",
    "Record",
    "Ridge",
    "adversary",
    "compare",
    "comparison",
    "cuts",
    "experiments",
    "g_optimal",
    "instances",
    "load",
    "optimum",
    "policies",
    "save",
    "simulate",
    "simulate_adversarial",
    "theory",
]
