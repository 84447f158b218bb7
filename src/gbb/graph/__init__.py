"""Agents and the directed edges between them."""

from gbb.graph._graph import Graph

__all__ = ["Graph"]
