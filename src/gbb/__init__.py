"""Graphical bilinear bandits: one arm per agent of a network, rewards on its links.

After "An alpha-No-Regret Algorithm For Graphical Bilinear Bandits" (Rizk, Colin, Thomas, Laraki and
Chevaleyre, NeurIPS 2022).
"""

from typing import TYPE_CHECKING, Any

from gbb import adversary, cuts, experiments, instances, optimum, policies, theory
from gbb._support.checks import InputError
from gbb.adversary import AdversarialEnvironment
from gbb.cuts import Cut, KCut
from gbb.diagnostics import Diagnosis, diagnose
from gbb.environment import Environment
from gbb.graph import Graph
from gbb.identification import Identification, identify
from gbb.learning import Design, LowRank, Record, Ridge, g_optimal, radius
from gbb.problem import Problem
from gbb.simulation import (
    compare,
    comparison,
    load,
    save,
    simulate,
)

if TYPE_CHECKING:
    from gbb import controller
    from gbb.controller import Controller

__version__ = "0.1.0"

__all__ = [
    "AdversarialEnvironment",
    "Controller",
    "Cut",
    "Design",
    "Diagnosis",
    "Environment",
    "Graph",
    "Identification",
    "InputError",
    "KCut",
    "LowRank",
    "Problem",
    "Record",
    "Ridge",
    "adversary",
    "compare",
    "comparison",
    "controller",
    "cuts",
    "diagnose",
    "experiments",
    "g_optimal",
    "identify",
    "instances",
    "load",
    "optimum",
    "policies",
    "radius",
    "save",
    "simulate",
    "theory",
]


def __getattr__(name: str) -> Any:
    # The database toolkit is slow to import and few scripts need it.
    if name not in ("Controller", "controller"):
        raise AttributeError(f"module 'gbb' has no attribute {name!r}")
    import importlib  # noqa: PLC0415

    module = importlib.import_module("gbb.controller")
    return module if name == "controller" else module.Controller
