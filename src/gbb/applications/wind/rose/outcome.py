"""What a season leaves behind: its data, numbers, sentences and pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from gbb._support.checks import FloatArray
from gbb.applications._outcome import Outcome
from gbb.applications.wind.outcome import floor_of
from gbb.applications.wind.rose.learners import EPS
from gbb.applications.wind.rose.pictures import DAY, draw_angles, draw_energy
from gbb.applications.wind.rose.result import (
    BLIND,
    FITTED,
    LEARNER,
    SAFE,
    TABLE,
    Learnt,
    Season,
)
from gbb.applications.wind.rose.series import Series


def make_outcome(
    season: Season, learnt: Learnt, series: Sequence[Series], names: Sequence[str], seed: int
) -> Outcome:
    """Everything about one run."""
    numbers = _numbers(season, learnt, names)
    rounds = len(series[0].speeds)
    promise = 1.0 - EPS if SAFE in names else None
    return Outcome(
        title=f"Yaw angles of 4 x 4 turbines in every wind, {rounds / DAY:.3g} days (FLORIS)",
        data=_data(season, learnt, series, {"seed": seed, **numbers}),
        numbers=numbers,
        rows=_rows(season, learnt, names, numbers),
        sentences=_sentences(numbers, names),
        figures={
            "energy": draw_energy(season, names, promise),
            "angles": draw_angles(learnt, (TABLE, LEARNER)),
        },
    )


def _numbers(season: Season, learnt: Learnt, names: Sequence[str]) -> dict[str, float]:
    numbers = {"table_gain": float(season.gain(TABLE).mean())}
    for name in names:
        numbers[name] = float(season.share(name).mean())
        numbers[f"{name}_gain"] = float(season.gain(name).mean())
        numbers[f"{name}_least"] = float(season.so_far(name).min())
        shares = enumerate(season.share(name).tolist())
        numbers |= {f"{name}_seed_{place}": share for place, share in shares}
    for name in (LEARNER, FITTED):
        numbers[f"{name}_all_directions"] = learnt.share(name)
    return numbers


def _rows(
    season: Season, learnt: Learnt, names: Sequence[str], numbers: dict[str, float]
) -> list[tuple[str, str]]:
    rows = [("FLORIS's table, last third", f"{numbers['table_gain']:+.2%} of zero yaw's energy")]
    for name in names:
        gain = f"{numbers[f'{name}_gain']:+.2%}, {numbers[name]:.0%} of the table's gain"
        each = ", ".join(f"{share:.0%}" for share in season.share(name))
        rows += [
            (f"{name}, last third", gain),
            (f"{name}, each seed", each),
            (f"{name}, least energy so far over zero yaw", floor_of(numbers[f"{name}_least"])),
        ]
    for name in (LEARNER, FITTED):
        share = f"{numbers[f'{name}_all_directions']:.0%} of the table's gain"
        rows.append((f"{name}, what it would keep, all directions alike, steady wind", share))
    for name in (TABLE, LEARNER, FITTED):
        rows.append(
            (f"{name}, gain of turbines in 0, 1, 2, 3+ wakes", _list(learnt.by_depth(name)))
        )
    return rows


def _list(values: FloatArray) -> str:
    return ", ".join(f"{value:+.2%}" for value in values)


def _sentences(numbers: dict[str, float], names: Sequence[str]) -> list[str]:
    sentences = [
        f"Over the last third of the series FLORIS's own yaw table gained {numbers['table_gain']:.1%} "
        f"over zero yaw. Thompson sampling that knows the wind had {numbers[LEARNER]:.0%} of that; "
        f"blind to it, {numbers[BLIND]:.0%}.",
        f"The same model fitted to FLORIS directly had {numbers[FITTED]:.0%}: what is missing there is "
        "not for want of learning.",
    ]
    if SAFE in names:
        sentences.append(
            f"Held back so as not to lose more than {EPS:.0%} of zero yaw's energy at any time, it had "
            f"{numbers[SAFE]:.0%}, and its energy so far was never less than "
            f"{floor_of(numbers[f'{SAFE}_least'])} of zero yaw's."
        )
    return [
        *sentences,
        "The table is handed the simulator; the learners see the wind and the turbines' powers. The "
        "energy is that of winds between 6 and 10 m/s, in which wakes are steered: not of a year.",
    ]


def _data(
    season: Season, learnt: Learnt, series: Sequence[Series], attributes: dict[str, float]
) -> xr.Dataset:
    watts, degrees = {"units": "W"}, {"units": "degrees"}
    by_wind, over_time = ("plan", "direction", "turbine"), ("seed", "round")
    return xr.Dataset(
        {
            "power": (("policy", *over_time), np.stack(list(season.power.values())), watts),
            "wind_direction": (over_time, np.stack([each.measured for each in series]), degrees),
            "wind_speed": (over_time, np.stack([each.speeds for each in series]), {"units": "m/s"}),
            "yaw": (by_wind, np.stack(list(learnt.yaw.values())), degrees),
            "turbine_power": (by_wind, np.stack(list(learnt.power.values())), watts),
            "wakes": (by_wind[1:], learnt.upwind),
        },
        coords={
            "policy": list(season.power),
            "plan": list(learnt.yaw),
            "direction": learnt.directions,
            "round": np.arange(1, len(series[0].speeds) + 1),
        },
        attrs=attributes,
    )
