"""The compiled loop: same policies, same laws, no edge touched where none need be.

A couple policy plays at most four edge-arms a round, so a round needs only the sums of the noise over
the edges from V1 to V2, from V2 to V1, inside V1 and inside V2. Three forms of the same arithmetic are
chosen by the arms: orthogonal ones, few pairs of any shape, and many arms in few dimensions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gbb._checks import FloatArray, IntArray
from gbb._kernels.features import play_features
from gbb._kernels.orthogonal import play_orthogonal
from gbb._kernels.pairs import play_pairs
from gbb._kernels.random_play import play_random
from gbb._kernels.rounds import Plan, Tally
from gbb.environment import NOISES, Environment
from gbb.estimator import Record, Ridge
from gbb.policies import (
    AnyPolicy,
    CouplePolicy,
    ExploreThenCommit,
    FixedAllocation,
    UniformRandom,
)
from gbb.policies._base import random_argmax
from gbb.policies._couple import couple_objectives
from gbb.policies.explore_then_commit import COMMITS
from gbb.problem import Problem
from gbb.radius import RADII, symmetric_edge_arms
from gbb.simulation._noise import SUMS
from gbb.simulation._trace import Trace

CHUNK = 4096
"""Rounds between two factorisations from the record."""

OnRounds = Callable[[int], None] | None
