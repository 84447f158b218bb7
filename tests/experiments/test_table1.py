"""Table 1 against the published numbers."""

from __future__ import annotations

import csv
import dataclasses
import io

import numpy as np
import pytest
import xarray as xr

from gbb.experiments import table1


@pytest.fixture(scope="module")
def table() -> xr.Dataset:
    return table1.run()


def uncut(table: xr.Dataset, graph: str) -> float:
    return float(table.uncut.sel(graph=graph))


def test_published_numbers(table: xr.Dataset) -> None:
    assert uncut(table, "complete") == pytest.approx(49 / 99)
    assert uncut(table, "circle") == 0.0
    assert uncut(table, "star") == 0.0
    assert uncut(table, "matching") == 0.0
    assert uncut(table, "odd circle") == pytest.approx(2 / 202)
    error = float(table.standard_error.sel(graph="random"))
    assert abs(uncut(table, "random") - 0.453) <= 3 * error
    assert table.sizes["draw"] == 100
    assert error == pytest.approx(table.uncut_random.values.std(ddof=1) / 10)


def test_report_says_why_the_circle_differs(table: xr.Dataset) -> None:
    found = table1.report(table)
    verdicts = {row.quantity: row.verdict for row in found.rows}
    assert verdicts == {
        "complete, n = 100": "agrees",
        "random, n = 100": "agrees",
        "circle, n = 100": "differs",
        "star, n = 100": "agrees",
        "matching, n = 100": "agrees",
        "circle, n = 101": "agrees",
    }
    assert "bipartite" in found.notes[0]
    assert "2/202 = 0.0099" in found.notes[0]


def test_alphas_are_formulas(table: xr.Dataset) -> None:
    found = table1.report(table).table
    assert found is not None
    assert found.body[1][1:] == ("0.5 + 0.5 γ",) * 6
    assert found.body[2][1] == "0.505 + 0.495 γ + ε"
    assert found.body[2][3:6] == ("1", "1", "1")


def test_verdicts_follow_the_data(table: xr.Dataset) -> None:
    doctored = table.copy(deep=True)
    doctored.uncut.loc[{"graph": "random"}] = 0.47
    doctored.uncut.loc[{"graph": "star"}] = 0.1
    doctored.uncut.loc[{"graph": "circle"}] = 0.01
    found = table1.report(doctored)
    verdicts = [row.verdict for row in found.rows]
    assert verdicts == ["agrees", "differs", "agrees", "differs", "agrees", "agrees"]
    assert not found.notes


def test_csv_holds_the_table(table: xr.Dataset) -> None:
    rows = list(csv.DictReader(io.StringIO(table1.to_csv(table))))
    assert [row["graph"] for row in rows] == list(table.graph.values)
    assert rows[0]["alpha_2"] == "0.505 + 0.495 gamma + epsilon"
    assert [row["draws"] for row in rows] == ["1", "100", "1", "1", "1", "1"]
    np.testing.assert_allclose([float(row["uncut"]) for row in rows], table.uncut.values)


def test_quick_and_changed_settings_are_labelled() -> None:
    quick = table1.report(table1.run(table1.QUICK))
    assert quick.label == (
        "QUICK, a smaller version of the paper's setting: draws = 10 instead of 100"
    )
    few = table1.run(dataclasses.replace(table1.PAPER, draws=2))
    assert table1.report(few).label == "the paper's setting, but with draws = 2 instead of 100"
    assert table1.report(table1.run(table1.RELEASED)).label == "as released"
