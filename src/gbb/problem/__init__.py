"""The problem as the learner knows it: graph, arms and bounds, but never the matrix M*."""

from gbb.problem._limits import LARGEST, ROUNDS_KEPT, SMALLEST, check_lam
from gbb.problem._problem import Problem

__all__ = ["LARGEST", "ROUNDS_KEPT", "SMALLEST", "Problem", "check_lam"]
