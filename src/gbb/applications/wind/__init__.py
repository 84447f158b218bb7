"""Turbines choose their yaw: ``gbb demo wind``, against the simulator FLORIS.

Agents are turbines, arms yaw angles. A turbine that turns its rotor out of the wind loses power itself
and steers its wake away from those behind it. Each turbine reports its own power, under a wind that
changes a little all the time; what counts is the power of the whole farm.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from gbb import cuts, policies
from gbb._support import checks, seeds
from gbb._support.checks import FloatArray
from gbb._support.progress import Advance, ignore
from gbb.applications._live import Live
from gbb.applications._outcome import Effort, Outcome, choose_effort
from gbb.applications._require import require
from gbb.applications.wind.contest import LAM, Contest, play_contest
from gbb.applications.wind.farm import Farm
from gbb.applications.wind.outcome import (
    COUPLE,
    EPS,
    SAFE,
    SAFE_AND_SLOW,
    SERIAL_REFINE,
    SHARED,
    TWO_ARMS,
    TYPED,
    ZERO_YAW,
    make_outcome,
)
from gbb.applications.wind.problem import YAWS, ZERO, find_wakes, formulate
from gbb.applications.wind.system import Winds, WindSystem
from gbb.policies import AnyPolicy
from gbb.problem import Problem

CASES = {"3x3-270": (3, 270.0), "4x4-270": (4, 270.0), "4x4-275": (4, 275.0)}
"""Rows of the farm and the nominal wind direction, by name."""

SIGMA, S = 0.12, 1.1
"""Noise of a turbine's power in a round, and a bound on each matrix, as shares of the free stream.

One turbine's noise is about 0.04, but all turbines share the wind: the farm's power varies as if each
had 0.11 of its own. The policies take the noise of a round's numbers to be independent, so sigma is that
of the direction in which it is largest, the sum, and a little more. ``Conservative(shared_noise=True)``
with 0.04 would assume the worst, 0.04 sqrt(16) = 0.16."""

SCALE = 0.1
"""Scale of the posterior that Thompson sampling draws from."""

CHANGES = 2
"""How many turbines may turn from one round to the next, in the slower of the two safe learners."""

EFFORTS = Effort(200), Effort(40)
"""In full, and quick."""


def steps(*, case: str = "4x4-270", rounds: int | None = None, quick: bool = False) -> int:
    """How many steps :func:`run` tells of; checks that it can run."""
    require("wind", "FLORIS", "floris")
    checks.choice("case", case, CASES)
    return choose_effort(*EFFORTS, rounds, quick).rounds


def find_two_arms(farm: Farm, cut: cuts.Cut) -> FloatArray:
    """The best yaw angles (n) that play two arms over the cut, for one who knows the simulator."""
    K = len(YAWS)
    couples = np.array(np.meshgrid(np.arange(K), np.arange(K), indexing="ij")).reshape(2, -1)
    yaws: FloatArray = YAWS[couples[cut.sides[: farm.n]].T]
    best: FloatArray = yaws[int(np.argmax(farm.power(yaws)))]
    return best


def make_contenders(typed: Problem, shared: Problem, cut: cuts.Cut) -> list[AnyPolicy]:
    """Thompson sampling with and without edge types, held back or not, and the paper's two arms."""
    thompson = policies.ThompsonSampling(typed, cut=cut, lam=LAM, v=SCALE, name=TYPED)
    return [
        thompson,
        policies.ThompsonSampling(shared, cut=cut, lam=LAM, v=SCALE, name=SHARED),
        policies.ImprovedOFUL(typed, cut=cut, lam=LAM, radius="complete", name=COUPLE),
        *(
            policies.Conservative(
                typed,
                policy=thompson,
                baseline=np.full(typed.n, ZERO),
                eps=EPS,
                floor=0.0,  # a turbine's power
                max_changes=limit,
                lam=LAM,
                name=name,
            )
            for name, limit in ((SAFE, None), (SAFE_AND_SLOW, CHANGES))
        ),
    ]


@contextmanager
def live(
    *,
    case: str = "4x4-270",
    rounds: int | None = None,
    seed: int = 0,
    quick: bool = False,
) -> Iterator[Live]:
    """A farm that Thompson sampling steers, with one matrix for each row depth and order of wakes."""
    total = steps(case=case, rounds=rounds, quick=quick)
    farm = Farm(*CASES[case])
    winds = Winds.draw(farm, total, seeds.generator(seed))
    system = WindSystem(farm, winds, formulate(farm, find_wakes(farm), sigma=SIGMA, S=S))
    yield Live(system, "ThompsonSampling", {"lam": LAM, "v": SCALE}, total)


def run(
    *,
    case: str = "4x4-270",
    rounds: int | None = None,
    seed: int = 0,
    quick: bool = False,
    advance: Advance = ignore,
) -> Outcome:
    """Let every policy steer one farm, and compare it with zero yaw and FLORIS's own optimiser.

    Parameters
    ----------
    case
        One of :data:`CASES`; 4x4 turbines at 270 degrees when left out.
    rounds
        Rounds that each policy plays; 200 when left out, 40 when ``quick``.
    seed
        Where the wind's jitter and the policies' draws come from.
    quick
        Fewer rounds.
    advance
        Told how many steps were done since the last call, :func:`steps` in all.
    """
    total = steps(case=case, rounds=rounds, quick=quick)
    for_winds, for_policies = seeds.spawn(checks.integer("seed", seed, low=0), 2)
    farm = Farm(*CASES[case])
    edges = find_wakes(farm)
    typed, shared = (formulate(farm, edges, typed=each, sigma=SIGMA, S=S) for each in (True, False))
    cut = cuts.best(typed.graph)
    references = {
        ZERO_YAW: np.zeros(farm.n),
        SERIAL_REFINE: farm.serial_refine(float(YAWS[0]), float(YAWS[-1])),
        TWO_ARMS: find_two_arms(farm, cut),
    }
    winds = Winds.draw(farm, total, np.random.default_rng(for_winds))
    contest = Contest(farm, winds, make_contenders(typed, shared, cut), references, cut)
    return make_outcome(farm, case, play_contest(contest, for_policies, advance), seed)
