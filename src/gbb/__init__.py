"""Graphical bilinear bandits: one arm per agent of a network, rewards on its links.

After "An alpha-No-Regret Algorithm For Graphical Bilinear Bandits" (Rizk, Colin, Thomas, Laraki and
Chevaleyre, NeurIPS 2022).
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.2.0"

ROOMS = {
    "_support.checks": ("InputError",),
    "adversary": ("AdversarialEnvironment",),
    "client": ("Client",),
    "controller": ("Controller",),
    "cuts": ("Cut",),
    "diagnostics": ("Diagnosis", "diagnose"),
    "environment": ("Environment",),
    "graph": ("Graph",),
    "identification": ("Identification", "identify"),
    "learning": ("Design", "LowRank", "Record", "Ridge", "g_optimal", "radius"),
    "problem": ("Problem",),
    "shards": ("Network", "Shard"),
    "simulation": ("comparison", "load", "save", "simulate"),
    "sweep": ("Sweep", "compare"),
}
"""Public names by the room that defines them; each is imported when it is first used, because part
of what the package builds on is slow to load and no script needs all of it."""

HOMES = {name: room for room, names in ROOMS.items() for name in names}
MODULES = [
    "adversary",
    "contexts",
    "controller",
    "cuts",
    "experiments",
    "instances",
    "optimum",
    "policies",
    "sweep",
    "theory",
]

__all__ = [*HOMES, *MODULES]  # noqa: PLE0604  (strings all the same)

if TYPE_CHECKING:
    from gbb import adversary as adversary
    from gbb import contexts as contexts
    from gbb import controller as controller
    from gbb import cuts as cuts
    from gbb import experiments as experiments
    from gbb import instances as instances
    from gbb import optimum as optimum
    from gbb import policies as policies
    from gbb import sweep as sweep
    from gbb import theory as theory
    from gbb._support.checks import InputError as InputError
    from gbb.adversary import AdversarialEnvironment as AdversarialEnvironment
    from gbb.client import Client as Client
    from gbb.controller import Controller as Controller
    from gbb.cuts import Cut as Cut
    from gbb.diagnostics import Diagnosis as Diagnosis
    from gbb.diagnostics import diagnose as diagnose
    from gbb.environment import Environment as Environment
    from gbb.graph import Graph as Graph
    from gbb.identification import Identification as Identification
    from gbb.identification import identify as identify
    from gbb.learning import Design as Design
    from gbb.learning import LowRank as LowRank
    from gbb.learning import Record as Record
    from gbb.learning import Ridge as Ridge
    from gbb.learning import g_optimal as g_optimal
    from gbb.learning import radius as radius
    from gbb.problem import Problem as Problem
    from gbb.shards import Network as Network
    from gbb.shards import Shard as Shard
    from gbb.simulation import load as load
    from gbb.simulation import save as save
    from gbb.simulation.comparison import comparison as comparison
    from gbb.simulation.simulate import simulate as simulate
    from gbb.sweep import Sweep as Sweep
    from gbb.sweep import compare as compare

else:  # hidden from type checkers, for which every name would exist

    def __getattr__(name: str) -> object:
        """A public name, or a room of the package, on first use."""
        if name in HOMES:
            return globals().setdefault(name, getattr(import_module(f"gbb.{HOMES[name]}"), name))
        try:
            return import_module(f"gbb.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"gbb.{name}":
                raise
        raise AttributeError(f"module 'gbb' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted([*__all__, "__version__"])
