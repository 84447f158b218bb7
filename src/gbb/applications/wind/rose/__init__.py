"""Turbines choose their yaw in every wind: ``gbb demo wind --rose``, against the simulator FLORIS.

The wind turns and freshens, and is known before each round. Edges have features by where one turbine
stands in another's wake, so that a learner need not learn every direction by itself. Compared with
zero yaw and with FLORIS's own yaw table, in energy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb._support.progress import Advance, ignore
from gbb._support.seeds import spawn
from gbb.applications._outcome import Effort, Outcome, choose_effort
from gbb.applications._require import require
from gbb.applications.wind.farm import Farm
from gbb.applications.wind.rose.learners import best_angles, fit, make_learner, mean_features
from gbb.applications.wind.rose.outcome import make_outcome
from gbb.applications.wind.rose.plan import Tables, formulate, look_at
from gbb.applications.wind.rose.result import (
    BLIND,
    FITTED,
    LEARNER,
    SAFE,
    TABLE,
    ZERO_YAW,
    Learnt,
    Season,
)
from gbb.applications.wind.rose.season import Player, play_season, run_all
from gbb.applications.wind.rose.series import Series
from gbb.contexts import EdgeFeatures


@dataclass(frozen=True)
class RoseEffort(Effort):
    """Steps of FLORIS's table in degrees, and rounds of the fit to FLORIS itself."""

    step: float
    fitted: int


EFFORTS = RoseEffort(2016, 3.0, 1500), RoseEffort(144, 45.0, 300)
"""In full, two weeks; and quick, a day."""


def steps(
    *, rounds: int | None = None, seeds: int = 5, safe: bool = False, quick: bool = False
) -> int:
    """How many steps :func:`run` tells of; checks that it can run."""
    require("wind", "FLORIS", "floris")
    checks.integer("seeds", seeds, low=1)
    if not isinstance(safe, bool | np.bool_):
        raise checks.input_error("safe", "be True or False", repr(safe))
    return choose_effort(*EFFORTS, rounds, quick).rounds


def run(
    *,
    rounds: int | None = None,
    seed: int = 0,
    seeds: int = 5,
    safe: bool = False,
    quick: bool = False,
    advance: Advance = ignore,
) -> Outcome:
    """Let every learner steer the farm through the same winds.

    Parameters
    ----------
    rounds
        Rounds of ten minutes; 2,016 when left out, 144 when ``quick``.
    seed
        Where the winds and the policies' draws come from.
    seeds
        How many series of winds there are, each with learners of its own.
    safe
        Whether a learner plays too that may not lose more than 2 % of zero yaw's energy at any time.
    quick
        Fewer rounds, and a coarser table.
    advance
        Told how many steps were done since the last call, :func:`steps` in all.
    """
    steps(rounds=rounds, seeds=seeds, safe=safe, quick=quick)
    effort = choose_effort(*EFFORTS, rounds, quick)
    children = spawn(checks.integer("seed", seed, low=0), seeds)
    farm = Farm(4, 270.0)
    wakes, tables = look_at(farm), Tables.make(farm, effort.step)
    problem = formulate(farm, wakes)
    blind, mean = formulate(farm, EdgeFeatures(problem.types)), mean_features(problem)
    fitted = fit(farm, problem, effort.fitted)
    names = [LEARNER, BLIND, *[SAFE] * safe]
    players, winds = [], []
    for child in children:
        for_winds, for_policies = child.spawn(2)
        winds.append(Series.draw(effort.rounds, np.random.default_rng(for_winds)))
        for name in names:
            policy = make_learner(name, problem, blind, tables)
            rng, known = np.random.default_rng(for_policies), mean if name == BLIND else None
            players.append(Player(policy, winds[-1], rng, known))
    power = play_season(farm, players, advance)
    record = players[0].state.record
    kept = {LEARNER: record, FITTED: fitted}
    angles = {name: best_angles(problem, each, tables) for name, each in kept.items()}
    learnt = Learnt.find(farm, wakes, tables, angles)
    plans = {name: learnt.yaw[name] for name in (ZERO_YAW, TABLE, FITTED)}
    season = Season(
        {name: power[place :: len(names)] for place, name in enumerate(names)}
        | {name: _hold(farm, winds, tables, each) for name, each in plans.items()}
    )
    return make_outcome(season, learnt, winds, [*names, FITTED], seed)


def _hold(farm: Farm, winds: Sequence[Series], tables: Tables, plan: FloatArray) -> FloatArray:
    """Power of the farm (series x rounds) with the angles of a plan by direction."""
    yaw = np.stack([plan[tables.nearest(each.measured)] for each in winds])
    total: FloatArray = run_all(farm, winds, yaw, slice(None)).sum(axis=2)
    return total
