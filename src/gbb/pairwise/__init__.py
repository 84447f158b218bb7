"""Sums over links of a table of the arms at both ends: what cuts, optima and policies share."""

from gbb.pairwise.problem import PairProblem
from gbb.pairwise.search import ArmSearch

__all__ = ["ArmSearch", "PairProblem"]
