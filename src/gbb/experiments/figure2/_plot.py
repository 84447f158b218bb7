"""Figure 2 in the paper's form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from gbb.experiments.figure2._constants import LABELS
from gbb.experiments.figure2._report import smoothed_mean
from gbb.experiments.figure2._run import STUDY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINES = {"alpha_1": "--", "alpha_2": ":"}


def plot(dataset: xr.Dataset) -> Figure:
    """The fraction of the optimum: faint raw curves, moving averages, and the alphas as lines."""
    from gbb.experiments import _figure

    settings = STUDY.settings_of(dataset)
    figure, axes = _figure.column(3.1)
    rounds = dataset["round"].values
    for policy, label in LABELS.items():
        raw = dataset.fraction.sel(policy=policy).mean(("matrix", "run")).values
        smooth = smoothed_mean(dataset, policy, settings.window)
        _figure.policy_curve(axes, policy, label=label, rounds=rounds, raw=raw, smooth=smooth)
    for name, style in LINES.items():
        level = float(dataset[name].mean())
        _figure.parameter(axes, name, np.array([0, settings.T]), np.full(2, level), style)
    axes.set(
        xlim=(0, settings.T),
        ylim=(0.4, 1.0),
        xlabel="$T$",
        ylabel="fraction of the optimal\nglobal reward",
    )
    _figure.finish(figure, axes, STUDY.short_label(settings), legend_columns=2)
    return figure
