"""Sums over links of a table of the arms at both ends: what cuts, optima and policies share."""

from gbb.pairwise.arm_search import ArmSearch
from gbb.pairwise.problem import PairProblem

__all__ = ["ArmSearch", "PairProblem"]
