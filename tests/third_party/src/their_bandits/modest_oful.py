"""The improved OFUL with a smaller bonus."""

import numpy as np

from gbb.policies import ImprovedOFUL


class ModestOFUL(ImprovedOFUL):
    """Algorithm 3 with a quarter of its confidence radius: bolder, and without its guarantee."""

    guarantee = None

    def radii(self, rounds: np.ndarray) -> np.ndarray:
        """The radius after each number of rounds."""
        return 0.25 * super().radii(rounds)
