"""Thompson sampling for yes/no rewards, which are less noisy the surer they are."""

from __future__ import annotations

import numpy as np

from gbb.learning.record import AnyRecord, Record
from gbb.learning.scales import Scales
from gbb.policies._base import Choice, Learned
from gbb.policies.thompson_sampling import ThompsonSampling

SIGMA = 0.5
"""Every yes/no reward is 1/2-sub-Gaussian, and of variance 1/4 at most."""


class YesNoThompson(ThompsonSampling):
    """:class:`~gbb.policies.ThompsonSampling` for rewards of 1 or 0, weighed by their variance.

    A 1 with probability p has variance ``p (1 - p)``, which is 1/4 at most and far less where p is near
    0 or 1. What a pair of arms paid s times in n counts as ``1 / (4 p (1 - p))`` times as many rewards
    of variance 1/4, with ``p = (s + 1/2) / (n + 1)`` (Krichevsky and Trofimov), so that little is made
    of few rewards. Both directions of a pair count together. ``problem.sigma`` should be 1/2, and is
    where nobody knows it.

    Parameters
    ----------
    problem, cut, v, starts, lam, name
        As for :class:`~gbb.policies.ThompsonSampling`.
    """

    plays_any_problem = False
    plays_parts = False
    learns_from_links = False

    def scales(self, record: AnyRecord) -> Scales:
        return super().scales(record)._replace(sigma=SIGMA, sigma_most=SIGMA)

    def select(self, state: Learned, rng: np.random.Generator) -> Choice:
        if (policy := self.knowing(state).fit(state.record)) is not self:
            return policy.select(state, rng)
        return super().select(state._replace(record=weighed(state.record)), rng)


def weighed(record: AnyRecord) -> Record:
    """The record with each pair of arms counted by what a yes or no of it tells."""
    assert record.tables is not None
    N, Y = (np.asarray(each, dtype=np.float64) for each in record.tables)
    seen, yes = N + N.transpose(0, 2, 1), Y + Y.transpose(0, 2, 1)
    p = (np.clip(yes, 0.0, seen) + 0.5) / (seen + 1.0)
    weight = SIGMA**2 / (p * (1.0 - p))
    return Record(N * weight, Y * weight)
