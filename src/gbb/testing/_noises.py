"""What every noise law owes, whoever wrote it."""

from __future__ import annotations

import numpy as np

from gbb._support.checks import FloatArray
from gbb.environment import Noise

SIZE = 40_000
SLACK = 5.0 / SIZE**0.5
"""Five standard errors of a mean of so many draws of variance 1."""


class NoiseContract:
    """The tests of one law of unit noise."""

    @staticmethod
    def law(rng: np.random.Generator, size: int) -> FloatArray:
        """The law: ``size`` independent draws."""
        raise NotImplementedError

    def draw(self, seed: int, size: int = SIZE) -> FloatArray:
        """Draws from a seed."""
        return self.law(np.random.default_rng(seed), size)

    def test_it_draws_as_many_finite_numbers_as_it_is_asked_for(self) -> None:
        for size in (0, 1, 7):
            drawn = self.draw(0, size)
            assert drawn.shape == (size,)
            assert drawn.dtype == np.float64
            assert np.isfinite(drawn).all()

    def test_same_seed_same_draws(self) -> None:
        assert np.array_equal(self.draw(3), self.draw(3))

    def test_it_is_centred(self) -> None:
        assert abs(self.draw(1).mean()) <= SLACK

    def test_it_is_sub_gaussian_with_scale_1(self) -> None:
        """``E exp(s e) <= exp(s^2 / 2)``, up to what so many draws can tell."""
        drawn = self.draw(2)
        for s in (-1.0, -0.5, 0.5, 1.0):
            grown = np.exp(s * drawn - s**2 / 2)
            assert grown.mean() <= 1.0 + 5.0 * grown.std() / SIZE**0.5


def noise_contract(law: Noise) -> type[NoiseContract]:
    """The tests of a noise law, to be given a name that starts with ``Test``."""
    return type("TestNoise", (NoiseContract,), {"law": staticmethod(law)})
