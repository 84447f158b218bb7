"""Learners through the same winds, and what the farm makes of their angles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gbb._support.checks import FloatArray
from gbb._support.progress import Advance, ignore
from gbb.applications.wind.farm import Farm
from gbb.applications.wind.problem import YAWS
from gbb.applications.wind.rose.series import SPEEDS, Series
from gbb.learning.record import AnyRecord, empty, observe
from gbb.policies import AccountingPolicy, Choice, RecordPolicy

TOLD, RENEWED = 6, 144
"""Rounds of ten minutes: every hour the turbines report, and once a day the estimate is renewed.

An estimate of 351 parameters takes a while, and a confidence set that misses some of the latest rounds
is a confidence set all the same. To renew it whenever ``log det A`` has grown by a constant would be
more often: it grows in all 351 directions."""


@dataclass
class Player:
    """A policy in one series of winds, and what it has learnt so far.

    Attributes
    ----------
    policy, series, rng
        Who plays, in which winds, and where its own randomness comes from.
    blind_to
        The context that it takes every round to have, where it does not know the wind.
    """

    policy: RecordPolicy[Any]
    series: Series
    rng: np.random.Generator
    blind_to: Any = None

    def __post_init__(self) -> None:
        self.state: Any = self.policy.init()
        self._waiting: AnyRecord = empty(self.policy.problem)
        self._rounds = 0
        self._open: list[tuple[int, RecordPolicy[Any], Choice]] = []

    def ask(self, t: int) -> FloatArray:
        """The yaw angles of round ``t``, counted from 0."""
        wind = (self.series.measured[t], self.series.speeds[t])
        now = self.policy.at(wind if self.blind_to is None else self.blind_to)
        choice = now.select(self.state, self.rng)
        if isinstance(now, AccountingPolicy):
            self.state = now.on_ask(self.state, t, choice)
        self._open.append((t, now, choice))
        yaw: FloatArray = YAWS[choice.allocation[:-1]]
        return yaw

    def tell(self, rewards: FloatArray) -> None:
        """What the turbines reported of all rounds asked since the last time (rounds x n)."""
        for (t, now, choice), told in zip(self._open, rewards, strict=True):
            paid = np.append(told, 0.0)  # the wind reports nothing
            if isinstance(now, AccountingPolicy):
                self.state = now.on_close(self.state, t, choice, paid)
            seen = observe(now.problem, choice.allocation, paid)
            self._waiting, self._rounds = self._waiting.merge(seen), self._rounds + 1
        self._open.clear()

    def renew(self) -> None:
        """Let the policy learn from all that was told."""
        if self._rounds:
            self.state = self.policy.absorb(self.state, None, self._waiting, rounds=self._rounds)
            self._waiting, self._rounds = empty(self.policy.problem), 0


def play_season(farm: Farm, players: Sequence[Player], advance: Advance = ignore) -> FloatArray:
    """Power of the farm in watts (players x rounds) in all rounds of the series."""
    rounds = len(players[0].series.speeds)
    top = float(farm.free_stream(np.array([SPEEDS[1]]))[0])
    total = np.empty((len(players), rounds))
    for start in range(0, rounds, TOLD):
        hour = np.arange(start, min(start + TOLD, rounds))
        yaw = np.empty((len(players), len(hour), farm.n))
        for place, player in enumerate(players):
            if start % RENEWED == 0:
                player.renew()
            yaw[place] = [player.ask(int(t)) for t in hour]
        power = run_all(farm, [each.series for each in players], yaw, hour)
        for player, told in zip(players, power, strict=True):
            player.tell(told / top)
        total[:, hour] = power.sum(axis=2)
        advance(len(hour))
    for player in players:
        player.renew()
    return total


def run_all(farm: Farm, series: Sequence[Series], yaw: FloatArray, rounds: Any) -> FloatArray:
    """Powers in watts (series x rounds x n) of these yaw angles in these rounds of the series."""
    directions, speeds = (
        np.concatenate([getattr(each, name)[rounds] for each in series])
        for name in ("directions", "speeds")
    )
    return farm.powers(yaw.reshape(-1, farm.n), directions, speeds).reshape(yaw.shape)
