"""Simulation: policies played in an environment, results as labelled arrays."""

from gbb.simulation._adversarial import simulate_adversarial
from gbb.simulation._compare import Comparison, compare, comparison
from gbb.simulation._simulate import SlowPolicyWarning, simulate
from gbb.simulation.result import load, save

__all__ = [
    "Comparison",
    "SlowPolicyWarning",
    "compare",
    "comparison",
    "load",
    "save",
    "simulate",
    "simulate_adversarial",
]
