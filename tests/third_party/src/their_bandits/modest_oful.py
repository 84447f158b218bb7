"""The improved OFUL with a smaller bonus."""

from functools import cached_property

import numpy as np

from gbb import Problem, radius
from gbb.policies import ImprovedOFUL, Optimistic


def quarter(problem: Problem, rounds: np.ndarray, lam: float, delta: float) -> np.ndarray:
    """A quarter of the paper's radius after each number of rounds."""
    return 0.25 * radius.paper(problem, rounds, lam, delta)


class ModestOFUL(ImprovedOFUL):
    """Algorithm 3 with a quarter of its confidence radius: bolder, and without its guarantee."""

    @cached_property
    def index(self) -> Optimistic:
        return Optimistic(quarter)
