"""What the radio demo leaves behind: its data, numbers, sentences and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr

from gbb._support.checks import FloatArray, IntArray
from gbb.applications._outcome import Outcome
from gbb.applications.radio.network import Network
from gbb.applications.radio.pictures import draw_curves, draw_map

COUPLE, THREE, JOINT = "ImprovedOFUL", "KCutOFUL", "JointOFUL"
POLICIES = (COUPLE, THREE, JOINT, "ThompsonSampling")

WORDS = {
    "best_found": "best plan found",
    "three_cut": "3-cut, no two neighbours alike where possible",
    "local_search_alone": "best of local search from random plans",
    "best_two_channels": "best plan found with two channels",
    "random_channels": "random channels, mean",
}
"""How the table calls what nobody learnt; all in Mb/s."""


class ChannelHistory(NamedTuple):
    """What one policy did, round by round."""

    plans: IntArray
    rewards: FloatArray
    throughput: FloatArray


def make_outcome(
    network: Network, played: Mapping[str, ChannelHistory], numbers: Mapping[str, float], seed: int
) -> Outcome:
    """Everything about one run; ``numbers`` holds :data:`WORDS`' keys and the policies' throughputs."""
    best = numbers["best_found"]
    shares = {f"{name}_share": numbers[name] / best for name in played}
    rows = [(words, f"{numbers[key]:,.0f} Mb/s") for key, words in WORDS.items()]
    rows += [
        (
            f"{name}, last rounds",
            f"{numbers[name]:,.0f} Mb/s, {numbers[name] / best:.3f} of the best",
        )
        for name in played
    ]
    told = "correlation of rewards and throughput over random plans"
    rows.append((told, f"{numbers['agreement']:.2f}"))
    ends = {name: (each.plans[-1], float(each.throughput[-1])) for name, each in played.items()}
    levels = ("best_found", "best_two_channels", "random_channels")
    return Outcome(
        title=f"Channels of {network.cells} radio cells (CRRM)",
        data=_data(network, played, {"seed": seed, **numbers}),
        numbers={**numbers, **shares},
        rows=rows,
        sentences=_sentences(numbers),
        figures={
            "map": draw_map(network, {name: ends[name] for name in (COUPLE, THREE, JOINT)}),
            "throughput": draw_curves(
                {name: each.throughput for name, each in played.items()},
                {WORDS[key]: numbers[key] for key in levels},
            ),
        },
    )


def _data(
    network: Network, played: Mapping[str, ChannelHistory], attributes: Mapping[str, float]
) -> xr.Dataset:
    plans, rewards, throughput = (np.array(each) for each in zip(*played.values(), strict=True))
    return xr.Dataset(
        {
            "throughput": (("policy", "round"), throughput, {"units": "Mb/s"}),
            "reward": (("policy", "round"), rewards, {"long_name": "mean share kept per link"}),
            "channel": (("policy", "round", "cell"), plans.astype(np.int8)),
            "cell_position": (("cell", "axis"), network.positions, {"units": "km"}),
            "user_position": (("user", "axis"), network.users, {"units": "km"}),
            "serving": (("user",), network.serving, {"long_name": "cell that serves the user"}),
        },
        coords={
            "policy": list(played),
            "round": np.arange(1, plans.shape[1] + 1),
            "axis": ["x", "y"],
        },
        attrs=dict(attributes),
    )


def _sentences(numbers: Mapping[str, float]) -> list[str]:
    best = numbers["best_found"]
    return [
        f"{THREE}, one channel per part of a 3-cut, earned {numbers[THREE]:,.0f} Mb/s over its last "
        f"rounds: {numbers[THREE] / best:.3f} of the best plan found. {JOINT}, which may give every "
        f"cell any channel, earned {numbers[JOINT] / best:.3f} of it.",
        f"{COUPLE} plays two arms over a cut in two and earned {numbers[COUPLE]:,.0f} Mb/s, "
        f"{numbers[COUPLE] / best:.3f} of the best found. The best plan with two channels that a search "
        f"found earns {numbers['best_two_channels']:,.0f} Mb/s, and random channels, all three of them, "
        f"{numbers['random_channels']:,.0f} Mb/s.",
        "The best plan is the best found, not proven to be the best.",
    ]
