"""``gbb cut`` and ``gbb optimum``."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gbb.cli import main

Run = Callable[..., str]
MATRIX = "0,2,3\n1,0,1\n0.5,1,0.2\n"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "M.csv").write_text(MATRIX)

    def call(*args: object, code: int = 0) -> str:
        with pytest.raises(SystemExit) as stop:
            main([str(arg) for arg in args])
        assert stop.value.code == code
        captured = capsys.readouterr()
        return captured.err if code else captured.out

    return call


@pytest.mark.parametrize("graph", ["grid:4x6", "complete:9", "circle:101"])
def test_a_cut_that_is_proven_maximal(run: Run, graph: str) -> None:
    assert "this one is maximal" in run("cut", graph)


def test_a_cut_with_a_gap(run: Run) -> None:
    out = run("cut", "random:150", "--seconds", 0.5)
    assert "proven: no cut has more than" in out
    assert "gap" in out
    data = json.loads(run("cut", "random:150", "--seconds", 0.5, "--json"))
    assert data["cut"] <= data["upper_bound"]
    assert not data["proven"]


def test_a_cut_by_a_named_method_and_in_three_parts(run: Run, tmp_path: Path) -> None:
    assert "(greedy)" in run("cut", "complete:7", "--method", "greedy")
    out = run("cut", "complete:9", "--k", 3, "--seconds", 0.2, "--out", "parts.csv")
    assert "27 of them" in out
    assert "guaranteed: at least 0.6667 of the edges" in out
    rows = list(csv.DictReader((tmp_path / "parts.csv").read_text().splitlines()))
    assert len(rows) == 9
    assert sorted(row["part"] for row in rows) == list("000111222")


def test_an_optimum_that_is_proven(run: Run, tmp_path: Path) -> None:
    out = run("optimum", "complete:5", "--matrix", "M.csv", "--out", "best.csv")
    assert "24.4" in out
    assert "proven optimal by arm_counts" in out
    rows = list(csv.DictReader((tmp_path / "best.csv").read_text().splitlines()))
    assert [row["agent"] for row in rows] == list("01234")
    data = json.loads(run("optimum", "complete:5", "--matrix", "M.csv", "--json"))
    assert data["proven"]
    assert data["value"] == pytest.approx(24.4)


def test_an_optimum_that_is_not_proven(run: Run) -> None:
    out = run("optimum", "random:40", "--matrix", "M.csv", "--method", "heuristic")
    assert "not proven: at most" in out
    assert "(bound by edges), gap" in out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("optimum", "complete:5"), "Give the matrix M* as `--matrix`."),
        (
            ("optimum", "circle:5", "--matrix", "M.csv", "--method", "best"),
            "`--method` to be one of",
        ),
        (("cut", "complete:5", "--method", "exac"), "`--method` to be one of"),
        (("cut", "complete:5", "--seconds", 0), "`--seconds` to be a finite number > 0"),
        (("cut", "complete:1"), "`GRAPH` to have at least one edge"),
        (("cut", "complete:5", "--out", "x.txt"), "`--out` to end in .csv"),
    ],
)
def test_bad_input_is_one_line(run: Run, args: tuple[object, ...], message: str) -> None:
    error = run(*args, code=2)
    assert message in error
    assert error.count("\n") == 1


def test_the_graph_is_not_overwritten(run: Run, tmp_path: Path) -> None:
    text = "source,target\na,b\nb,c\nc,a\n"
    (tmp_path / "g.csv").write_text(text)
    error = run("cut", "g.csv", "--undirected", "--out", "g.csv", code=2)
    assert "`--out` to name another file than GRAPH" in error
    assert (tmp_path / "g.csv").read_text() == text


def test_a_method_goes_with_two_parts_only(run: Run) -> None:
    error = run("cut", "complete:6", "--k", 3, "--method", "greedy", code=2)
    assert "`--method` can only be combined with `--k 2`." in error
    assert "all edges are cut" in run("cut", "circle:5", "--k", 3, "--seconds", 0.2)


def test_a_time_limit_is_positive(run: Run) -> None:
    assert "`--seconds` to be a finite number > 0, but got -1.0" in run(
        "cut", "complete:6", "--seconds", -1, code=2
    )


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_shows_the_best_cut_so_far_and_starts_nothing_new(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The upper bound took a fifth of the time limit after the search was interrupted."""
    calls = []
    monkeypatch.setattr("gbb.cuts.upper_bound", lambda *_, **__: calls.append(1))
    monkeypatch.setattr("gbb.pairwise.search.SideSearch._anneal", interrupt)
    data = json.loads(run("cut", "random:150", "--seconds", 60, "--json"))
    assert not calls
    assert data["proof"] == "not proven: it was interrupted"
    assert not data["proven"]
    assert data["upper_bound"] > data["cut"] > data["upper_bound"] / 2


def test_ctrl_c_while_a_cut_is_bounded_shows_the_cut(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gbb.cuts.upper_bound", interrupt)
    out = run("cut", "random:150", "--seconds", 0.1)
    assert "not proven: it was interrupted" in out
