"""Figure 1: parameters by the theory module, parity with the released code, honest verdicts."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import xarray as xr

import gbb
from gbb import InputError
from gbb.experiments import figure1
from gbb.instances import absolute_normal, with_zeta


@pytest.fixture(scope="module")
def quick() -> xr.Dataset:
    return figure1.run(figure1.QUICK)


@pytest.fixture(scope="module")
def released() -> xr.Dataset:
    return figure1.run(dataclasses.replace(figure1.RELEASED, zeta_steps=2))


def test_the_paper_setting_is_the_paper() -> None:
    s = figure1.PAPER
    assert (s.n, s.d, s.matrices, s.zeta_steps) == (10, 10, 100, 100)
    assert not s.fixed_optimum
    assert s.frobenius is None


def test_values_equal_a_theory_report_with_its_own_solve() -> None:
    small = dataclasses.replace(figure1.PAPER, n=5, d=4, matrices=3, zeta_steps=5, block=2)
    found = figure1.run(small, seed=7)
    problem = gbb.Problem(gbb.Graph.complete(5), np.eye(4))
    cut = gbb.cuts.greedy(problem.graph)
    for k, child in enumerate(np.random.SeedSequence(7).spawn(3)):
        M = absolute_normal(4, seed=child, distinct_couple=True)
        for zeta in found.zeta.values:
            env = gbb.Environment(problem, with_zeta(M, zeta))
            direct = gbb.theory.report(env, cut=cut)
            here = found.sel(matrix=k, zeta=zeta)
            for name in figure1.CURVES:
                assert float(here[name]) == pytest.approx(getattr(direct, name), abs=1e-12)
            assert float(here.optimum) == pytest.approx(direct.optimum.value)


def test_blocks_do_not_change_the_result() -> None:
    small = dataclasses.replace(figure1.QUICK, matrices=4, d=4, n=4)
    one = figure1.run(dataclasses.replace(small, block=1))
    all_at_once = figure1.run(dataclasses.replace(small, block=4))
    xr.testing.assert_equal(one, all_at_once)


def test_as_released_lands_on_the_released_numbers(released: xr.Dataset) -> None:
    mean = released.mean("matrix")
    for name, points in figure1.RELEASED_OUTPUT.items():
        for zeta, theirs in points.items():
            assert float(mean[name].sel(zeta=zeta)) == pytest.approx(theirs, abs=0.02)
    found = figure1.report(released)
    verdicts = {row.verdict for row in found.rows if row.released != "-"}
    assert verdicts == {"agrees"}


def test_as_released_divides_by_one_optimum(released: xr.Dataset) -> None:
    assert (released.optimum == released.optimum.isel(zeta=0)).all()
    assert (released.solves == 1).all()


def test_verdicts_follow_the_data(quick: xr.Dataset) -> None:
    found = figure1.report(quick)
    assert [asked.answer for asked in found.answers] == ["yes", "yes", "yes"]
    doctored = quick.copy(deep=True)
    doctored["alpha_2"] = doctored.alpha_1 - 0.01
    doctored["epsilon"] = doctored.epsilon[:, ::-1].drop_vars("zeta")
    doctored.proven[0] = 0
    assert [asked.answer for asked in figure1.report(doctored).answers] == ["no", "no", "no"]


def test_released_verdicts_follow_the_data(released: xr.Dataset) -> None:
    doctored = released.copy(deep=True)
    doctored["epsilon"] = doctored.epsilon + 0.05
    rows = {row.quantity: row.verdict for row in figure1.report(doctored).rows}
    assert rows["ε at ζ = 0"] == rows["ε at ζ = 0.5"] == rows["ε at ζ = 1"] == "differs"
    assert rows["α₂ at ζ = 0"] == "agrees"


def test_the_paper_setting_is_not_judged_by_the_released_numbers(quick: xr.Dataset) -> None:
    rows = figure1.report(quick).rows
    assert {row.verdict for row in rows} == {"other setting", "no number"}
    assert {row.published for row in rows} == {"curve only"}


def test_quick_is_labelled_everywhere(quick: xr.Dataset) -> None:
    assert figure1.report(quick).label.startswith("QUICK")
    assert figure1.plot(quick).axes[0].get_title() == "QUICK"


def test_picture_has_the_paper_form(quick: xr.Dataset) -> None:
    axes = figure1.plot(quick).axes[0]
    assert axes.get_xlim() == axes.get_ylim() == (0, 1)
    assert axes.get_xlabel() == r"$\zeta$"
    assert [line.get_linestyle() for line in axes.lines] == ["-", "--", "-.", ":"]


def test_a_foreign_dataset_is_refused() -> None:
    with pytest.raises(InputError, match="come from this experiment's run"):
        figure1.report(xr.Dataset())
