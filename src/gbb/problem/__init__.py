"""The problem as the learner knows it: graph, arms and bounds, but never the matrix M*."""

from gbb.problem._limits import LARGEST, SMALLEST, check_lam, rounds_kept
from gbb.problem._problem import Problem

__all__ = ["LARGEST", "SMALLEST", "Problem", "check_lam", "rounds_kept"]
