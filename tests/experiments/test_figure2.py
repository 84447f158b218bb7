"""Figure 2: parity with the released code, honest verdicts, the picture's form."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import xarray as xr

import gbb
from gbb import InputError
from gbb.experiments import figure2
from gbb.experiments._findings import standard_error_over_runs
from gbb.experiments.figure2 import _constants as constants
from gbb.experiments.figure2._report import smoothed_mean, tail_means
from gbb.instances import with_zeta


@pytest.fixture(scope="module")
def quick() -> xr.Dataset:
    return figure2.run(figure2.QUICK)


@pytest.fixture(scope="module")
def released() -> xr.Dataset:
    """All rounds and all five tables, 2 runs each."""
    return figure2.run(dataclasses.replace(figure2.RELEASED, runs=2))


def test_the_paper_setting() -> None:
    s = figure2.PAPER
    assert (s.n, s.d, s.matrices, s.runs, s.T) == (5, 5, 5, 10, 20_000)
    assert (s.zeta, s.sigma, s.lam, s.delta, s.S) == (0.0, 1.0, 1.0, 0.001, 4.0)
    assert (s.radius, s.commit, s.window) == ("paper", "couple", 100)


@pytest.mark.parametrize("policy", list(constants.LABELS))
def test_as_released_lands_on_the_released_numbers(released: xr.Dataset, policy: str) -> None:
    for last, theirs in ((0, constants.RELEASED_ALL), (1000, constants.RELEASED_LAST)):
        values = tail_means(released, policy, last)
        assert standard_error_over_runs(values) <= 0.015
        assert values.mean() == pytest.approx(theirs[policy], abs=0.015)


def test_as_released_alphas_use_the_zeroed_diagonal_and_the_original_optimum(
    released: xr.Dataset,
) -> None:
    tables = figure2.released_matrices()
    np.testing.assert_array_equal(released.M_star.values, tables)
    problem = gbb.Problem(gbb.Graph.complete(5), np.eye(5), S=4.0)
    for k, M in enumerate(tables):
        best = gbb.optimum.solve(problem, M)
        zeroed = gbb.Environment(problem, with_zeta(M, 0.0))
        direct = gbb.theory.report(zeroed, cut=gbb.cuts.greedy(problem.graph), optimum=best)
        assert released.optimum.values[k] == pytest.approx(best.value)
        assert released.alpha_2.values[k] == pytest.approx(direct.alpha_2)


def test_random_matrices_keep_the_bound_the_learner_is_told(quick: xr.Dataset) -> None:
    for M in quick.M_star.values:
        assert np.linalg.norm(M) <= figure2.QUICK.S
        a, b = gbb.instances.best_couple(M)
        assert a != b
        assert M[a, a] == M[b, b] == 0.0
    assert bool(quick.proven.all())


def test_as_released_refuses_another_dimension() -> None:
    with pytest.raises(InputError, match="can only be combined with `--d 5`, the size of its five"):
        figure2.choose(as_released=True, d=10)
    bad = dataclasses.replace(figure2.RELEASED, matrices=6)
    with pytest.raises(InputError, match="at most 5 matrices"):
        figure2.run(bad)


def test_another_dimension() -> None:
    settings = dataclasses.replace(
        figure2.choose(quick=True, d=10), T=60, matrices=1, last=20, window=10
    )
    found = figure2.run(settings)
    assert found.M_star.shape == (1, 10, 10)
    assert "d = K = 10" in figure2.report(found).caption


def made_up(quick: xr.Dataset, **levels: float) -> xr.Dataset:
    """The quick dataset with constant curves, each run a little apart."""
    doctored = quick.copy(deep=True)
    for policy, level in levels.items():
        shift = xr.DataArray([-0.001, 0.001], dims="run")
        doctored.fraction.loc[{"policy": policy}] = level + shift
    doctored["alpha_1"][:] = 0.5
    doctored["alpha_2"][:] = 0.8
    return doctored


def answers(dataset: xr.Dataset) -> list[str]:
    return [asked.answer for asked in figure2.report(dataset).answers]


def test_verdicts_follow_the_data(quick: xr.Dataset) -> None:
    good = made_up(quick, OFUL=0.7, ImprovedOFUL=0.9, ExploreThenCommit=0.6)
    assert answers(good) == ["yes", "yes", "yes", "yes", "yes"]
    bad = made_up(quick, OFUL=0.7, ImprovedOFUL=0.65, ExploreThenCommit=0.4)
    assert answers(bad) == ["no", "yes", "yes", "no", "no"]


def test_a_difference_within_the_noise_is_not_shown(quick: xr.Dataset) -> None:
    close = made_up(quick, OFUL=0.7, ImprovedOFUL=0.7001, ExploreThenCommit=0.6)
    shift = xr.DataArray([-0.05, 0.05], dims="run")
    close.fraction.loc[{"policy": "ImprovedOFUL"}] = 0.7001 + shift
    assert answers(close)[0] == "not shown"
    one_run = close.isel(run=[0])
    one_run.fraction.loc[{"policy": "ImprovedOFUL"}] = 0.9
    assert answers(one_run)[0] == "not shown"


def test_a_dip_after_the_first_third_is_seen(quick: xr.Dataset) -> None:
    dip = made_up(quick, OFUL=0.7, ImprovedOFUL=0.9, ExploreThenCommit=0.6)
    dip.fraction.loc[{"policy": "OFUL", "round": slice(3000, 3200)}] = 0.45
    dip.fraction.loc[{"policy": "ExploreThenCommit", "round": slice(1, 1334)}] = 0.1
    assert answers(dip)[2:] == ["no", "yes", "yes"]
    assert "at least 0.4500 (at round 3099)" in figure2.report(dip).answers[2].evidence


def test_moving_average_is_a_mean_of_the_window(quick: xr.Dataset) -> None:
    smooth = smoothed_mean(quick, "OFUL", 100)
    raw = quick.fraction.sel(policy="OFUL").mean(("matrix", "run")).values
    assert smooth.size == raw.size - 99
    assert smooth[0] == pytest.approx(raw[:100].mean())
    assert smooth[-1] == pytest.approx(raw[-100:].mean())


def test_released_verdicts_follow_the_data(released: xr.Dataset) -> None:
    assert [row.verdict for row in figure2.report(released).rows[:6]] == ["agrees"] * 6
    doctored = released.assign(fraction=released.fraction - 0.02)
    assert [row.verdict for row in figure2.report(doctored).rows[:6]] == ["differs"] * 6


def test_the_paper_setting_is_not_judged_by_the_released_numbers(quick: xr.Dataset) -> None:
    rows = figure2.report(quick).rows
    assert {row.verdict for row in rows} == {"other setting", "no number"}


def test_caption_and_title_say_what_was_run(quick: xr.Dataset) -> None:
    found = figure2.report(quick)
    for fact in ("n = 5", "d = K = 5", "2 runs", "T = 4000", "sigma = 1", "lambda = 1", "S = 4"):
        assert fact in found.caption
    assert found.label.startswith("QUICK")
    assert figure2.plot(quick).axes[0].get_title() == "QUICK"


def test_picture_has_the_paper_form(quick: xr.Dataset) -> None:
    figure = figure2.plot(quick)
    axes = figure.axes[0]
    assert axes.get_ylim() == (0.4, 1.0)
    assert axes.get_xlim() == (0, 4000)
    assert axes.get_xlabel() == "$T$"
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert set(labels) == {*constants.LABELS.values(), r"$\alpha_1$", r"$\alpha_2$"}
    by_label = {line.get_label(): line for line in axes.lines}
    assert by_label["OFUL for GBB"].get_color() == gbb.plotting.COLOURS["OFUL"]


def test_too_few_rounds_show_nothing() -> None:
    found = figure2.run(dataclasses.replace(figure2.QUICK, T=50))
    assert answers(found)[2:] == ["not shown"] * 3
    figure2.plot(found)


def test_one_changed_setting_is_enough_for_a_notebook() -> None:
    settings = dataclasses.replace(figure2.PAPER, runs=2, T=300, last=100)
    found = figure2.run(settings)
    assert found.fraction.dims == ("matrix", "policy", "run", "round")
    assert found.fraction.shape == (5, 3, 2, 300)
    assert "runs = 2 instead of 10" in figure2.report(found).label
