"""Policies and fixed yaw angles side by side in the same wind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gbb import optimum
from gbb._support.checks import FloatArray, IntArray
from gbb._support.progress import Advance, ignore
from gbb.applications._system import play_together
from gbb.applications.wind.farm import Farm
from gbb.applications.wind.problem import YAWS
from gbb.applications.wind.system import RECORDS, Winds, WindSystem
from gbb.cuts import Cut
from gbb.learning.record import AnyRecord
from gbb.learning.ridge import Ridge
from gbb.policies import AnyPolicy, EpsilonGreedy, ImprovedOFUL, Learned

LAM = 0.1
"""Ridge regulariser of all learners."""


class Contest(NamedTuple):
    """Who plays where: the farm, its winds, policies, fixed yaw angles by name, and the cut."""

    farm: Farm
    winds: Winds
    learners: Sequence[AnyPolicy]
    references: Mapping[str, FloatArray]
    cut: Cut


class YawHistory(NamedTuple):
    """What every policy and then every reference did, round by round.

    Attributes
    ----------
    names
        Of the policies, then of the references.
    yaw, power
        Yaw angles in degrees, and mean power in watts of every turbine in the winds of that round.
    nominal
        Power in watts of the farm that the yaw angles of that round make of the nominal wind.
    kept
        Yaw angles that each holds to be best after the last round, by its estimate alone.
    """

    names: Sequence[str]
    yaw: FloatArray
    power: FloatArray
    nominal: FloatArray
    kept: FloatArray


def play_contest(
    contest: Contest, seed: np.random.SeedSequence, advance: Advance = ignore
) -> YawHistory:
    """Play every round of the winds, for all policies and references."""
    farm, winds, learners = contest.farm, contest.winds, contest.learners
    fixed = np.array(list(contest.references.values()))
    everyone, rounds = len(learners) + len(fixed), len(winds.speeds)
    yaw, power = np.empty((2, everyone, rounds, farm.n))
    yaw[len(learners) :] = fixed[:, None]
    power[len(learners) :] = [_hold(farm, winds, each) for each in fixed]
    systems = [WindSystem(farm, winds, policy.problem) for policy in learners]
    streams = [np.random.default_rng(seed) for _ in learners]
    for together in play_together(systems, learners, rounds, streams):
        for place, (step, hour) in enumerate(together):
            yaw[place, step.t - 1] = YAWS[step.choice.allocation[: farm.n]]
            power[place, step.t - 1] = hour.power
        advance(1)
    kept = [
        YAWS[find_best(policy, step.state.record, contest.cut)[: farm.n]]
        for policy, (step, _) in zip(learners, together, strict=True)
    ]
    names = [*(policy.name for policy in learners), *contest.references]
    nominal = farm.power(yaw.reshape(-1, farm.n)).reshape(everyone, rounds)
    return YawHistory(names, yaw, power, nominal, np.concatenate([kept, fixed]))


def _hold(farm: Farm, winds: Winds, yaw: FloatArray) -> FloatArray:
    """Mean power in watts of every turbine in every round, with the same yaw angles in all."""
    directions, speeds, _ = (each.ravel() for each in winds)
    powers = farm.powers(np.tile(yaw, (speeds.size, 1)), directions, speeds)
    means: FloatArray = powers.reshape(-1, RECORDS, farm.n).mean(axis=1)
    return means


def find_best(policy: AnyPolicy, record: AnyRecord, cut: Cut) -> IntArray:
    """What is best by all that ``policy`` has seen, with nothing drawn and no optimism.

    That is one of the couples over the cut for a policy that plays nothing else.
    """
    problem = policy.problem
    if isinstance(policy, ImprovedOFUL):
        couples = EpsilonGreedy(problem, cut=cut, lam=LAM, epsilon=0.0, starts=0)
        return couples.select(Learned(0, record), np.random.default_rng(0)).allocation
    return optimum.solve(problem, Ridge(problem, record, LAM).M_hat).allocation
