"""The problem as the learner knows it: graph, arms and bounds, but never the matrix M*."""

from gbb.problem.edges import FEEDBACKS
from gbb.problem.problem import LARGEST, SMALLEST, Problem, check_lam, rounds_kept

__all__ = ["FEEDBACKS", "LARGEST", "SMALLEST", "Problem", "check_lam", "rounds_kept"]
