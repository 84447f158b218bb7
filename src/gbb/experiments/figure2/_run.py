"""The simulations behind Figure 2, one part a matrix."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterator
from functools import partial
from importlib.resources import files

import numpy as np
import xarray as xr

from gbb import cuts, theory
from gbb._support import checks, seeds
from gbb._support.checks import FloatArray
from gbb.environment import Environment
from gbb.experiments._study import Experiment, Part
from gbb.experiments.figure2 import _constants as constants
from gbb.experiments.figure2._constants import LABELS, NAME, Figure2Settings
from gbb.graph import Graph
from gbb.instances import absolute_normal, with_zeta
from gbb.optimum import solve
from gbb.policies import OFUL, AnyPolicy, ExploreThenCommit, ImprovedOFUL
from gbb.problem import Problem
from gbb.simulation import simulate

PARAMETERS = ("gamma", "epsilon", "alpha_1", "alpha_2")


def _parts(settings: Figure2Settings, seed: int) -> Iterator[Part]:
    rounds = len(LABELS) * settings.runs * settings.T
    for k, child in enumerate(seeds.spawn(seed, settings.matrices)):
        yield Part(f"matrix{k}", rounds, partial(_one, settings, k, child))


STUDY = Experiment(
    NAME,
    constants.PAPER,
    constants.RELEASED,
    constants.QUICK,
    constants.QUICK_RELEASED,
    _parts,
)
run, steps = STUDY.run, STUDY.steps


def choose(
    *, quick: bool = False, as_released: bool = False, d: int | None = None
) -> Figure2Settings:
    """The settings for the switches of the command."""
    chosen = STUDY.choose(quick=quick, as_released=as_released)
    if d in (None, chosen.d):
        return chosen
    if as_released:
        only = f"`--as-released` can only be combined with `--d {chosen.d}`"
        raise checks.conflict(f"{only}, the size of its five reward tables.")
    return dataclasses.replace(chosen, d=checks.integer("--d", d, low=2))


def released_matrices() -> FloatArray:
    """The five reward tables that the released code's Figure 2 used (matrix, row, column)."""
    source = files("gbb.experiments") / "data" / "figure2_released_matrices.csv"
    with source.open(encoding="utf-8") as lines:
        rows = [[float(value) for value in line[2:]] for line in list(csv.reader(lines))[1:]]
    d = len(rows[0])
    return checks.frozen(np.array(rows).reshape(-1, d, d))


def _one(settings: Figure2Settings, k: int, seed: np.random.SeedSequence) -> xr.Dataset:
    matrix_seed, run_seed = seeds.spawn(seed, 2)
    problem = Problem(
        Graph.complete(settings.n), np.eye(settings.d), sigma=settings.sigma, S=settings.S
    )
    cut = cuts.greedy(problem.graph)
    M, M_of_alphas = _matrices(settings, k, matrix_seed)
    env = Environment(problem, M)
    best = solve(problem, M)
    parameters = theory.report(
        Environment(problem, M_of_alphas),
        cut=cut,
        optimum=best,
        lam=settings.lam,
        delta=settings.delta,
    )
    played = simulate(
        env,
        _policies(settings, problem, cut),
        rounds=settings.T,
        runs=settings.runs,
        seed=run_seed,
        optimum=best,
    )
    fraction = played.fraction.drop_vars("alpha").expand_dims(matrix=[k])
    about = {name: ("matrix", [getattr(parameters, name)]) for name in PARAMETERS}
    return xr.Dataset(
        {
            "fraction": fraction,
            **about,
            "optimum": ("matrix", [best.value]),
            "proven": ("matrix", [int(best.proven)]),
            "M_star": (("matrix", "row", "column"), M[None]),
        }
    )


def _matrices(
    settings: Figure2Settings, k: int, seed: np.random.SeedSequence
) -> tuple[FloatArray, FloatArray]:
    """The matrix that pays, and the one that the alphas are computed from."""
    if not settings.released_tables:
        M = absolute_normal(
            settings.d,
            seed=seed,
            frobenius=settings.S,
            distinct_couple=True,
            zeta=settings.zeta,
        )
        return M, M
    tables = released_matrices()
    if settings.matrices > len(tables) or settings.d != tables.shape[1]:
        rule = f"have at most {len(tables)} matrices of d = {tables.shape[1]} with released_tables"
        raise checks.input_error("settings", rule, f"{settings.matrices} of d = {settings.d}")
    # The released code zeroes the couple's diagonal after its reward table was computed.
    return tables[k], with_zeta(tables[k], settings.zeta)


def _policies(settings: Figure2Settings, problem: Problem, cut: cuts.Cut) -> list[AnyPolicy]:
    lam, delta, radius = settings.lam, settings.delta, settings.radius
    return [
        OFUL(problem, cut=cut, lam=lam, delta=delta, radius=radius),
        ImprovedOFUL(problem, cut=cut, lam=lam, delta=delta, radius=radius),
        ExploreThenCommit(problem, cut=cut, horizon=settings.T, lam=lam, commit=settings.commit),
    ]
