"""Simulation: policies played in an environment, results as labelled arrays."""

from gbb.simulation._comparison import Comparison, comparison
from gbb.simulation._simulate import SlowPolicyWarning, simulate
from gbb.simulation.reference import Round, play
from gbb.simulation.result import load, save

__all__ = [
    "Comparison",
    "Round",
    "SlowPolicyWarning",
    "comparison",
    "load",
    "play",
    "save",
    "simulate",
]
