"""A demo that is watched: a simulator that a controller runs, round after round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gbb.environment import System


@dataclass(frozen=True, eq=False)
class Live:
    """What runs, and by what.

    Attributes
    ----------
    system
        The simulator; round t, counted from 1, is drawn by ``system.draw(t, allocation, rng)``.
    policy, settings
        The policy that chooses, by name.
    rounds
        How many rounds there are.
    """

    system: System
    policy: str
    settings: Mapping[str, Any]
    rounds: int
