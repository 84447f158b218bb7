"""Figure 1: gamma, epsilon and both alphas as the unwanted edge-arms' reward zeta grows.

``run`` gives ``gamma``, ``epsilon``, ``alpha_1``, ``alpha_2`` and ``optimum`` over (matrix, zeta), from
proven optima; how many exact ``solves`` each matrix took and whether all were ``proven``. Matrix k is
the same whatever their number, and a step is a matrix.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from gbb import cuts, theory
from gbb._support import seeds
from gbb._support.checks import FloatArray
from gbb.environment import Environment
from gbb.experiments._envelope import envelope
from gbb.experiments._findings import (
    CURVE_ONLY,
    NO_NUMBER,
    NONE,
    OTHER_SETTING,
    Answer,
    Finding,
    Findings,
    number,
    standard_error,
    within,
    yes_no,
)
from gbb.experiments._study import Experiment, Part, Settings
from gbb.graph import Graph
from gbb.instances import absolute_normal, with_zeta
from gbb.optimum import Optimum, solve
from gbb.problem import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "figure1"


@dataclass(frozen=True, kw_only=True)
class Figure1Settings(Settings):
    """Constants of the figure.

    ``fixed_optimum`` divides by the optimum of the matrix before the zeta construction, for every zeta
    (the released code's slip), instead of by the optimum at each zeta.
    """

    n: int = 10
    d: int = 10
    matrices: int = 100
    zeta_steps: int = 100
    frobenius: float | None = None
    fixed_optimum: bool = False
    block: int = 10


PAPER = Figure1Settings()
RELEASED = Figure1Settings(
    n=5, matrices=1000, frobenius=10.0, fixed_optimum=True, block=100, as_released=True
)
QUICK = Figure1Settings(matrices=10, zeta_steps=20, block=5, quick=True)
QUICK_RELEASED = dataclasses.replace(RELEASED, matrices=100, zeta_steps=20, quick=True)

CURVES = ("gamma", "alpha_1", "epsilon", "alpha_2")
SYMBOLS = {"gamma": "γ", "alpha_1": "α₁", "epsilon": "ε", "alpha_2": "α₂"}
SHOWN = (0.0, 0.5, 1.0)
RELEASED_OUTPUT = {
    "epsilon": {0.0: 0.2285, 0.5: 0.0514, 1.0: 0.0},
    "alpha_2": {0.0: 0.8285, 0.5: 0.6815, 1.0: 0.6301},
}
"""The released code's own means over its 100 matrices."""

RELEASED_MATRICES = 100
TOLERANCE = 0.02


def _parts(settings: Figure1Settings, seed: int) -> Iterator[Part]:
    children = seeds.spawn(seed, settings.matrices)
    for start in range(0, settings.matrices, settings.block):
        chosen = children[start : start + settings.block]
        yield Part(f"from{start:04d}", len(chosen), partial(_block, settings, start, chosen))


STUDY = Experiment(NAME, PAPER, RELEASED, QUICK, QUICK_RELEASED, _parts)
choose, run, steps = STUDY.choose, STUDY.run, STUDY.steps


def _block(
    settings: Figure1Settings, start: int, seeds: list[np.random.SeedSequence]
) -> xr.Dataset:
    # Nothing here depends on S, as long as no matrix exceeds it.
    problem = Problem(Graph.complete(settings.n), np.eye(settings.d), S=10.0 * settings.d)
    cut = cuts.greedy(problem.graph)
    zetas = np.linspace(0.0, 1.0, settings.zeta_steps + 1)
    results = []
    for child in seeds:
        M = absolute_normal(
            settings.d, seed=child, frobenius=settings.frobenius, distinct_couple=True
        )
        results.append(_one_matrix(settings, problem, cut, M, zetas))
    axes = ("matrix", "zeta")
    names = (*CURVES, "optimum")
    stacked = {name: (axes, np.array([values[name] for values, *_ in results])) for name in names}
    return xr.Dataset(
        {
            **stacked,
            "solves": ("matrix", [solves for _, solves, _ in results]),
            "proven": ("matrix", [int(proven) for *_, proven in results]),
        },
        coords={"matrix": np.arange(start, start + len(seeds)), "zeta": zetas},
        attrs={"uncut": cut.uncut},
    )


def _one_matrix(
    settings: Figure1Settings, problem: Problem, cut: cuts.Cut, M: FloatArray, zetas: FloatArray
) -> tuple[dict[str, FloatArray], int, bool]:
    if settings.fixed_optimum:
        once = solve(problem, M, method="arm_counts")
        best, solves, proven = np.full(zetas.size, once.value), 1, once.proven
    else:
        upper = envelope(problem, M, method="arm_counts")
        best, solves, proven = upper(zetas), upper.solves, upper.proven
    nobody = np.zeros(0, dtype=np.int64)  # the parameters need the optimal value only
    reports = [
        theory.report(
            Environment(problem, with_zeta(M, float(zeta))),
            cut=cut,
            optimum=Optimum(nobody, float(value), float(value), proven, "envelope"),
        )
        for zeta, value in zip(zetas, best, strict=True)
    ]
    values = {name: np.array([getattr(found, name) for found in reports]) for name in CURVES}
    return {**values, "optimum": best}, solves, proven


def report(dataset: xr.Dataset) -> Findings:
    """Read the figure's numbers and the paper's claims off the data."""
    settings = STUDY.settings_of(dataset)
    rows = [_row(settings, dataset, name, zeta) for name in CURVES for zeta in SHOWN]
    scale = f", scaled to Frobenius norm {settings.frobenius:g}" if settings.frobenius else ""
    of = "before the zeta construction" if settings.fixed_optimum else "at every zeta"
    return Findings(
        title="Figure 1: gamma, epsilon and the alphas against zeta",
        label=STUDY.label(settings),
        caption=(
            f"Complete graph of n = {settings.n} agents, greedy cut, d = K = {settings.d} one-hot arms; "
            f"means over {settings.matrices} matrices of absolute standard normals{scale}, drawn "
            "again until the best couple has two different arms; zeta from 0 to 1 in steps of "
            f"{1 / settings.zeta_steps:g}; divided by the optimum of the matrix {of}. "
            f"Seed {dataset.attrs['seed']}."
        ),
        rows=tuple(rows),
        answers=_answers(settings, dataset),
        notes=_notes(settings),
    )


def _row(settings: Figure1Settings, dataset: xr.Dataset, name: str, zeta: float) -> Finding:
    values = dataset[name].sel(zeta=zeta, method="nearest").values
    ours, error = float(values.mean()), standard_error(values)
    theirs = RELEASED_OUTPUT.get(name, {}).get(zeta)
    if theirs is None:
        verdict, detail = NO_NUMBER, ""
    elif settings.as_released:
        # Their mean over 100 matrices has a sampling error too, which ours estimates.
        spread = math.hypot(error, error * math.sqrt(values.size / RELEASED_MATRICES))
        why = f"standard error of the difference {spread:.4f}"
        verdict, detail = within(ours, theirs, TOLERANCE, why)
    else:
        verdict, detail = (
            OTHER_SETTING,
            "n = 5 and one optimum for all zeta there; see --as-released",
        )
    shown = NONE if theirs is None else f"{theirs:g}"
    return Finding(
        f"{SYMBOLS[name]} at ζ = {zeta:g}", CURVE_ONLY, shown, number(ours, error), verdict, detail
    )


def _answers(settings: Figure1Settings, dataset: xr.Dataset) -> tuple[Answer, ...]:
    mean = dataset[list(CURVES)].mean("matrix")
    gap = dataset.alpha_2 - dataset.alpha_1
    lowest = mean.alpha_2 - mean.alpha_1
    where = float(dataset.zeta[int(lowest.values.argmin())])
    share = float((gap >= -1e-12).mean())
    falls = float(mean.epsilon[0]), float(mean.epsilon[-1])
    rises = float(mean.gamma[0]), float(mean.gamma[-1])
    solves = dataset.solves.values
    points = "every matrix" if settings.fixed_optimum else "every matrix and every zeta"
    return (
        Answer(
            "Is alpha_2 above alpha_1 at every zeta, on average over matrices?",
            yes_no(float(lowest.min()) > 0),
            f"smallest difference {float(lowest.min()):.4f}, at zeta = {where:g}; alpha_2 >= alpha_1 "
            f"in {share:.1%} of all (matrix, zeta)",
        ),
        Answer(
            "Is epsilon lower and gamma higher at zeta = 1 than at zeta = 0?",
            yes_no(falls[1] < falls[0] and rises[1] > rises[0]),
            f"epsilon {falls[0]:.4f} to {falls[1]:.4f}, gamma {rises[0]:.4f} to {rises[1]:.4f}",
        ),
        Answer(
            f"Is the optimum proven for {points}?",
            yes_no(bool(dataset.proven.all())),
            f"{solves.sum()} exact solves, {solves.min()} to {solves.max()} a matrix, for "
            f"{dataset.sizes['matrix'] * dataset.sizes['zeta']} pairs of matrix and zeta",
        ),
    )


def _notes(settings: Figure1Settings) -> tuple[str, ...]:
    if not settings.as_released:
        return (
            "The optimum is a maximum of functions linear in zeta, because zeta moves two entries of "
            "the matrix only; its exact upper envelope is found by solving where two lines cross.",
            "The released code drew this figure with n = 5 agents and divided by the optimum of the "
            "matrix before the zeta construction, so its numbers are not those of the paper's setting.",
        )
    return (
        "As released: n = 5 agents instead of 10, the matrix scaled to Frobenius norm 10 (which no "
        "ratio depends on), and the optimum computed once from the matrix before the zeta construction.",
        f"The released numbers are means over {RELEASED_MATRICES} matrices of its own; more are "
        "drawn here so that the sampling error is mostly theirs.",
    )


STYLES = {"gamma": "-", "alpha_1": "--", "epsilon": "-.", "alpha_2": ":"}


def plot(dataset: xr.Dataset) -> Figure:
    """The figure in the paper's form."""
    from gbb.experiments import _figure

    settings = STUDY.settings_of(dataset)
    figure, axes = _figure.column(2.6)
    for name in CURVES:
        _figure.parameter(
            axes, name, dataset.zeta.values, dataset[name].mean("matrix").values, STYLES[name]
        )
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel=r"$\zeta$")
    _figure.finish(figure, axes, STUDY.short_label(settings), legend_columns=4)
    return figure
