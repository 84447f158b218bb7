"""Policies and fixed yaw angles side by side in the same wind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.applications._outcome import Advance, ignore
from gbb.applications.wind.farm import SPEED, Farm
from gbb.applications.wind.problem import YAWS
from gbb.cuts import Cut
from gbb.policies import AnyPolicy, EpsilonGreedy, IndexPolicy, Learned

JITTER = (2.0, 0.4)
"""Standard deviations of the wind's direction (degrees) and speed (m/s) around the nominal ones."""

RECORDS = 6
"""Ten-minute records in a round: yaw angles are held for an hour, and every record has its own wind."""

LAM = 0.1
"""Ridge regulariser of all learners."""

STARTS = 5
"""From how many couples the search for the best estimated allocation starts."""


class Winds(NamedTuple):
    """The winds of every round (rounds x records), and what a free-standing turbine makes of them."""

    directions: FloatArray
    speeds: FloatArray
    free: FloatArray


class Trial(NamedTuple):
    """Who plays where: the farm, its winds, policies, fixed yaw angles by name, and the cut."""

    farm: Farm
    winds: Winds
    learners: Sequence[AnyPolicy]
    references: Mapping[str, FloatArray]
    cut: Cut


class Played(NamedTuple):
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


def winds_of(farm: Farm, rounds: int, rng: np.random.Generator) -> Winds:
    """Winds that jitter around the farm's nominal one."""
    shape = (rounds, RECORDS)
    directions = farm.direction + JITTER[0] * rng.standard_normal(shape)
    speeds = SPEED + JITTER[1] * rng.standard_normal(shape)
    return Winds(directions, speeds, farm.free_stream(speeds.ravel()).reshape(shape))


def play(trial: Trial, seed: np.random.SeedSequence, advance: Advance = ignore) -> Played:
    """Play every round of the winds, all policies and references in one run of FLORIS.

    Policies are told every turbine's mean power over the records, each divided by what a turbine in
    the free stream makes of that record's wind speed: an operator with a mast can do that. Nothing is
    corrected for the wind's direction.
    """
    farm, winds, learners = trial.farm, trial.winds, trial.learners
    fixed = np.array(list(trial.references.values()))
    everyone, rounds = len(learners) + len(fixed), len(winds.speeds)
    yaw, power = np.empty((2, everyone, rounds, farm.n))
    states = [policy.init() for policy in learners]
    streams = [np.random.default_rng(seed) for _ in learners]
    for t in range(rounds):
        choices = [
            policy.select(state, rng)
            for policy, state, rng in zip(learners, states, streams, strict=True)
        ]
        turned = [YAWS[choice.allocation[: farm.n]] for choice in choices]
        yaw[:, t] = np.concatenate([turned, fixed])
        directions, speeds = (np.tile(each[t], everyone) for each in winds[:2])
        records = farm.powers(np.repeat(yaw[:, t], RECORDS, axis=0), directions, speeds)
        records = records.reshape(everyone, RECORDS, farm.n)
        power[:, t] = records.mean(axis=1)
        told = (records / winds.free[t, :, None]).mean(axis=1)
        told = np.pad(told, ((0, 0), (0, 1)))  # the wind reports nothing
        states = [
            policy.update(*each)
            for policy, *each in zip(learners, states, choices, told, strict=False)
        ]
        advance(1)
    kept = [
        YAWS[best_estimated(policy, Learned(rounds, state.record), trial.cut)[: farm.n]]
        for policy, state in zip(learners, states, strict=True)
    ]
    names = [*(policy.name for policy in learners), *trial.references]
    nominal = farm.power(yaw.reshape(-1, farm.n)).reshape(everyone, rounds)
    return Played(names, yaw, power, nominal, np.concatenate([kept, fixed]))


def best_estimated(policy: AnyPolicy, state: Learned, cut: Cut) -> IntArray:
    """What looks best after all that ``policy`` has seen, with nothing drawn and no optimism."""
    starts = policy.starts if isinstance(policy, IndexPolicy) else STARTS
    greedy = EpsilonGreedy(policy.problem, cut=cut, lam=LAM, explore=0.0, starts=starts)
    return greedy.select(state, np.random.default_rng(0)).allocation
