"""What the wind demo leaves behind: its data, numbers, sentences and pictures."""

from __future__ import annotations

import numpy as np
import xarray as xr

from gbb._support.checks import FloatArray
from gbb.applications._outcome import Outcome
from gbb.applications.wind.contest import YawHistory
from gbb.applications.wind.farm import SPEED, Farm
from gbb.applications.wind.pictures import draw_curves, draw_flow

ZERO_YAW, SERIAL_REFINE, TWO_ARMS = "zero yaw", "serial refine", "best two arms"
REFERENCES = (ZERO_YAW, SERIAL_REFINE, TWO_ARMS)
TYPED, SHARED = "ThompsonSampling", "ThompsonSampling one matrix"
COUPLE, SAFE, SAFE_AND_SLOW = "ImprovedOFUL", "Conservative", "Conservative two changes"

EPS = 0.03
"""Share of zero yaw's energy that the conservative learners may lose, in sum and at any time."""

MARKS = (30, 100, 200)
"""Rounds at which the table says how far a policy is."""

LAST = 0.1
"""Share of the rounds, the last ones, over which a policy's gain is averaged."""


def measure_gain(played: YawHistory) -> FloatArray:
    """Share of what serial refine gains over zero yaw, at the nominal wind (names x rounds)."""
    zero, best = (played.nominal[played.names.index(name), 0] for name in REFERENCES[:2])
    share: FloatArray = (played.nominal - zero) / (best - zero)
    return share


def measure_safety(played: YawHistory) -> FloatArray:
    """Energy so far over that of zero yaw in the same winds (names x rounds)."""
    energy = np.cumsum(played.power.sum(axis=2), axis=1)
    ratio: FloatArray = energy / energy[played.names.index(ZERO_YAW)]
    return ratio


def make_outcome(farm: Farm, case: str, played: YawHistory, seed: int) -> Outcome:
    """Everything about one run."""
    numbers = _numbers(farm, played)
    learners = played.names[: -len(REFERENCES)]
    rows = [
        ("zero yaw, nominal wind", f"{numbers['zero_yaw_MW']:.2f} MW"),
        (
            "serial refine, nominal wind",
            f"{numbers['serial_refine_MW']:.2f} MW, {numbers['serial_refine_gain']:+.1%}",
        ),
        ("best two arms over the cut, perfect knowledge", f"{numbers['two_arms']:.0%} of the gain"),
    ]
    for name in learners:
        reached = [
            f"{numbers[f'{name}_{mark}']:.0%} at round {mark}"
            for mark in MARKS
            if f"{name}_{mark}" in numbers
        ]
        rows += [
            (f"{name}, what it played", ", ".join([*reached, f"{numbers[name]:.0%} in the end"])),
            (f"{name}, what it would keep", f"{numbers[f'{name}_kept']:.0%} of the gain"),
            (f"{name}, least energy so far over zero yaw", floor_of(numbers[f"{name}_least"])),
        ]
    gain, safety = (
        dict(zip(played.names, each(played), strict=True))
        for each in (measure_gain, measure_safety)
    )
    yaws = dict(zip(played.names, played.kept, strict=True))
    return Outcome(
        title=f"Yaw angles of {farm.rows} x {farm.rows} turbines, {farm.direction:g} degrees (FLORIS)",
        data=_data(played, {"case": case, "seed": seed, **numbers}),
        numbers=numbers,
        rows=rows,
        sentences=_sentences(farm, numbers),
        figures={
            "flow": draw_flow(
                farm, {name: yaws[name] for name in (ZERO_YAW, TYPED, SERIAL_REFINE)}
            ),
            "gain": draw_curves(
                {name: gain[name] for name in learners},
                {name: float(gain[name][0]) for name in REFERENCES},
                {name: safety[name] for name in learners},
                promise=1.0 - EPS,
            ),
        },
    )


def _numbers(farm: Farm, played: YawHistory) -> dict[str, float]:
    gain, safety, rounds = measure_gain(played), measure_safety(played), played.yaw.shape[1]
    zero, best = (float(played.nominal[played.names.index(name), 0]) for name in REFERENCES[:2])
    kept = (farm.power(played.kept) - zero) / (best - zero)
    numbers = {
        "zero_yaw_MW": zero / 1e6,
        "serial_refine_MW": best / 1e6,
        "serial_refine_gain": best / zero - 1.0,
        "two_arms": float(gain[played.names.index(TWO_ARMS), 0]),
    }
    last = max(1, round(LAST * rounds))
    for place, name in enumerate(played.names[: -len(REFERENCES)]):
        marks = {f"{name}_{mark}": mark for mark in MARKS if mark <= rounds}
        numbers |= {
            key: float(gain[place, mark - last : mark].mean()) for key, mark in marks.items()
        }
        numbers[name] = float(gain[place, -last:].mean())
        numbers[f"{name}_kept"] = float(kept[place])
        numbers[f"{name}_least"] = float(safety[place].min())
    return numbers


def _data(played: YawHistory, attributes: dict[str, float | str]) -> xr.Dataset:
    watts = {"units": "W"}
    share = {"long_name": "share of what serial refine gains over zero yaw, nominal wind"}
    return xr.Dataset(
        {
            "yaw": (("policy", "round", "turbine"), played.yaw, {"units": "degrees"}),
            "power": (("policy", "round", "turbine"), played.power, watts),
            "nominal_power": (("policy", "round"), played.nominal, watts),
            "gain": (("policy", "round"), measure_gain(played), share),
            "kept_yaw": (("policy", "turbine"), played.kept, {"units": "degrees"}),
        },
        coords={"policy": list(played.names), "round": np.arange(1, played.yaw.shape[1] + 1)},
        attrs=attributes,
    )


def _sentences(farm: Farm, numbers: dict[str, float]) -> list[str]:
    return [
        f"Thompson sampling with one matrix per row depth played {numbers[TYPED]:.0%} of what serial "
        f"refine gains over zero yaw in its last rounds, and would keep angles worth "
        f"{numbers[f'{TYPED}_kept']:.0%} of it; with one matrix for all wakes, "
        f"{numbers[SHARED]:.0%} and {numbers[f'{SHARED}_kept']:.0%}.",
        f"Two arms over the cut cannot have more than {numbers['two_arms']:.0%}, however much is known; "
        f"the paper's policy, which plays two arms, had {numbers[COUPLE]:.0%} in its last rounds.",
        f"Held back so as not to lose more than {EPS:.0%} of zero yaw's energy at any time, it had "
        f"{numbers[SAFE]:.0%} in its last rounds; {numbers[SAFE_AND_SLOW]:.0%} when only two turbines "
        f"may turn from one round to the next. Their energy so far was never less than "
        f"{floor_of(numbers[f'{SAFE}_least'])} and {floor_of(numbers[f'{SAFE_AND_SLOW}_least'])} of "
        "zero yaw's.",
        f"Serial refine is handed the simulator; the policies only see the turbines' powers. Its "
        f"{numbers['serial_refine_gain']:+.0%} are for a steady wind of {SPEED:g} m/s from "
        f"{farm.direction:g} degrees, in line with the farm or nearly so: not a gain in annual energy.",
    ]


def floor_of(share: float) -> str:
    """Three digits, never more than the number itself."""
    return f"{np.floor(1000.0 * share) / 1000.0:.3f}"
