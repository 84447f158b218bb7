"""Simulation: policies played in an environment, results as labelled arrays."""

from gbb.simulation.comparison import comparison
from gbb.simulation.reference import Round, play
from gbb.simulation.result import load, save
from gbb.simulation.simulate import SlowPolicyWarning, simulate
from gbb.simulation.warm_up import warm_up

__all__ = [
    "Round",
    "SlowPolicyWarning",
    "comparison",
    "load",
    "play",
    "save",
    "simulate",
    "warm_up",
]
