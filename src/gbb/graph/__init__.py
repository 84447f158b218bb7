"""Agents and the directed edges between them."""

from gbb.graph.families import FAMILIES
from gbb.graph.graph import Graph

__all__ = ["FAMILIES", "Graph"]
