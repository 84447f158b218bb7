"""Hours that were simulated, and plans for the day."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._support.checks import IntArray
from gbb.applications.traffic.day.hours import HOURS
from gbb.applications.traffic.rounds import Rounds

Plans = dict[str, IntArray]
"""An arm for every signal, by regime."""


class Hours(NamedTuple):
    """Simulated hours of a day: which, and what happened in them."""

    places: IntArray
    rounds: Rounds

    def during(self, regime: str) -> Rounds:
        """Those of one regime."""
        chosen = np.array([HOURS[k].regime == regime for k in self.places.tolist()])
        return Rounds(*(each[chosen] for each in self.rounds))

    def join(self, other: Hours) -> Hours:
        """These hours, then others."""
        places = np.concatenate([self.places, other.places])
        return Hours(places, self.rounds.join(other.rounds))


class Told(NamedTuple):
    """What a learner played, and the plans that it holds to be best afterwards."""

    hours: Hours
    plans: Plans
