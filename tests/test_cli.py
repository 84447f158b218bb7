"""The command line: good input, bad input (one line, exit code 2), files whole or absent."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import typer

import gbb
from gbb._cli.commands import simulate as command
from gbb._cli.errors import exit_code_of, in_options
from gbb._cli.given.tables import read_arms, read_matrix
from gbb._support import checks
from gbb._support.compiling import COMPILING
from gbb.cli import main

MATRIX = "0,2,3\n1,0,1\n0.5,1,0.2\n"
M = np.array([[0, 2, 3], [1, 0, 1], [0.5, 1, 0.2]])
SHORT = ["--rounds", "30", "--runs", "2"]


class Outcome:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def call(*args):
        with pytest.raises(SystemExit) as stop:
            main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return Outcome(stop.value.code, captured.out, captured.err)

    return call


@pytest.fixture
def refused(run, tmp_path):
    def call(*args):
        before = sorted(tmp_path.rglob("*"))
        outcome = run(*args)
        assert outcome.code == 2
        assert outcome.out == ""
        assert outcome.err.count("\n") == 1
        assert outcome.err.startswith("gbb: error: ")
        assert sorted(tmp_path.rglob("*")) == before
        return outcome.err.removeprefix("gbb: error: ").rstrip("\n")

    return call


@pytest.fixture
def matrix(tmp_path):
    (tmp_path / "M.csv").write_text(MATRIX)
    return "M.csv"


def test_help_names_the_commands(run):
    for args in ([], ["--help"], ["-h"]):
        outcome = run(*args)
        assert outcome.code == 0
        assert "inspect" in outcome.out
        assert "simulate" in outcome.out


@pytest.mark.parametrize("name", ["inspect", "simulate"])
def test_help_of_commands_fits_80_columns(run, name):
    outcome = run(name, "--help")
    assert outcome.code == 0
    assert "GRAPH" in outcome.out
    assert max(map(len, outcome.out.splitlines())) <= 80


def test_version(run):
    assert run("--version").out == f"gbb {gbb.__version__}\n"


def test_inspect_prints_the_graph_and_the_cut(run):
    outcome = run("inspect", "complete:5")
    assert outcome.code == 0
    facts = dict(
        re.split(r"\s{2,}", line.strip())
        for line in outcome.out.splitlines()
        if "  " in line.strip()
    )
    assert facts["agents n"] == "5"
    assert facts["directed edges m"] == "20"
    assert facts["components"] == "1"
    assert facts["bipartite"] == "no"
    assert facts["|V1|, |V2|"] == "3, 2"
    assert facts["m12, m21"] == "6, 6"
    assert facts["m1, m2"] == "6, 2"
    assert facts["uncut (m1 + m2)/m"] == "0.4"
    assert facts["cut rho"] == "0.6"


@pytest.mark.parametrize(
    ("args", "n", "m"),
    [
        (["complete:4"], 4, 12),
        (["CIRCLE:6"], 6, 12),
        (["star:5"], 5, 8),
        (["matching:6"], 6, 6),
        (["path:4"], 4, 6),
        (["grid:2x3"], 6, 14),
        (["grid:9"], 9, 24),
        (["regular:10", "--degree", "3"], 10, 30),
        (["random:8", "--p", "1"], 8, 56),
    ],
)
def test_inspect_knows_every_family(run, args, n, m):
    data = json.loads(run("inspect", *args, "--json").out)
    assert (data["n"], data["m"]) == (n, m)


def test_a_random_graph_is_the_librarys_for_the_same_seed(run):
    data = json.loads(run("inspect", "random:30", "--seed", 7, "--json").out)
    assert data["m"] == gbb.Graph.random(30, seed=7).m


@pytest.mark.parametrize("suffix", [".csv", ".graphml", ".json"])
def test_inspect_reads_files(run, tmp_path, suffix):
    graph = gbb.Graph.random(9, seed=1)
    graph.write(tmp_path / f"g{suffix}")
    data = json.loads(run("inspect", f"g{suffix}", "--json").out)
    assert (data["n"], data["m"]) == (graph.n, graph.m)


def test_inspect_reads_undirected_rows(run, tmp_path):
    (tmp_path / "g.csv").write_text("0,1\n1,2\n")
    data = json.loads(run("inspect", "g.csv", "--undirected", "--json").out)
    assert (data["n"], data["m"]) == (3, 4)


def test_a_graph_without_edges_has_no_fractions(run):
    data = json.loads(run("inspect", "complete:1", "--json").out)
    assert data["rho"] is None
    assert "cut rho               -" in run("inspect", "complete:1").out


def test_inspect_with_a_matrix_reports_the_theory(run, matrix):
    data = json.loads(
        run("inspect", "complete:5", "--matrix", matrix, "--rounds", 100, "--json").out
    )
    graph = gbb.Graph.complete(5)
    env = gbb.Environment(gbb.Problem(graph, np.eye(3), S=float(np.linalg.norm(M))), M)
    report = gbb.theory.report(env, cut=gbb.cuts.greedy(graph))
    for name in ("gamma", "Delta", "epsilon", "alpha_1", "alpha_1_sharp", "alpha_2", "alpha_3"):
        assert data["theory"][name] == getattr(report, name)
    assert data["theory"]["optimum"] == report.optimum.value
    assert data["theory"]["optimum_proven"] is True
    assert data["theory"]["regret_bound"] == report.regret_bound(100)
    assert data["theory"]["regret_bound_sharp"] == report.regret_bound_sharp(100)
    assert data["theory"]["regret_bound_symmetric"] == report.regret_bound_sharp(
        100, radius="symmetric"
    )
    assert data["theory"]["alpha_3_proven"] is True
    assert all(item["holds"] for item in data["theory"]["assumptions"])


def test_inspect_says_which_assumptions_fail(run, matrix):
    out = run("inspect", "complete:5", "--matrix", matrix, "--S", 1, "--L", 2).out
    assert re.search(r"Frobenius norm of M\* is at most S +4\.036 +1 +does not hold", out)
    assert re.search(r"edge-arm norms are at most L +1 +2 +holds", out)
    assert "24.4, proven (arm_counts)" in out
    assert max(map(len, out.splitlines())) <= 80


def test_inspect_says_when_the_optimum_is_not_proven(run, matrix, monkeypatch):
    heuristic = partial(gbb.optimum.solve, method="heuristic")
    monkeypatch.setattr("gbb.theory._report.solve", heuristic)
    out = run("inspect", "random:40", "--matrix", matrix).out
    assert re.search(r"best known \(heuristic\), at most [\d,]+;", out)
    assert re.search(r"not\s+proven", out)


def test_simulate_says_what_share_is_proven_where_the_optimum_is_not(run, matrix, monkeypatch):
    heuristic = partial(gbb.optimum.solve, method="heuristic")
    monkeypatch.setattr("gbb._cli.commands.simulate.optimum.solve", heuristic)
    command = ("simulate", "random:40", "--matrix", matrix, "--policy", "UniformRandom")
    out = run(*command, "--rounds", 20).out
    assert re.search(r"fraction +last 10 % +proven +regret", out)
    assert re.search(r"\(best known, at most [\d,]+\); fractions of it", out)
    assert max(map(len, out.splitlines())) <= 80
    data = json.loads(run(*command, "--rounds", 20, "--json").out)
    row = data["policies"][0]
    share = data["attributes"]["optimum"] / data["attributes"]["optimum_upper_bound"]
    assert row["proven_fraction"] == pytest.approx(row["fraction"] * share)


def test_nobody_is_told_S_where_it_is_unknown(refused):
    said = refused("simulate", "complete:4", "--unknown", "--S", 3)
    assert "`--S` is told to the learner: leave it out, or `--unknown`." in said


def test_yes_no_rewards_are_played_with_the_right_sigma(run, tmp_path):
    path = tmp_path / "yes.csv"
    path.write_text("0.1,0.9\n0.6,0\n")
    command = ("simulate", "complete:4", "--matrix", path, "--noise", "bernoulli", "--rounds", 20)
    data = json.loads(run(*command, "--json").out)
    assert data["attributes"]["noise"] == "bernoulli"
    assert data["attributes"]["sigma"] == 0.5
    assert "sigma = 0.5" in run(*command).out
    told = json.loads(run(*command, "--sigma", 0.7, "--json").out)
    assert told["attributes"]["sigma"] == 0.7


def test_inspect_uses_the_names_of_the_arms(run, matrix, tmp_path):
    (tmp_path / "X.csv").write_text("arm,a,b,c\nup,1,0,0\ndown,0,1,0\nflat,0,0,1\n")
    data = json.loads(run("inspect", "star:4", "--matrix", matrix, "--arms", "X.csv", "--json").out)
    assert sorted(data["theory"]["best_couple"]) == ["flat", "up"]


def test_numbers_that_do_not_exist_are_null(run, tmp_path):
    (tmp_path / "M.csv").write_text("0,0\n0,0\n")
    data = json.loads(run("inspect", "star:4", "--matrix", "M.csv", "--json").out)
    assert data["theory"]["gamma"] is None
    assert data["theory"]["S"] == 1.0


def test_simulate_prints_a_summary(run):
    outcome = run("simulate", "complete:5", *SHORT)
    assert outcome.code == 0
    assert outcome.err == ""
    for name in ("OFUL", "ImprovedOFUL", "ExploreThenCommit", "alpha-regret", "last 10 %"):
        assert name in outcome.out
    assert max(map(len, outcome.out.splitlines())) <= 80


def test_simulate_plays_what_the_library_plays(run, matrix, tmp_path):
    args = ["--matrix", matrix, "--policy", "oful", "--seed", 3, "--sigma", 0.5, "--S", 5]
    args += ["--lam", 2, "--delta", 0.1, "--radius", "symmetric", "--out", "r.nc"]
    assert run("simulate", "complete:5", *SHORT, *args).code == 0
    graph = gbb.Graph.complete(5)
    problem = gbb.Problem(graph, np.eye(3), sigma=0.5, S=5)
    cut = gbb.cuts.greedy(graph)
    policy = gbb.policies.OFUL(problem, cut=cut, lam=2, delta=0.1, radius="symmetric")
    expected = gbb.simulate(gbb.Environment(problem, M), policy, rounds=30, runs=2, seed=3)
    assert gbb.load(tmp_path / "r.nc")["couple"].equals(expected["couple"])


def test_simulate_summary_numbers(run, tmp_path):
    args = ["complete:5", *SHORT, "--record", 7, "--policy", "UniformRandom", "--out", "r.nc"]
    row = json.loads(run("simulate", *args, "--json").out)["policies"][0]
    args = ["complete:5", *SHORT, "--policy", "UniformRandom", "--out", "all.nc"]
    assert run("simulate", *args).code == 0
    every = gbb.load(tmp_path / "all.nc")
    fraction = every["fraction"].sel(policy="UniformRandom")
    assert row["fraction"] == pytest.approx(float(fraction.mean()))
    # Recorded every 7 rounds: the one that leaves nearest to a tenth of 30 is 28.
    assert row["fraction_last"] == pytest.approx(float(fraction[:, 28:].mean()))
    assert row["regret"] == pytest.approx(float(every["regret"][0, :, -1].mean()))


def test_simulate_writes_results_and_figures(run, tmp_path):
    for suffix, magic in ((".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")):
        args = ["--out", "deep/er/r.nc", "--plot", f"plots/f{suffix}", "--record", "log"]
        assert run("simulate", "random:6", *SHORT, *args).code == 0
        assert (tmp_path / f"plots/f{suffix}").read_bytes().startswith(magic)
    result = gbb.load(tmp_path / "deep/er/r.nc")
    assert dict(result.sizes)["policy"] == 3
    assert int(result["round"][-1]) == 30
    written = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {"r.nc", "f.png", "f.pdf", "f.svg"}


def test_simulate_draws_random_instances(run):
    args = ["--d", 4, "--zeta", 0, "--frobenius", 10, "--distinct-couple", "--noise", "none"]
    one = run("simulate", "complete:4", *SHORT, *args, "--json").out
    two = run("simulate", "complete:4", *SHORT, *args, "--json").out
    other = run("simulate", "complete:4", *SHORT, *args, "--seed", 1, "--json").out
    assert one == two != other
    assert json.loads(one)["attributes"]["d"] == 4
    assert json.loads(one)["attributes"]["noise"] == "none"


def test_simulate_takes_the_dimension_from_the_arms(run, tmp_path):
    (tmp_path / "X.csv").write_text("1,0\n0,1\n0.6,0.8\n")
    data = json.loads(run("simulate", "star:4", *SHORT, "--arms", "X.csv", "--json").out)
    assert (data["attributes"]["K"], data["attributes"]["d"]) == (3, 2)


def test_a_negative_optimum_has_no_fractions(run, refused, tmp_path):
    (tmp_path / "M.csv").write_text("-1,-2\n-3,-1\n")
    args = ["complete:3", *SHORT, "--matrix", "M.csv", "--policy", "UniformRandom"]
    row = json.loads(run("simulate", *args, "--json").out)["policies"][0]
    assert row["fraction"] is None
    assert re.search(r"UniformRandom +- +- ", run("simulate", *args).out)
    message = refused("simulate", *args, "--plot", "f.png")
    assert (
        message
        == "Expected `--plot` to have a positive optimum to draw fractions of, but got -6.0."
    )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("complte:5", "but got 'complte'. Did you mean 'complete'?"),
        (
            "complete:abc",
            "Expected `GRAPH` to give the number of agents after 'complete:', but got 'abc'.",
        ),
        ("complete:", "to give the number of agents after 'complete:', but got ''."),
        ("grid:3x", "to give the number of agents after 'grid:', but got '3x'."),
        ("complete:-3", "but got '-3'."),
        ("complete", "Expected `GRAPH` to be a file or FAMILY:SIZE, but got 'complete'."),
        ("complete:0", "Expected `GRAPH` to be a whole number >= 1, but got 0."),
        ("complete:99999999999999999999", "to be a whole number <= 1000000000, but got 9999"),
        ("matching:3", "be even"),
        ("regular:8", "The family 'regular' needs `--degree`."),
        ("missing.csv", "'missing.csv': No such file or directory."),
        ("missing.xyz", "suffix` to be one of '.csv', '.graphml'"),
        ("C:/missing.csv", "'C:/missing.csv': No such file or directory."),
        (".", "Expected `GRAPH` to be a file or FAMILY:SIZE, but got the directory '.'."),
    ],
)
def test_bad_graphs(refused, spec, message):
    assert message in refused("inspect", spec)
    assert message in refused("simulate", spec)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,1\n", "to hold both directions of every edge, but got (0, 1) at line 1"),
        ("0,1\n", "Pass --undirected if each row stands for both directions."),
        ("0,0\n", "(0, 0)"),
        ("", "the file is empty."),
    ],
)
def test_bad_graph_files(refused, tmp_path, text, message):
    (tmp_path / "g.csv").write_text(text)
    found = refused("inspect", "g.csv")
    assert "g.csv" in found
    assert message in found


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--p", "0.5"], "`--p` can only be combined with the family 'random', not with"),
        (["--degree", "3"], "`--degree` can only be combined with the family 'regular', not"),
        (["--undirected"], "`--undirected` can only be combined with a graph file, not with"),
        (["--cut", "gredy"], "but got 'gredy'. Did you mean 'greedy'?"),
        (["--seed", "x"], "Expected `--seed` to be a whole number, but got 'x'."),
        (["--sigma", "abc"], "Expected `--sigma` to be a number, but got 'abc'."),
        (["--nonsense"], "No such option: --nonsense"),
        (["more"], "Got unexpected extra argument"),
    ],
)
def test_bad_options_of_both_commands(refused, args, message):
    assert message in refused("inspect", "complete:5", *args)
    assert message in refused("simulate", "complete:5", *args)


def test_options_of_families_do_not_go_with_files(refused, tmp_path):
    gbb.Graph.complete(3).write(tmp_path / "g.csv")
    for option, value in (("--p", 0.1), ("--degree", 2)):
        message = refused("inspect", "g.csv", option, value)
        assert message.startswith(f"`{option}` can only be combined with a family of graphs. Write")


def test_commands_and_graphs_are_needed(refused):
    assert refused("inspect").startswith("Missing argument 'GRAPH': a file (.csv, ")
    assert "No such command 'inspct'" in refused("inspct")


@pytest.mark.parametrize("option", ["sigma", "S", "L", "lam", "delta", "rounds"])
def test_options_of_the_report_need_a_matrix(refused, option):
    message = refused("inspect", "complete:5", f"--{option}", 1)
    assert message == f"`--{option}` can only be combined with `--matrix`."


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["--sigma", "-1"],
            "Expected `--sigma` to be a finite number >= 0 and <= 1e+100, but got -1.0.",
        ),
        (
            ["--sigma", "nan"],
            "Expected `--sigma` to be a finite number >= 0 and <= 1e+100, but got nan.",
        ),
        (
            ["--S", "0"],
            "Expected `--S` to be a finite number >= 1e-100 and <= 1e+100, but got 0.0.",
        ),
        (["--L", "0.5"], "Expected `--L` to be a finite number >= 1 and <= 1e+100, but got 0.5."),
        (["--lam", "0"], "Expected `--lam` to be a finite number > 0 and <= 1e+100, but got 0.0."),
        (
            ["--lambda", "-2"],
            "Expected `--lam` to be a finite number > 0 and <= 1e+100, but got -2.0.",
        ),
        (["--delta", "0"], "Expected `--delta` to be a finite number > 0 and <= 1, but got 0.0."),
        (["--delta", "1.5"], "Expected `--delta` to be a finite number > 0 and <= 1, but got 1.5."),
        (["--rounds", "0"], "Expected `--rounds` to be a whole number >= 1, but got 0."),
        (["--rounds", "abc"], "`--rounds` to be a whole number, but got 'abc'."),
    ],
)
def test_bad_numbers(refused, matrix, args, message):
    assert message in refused("inspect", "complete:5", "--matrix", matrix, *args)
    assert message in refused("simulate", "complete:5", "--matrix", matrix, *args)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--runs", "0"], "Expected `--runs` to be a whole number >= 1, but got 0."),
        (["--policy", "OFULL"], "but got 'OFULL'. Did you mean 'OFUL'?"),
        (["--policy", "OFUL,oful"], "Repeat it: --policy OFUL --policy oful."),
        (["--rounds", "1000000000000"], "Expected `--record` to fit into this machine's memory"),
        (["--rounds", "1000000000000"], "Pass --record log or a larger step, or fewer runs."),
        (["--policy", "OFUL", "--policy", "oful"], "Expected `--policy` to have distinct names"),
        (["--noise", "gauss"], "but got 'gauss'. Did you mean 'gaussian'?"),
        (
            ["--radius", "big"],
            "to be one of 'complete', 'default', 'paper', 'released', 'symmetric'",
        ),
        (["--record", "0"], "Expected `--record` to be a whole number >= 1 or 'log', but got '0'."),
        (["--record", "often"], "to be a whole number >= 1 or 'log', but got 'often'."),
        (["--seed", "-1"], "Expected `--seed` to be >= 0, but got -1."),
        (["--d", "0"], "Expected `--d` to be a whole number >= 1, but got 0."),
        (["--zeta", "2"], "Expected `--zeta` to be a finite number >= 0 and <= 1, but got 2.0."),
        (["--frobenius", "0"], "Expected `--frobenius` to be a finite number > 0, but got 0.0."),
    ],
)
def test_bad_options_of_simulate(refused, args, message):
    assert message in refused("simulate", "complete:5", *args)


@pytest.mark.parametrize(
    "args", [["--d", "3"], ["--zeta", "0"], ["--frobenius", "1"], ["--distinct-couple"]]
)
def test_a_matrix_is_read_or_drawn(refused, matrix, args):
    message = refused("simulate", "complete:5", "--matrix", matrix, *args)
    assert message == f"`{args[0]}` is for random matrices and cannot be combined with `--matrix`."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "'bad.csv': it has a header; leave it out."),
        ("1,x\n1,2\n", "to hold finite numbers, but got 'x' at line 1, column 2."),
        ("1,2\n1,\n", "to hold finite numbers, but got '' at line 2, column 2."),
        ("1_000,2\n1,2\n", "but got '1_000' at line 1, column 1."),
        ("\n1,2\n\n1,x\n", "but got 'x' at line 4, column 2."),
        ("1,2\n1,nan\n", "but got 'nan' at line 2, column 2."),
        ("1,2\n1,inf\n", "but got 'inf' at line 2, column 2."),
        ("1,2\n1\n", "line 2 has 1 cells and line 1 has 2."),
        ("1,2\n3,4\n5,6\n", "to be square, but it is 3 x 2."),
        ("", "'bad.csv': it holds no numbers."),
        ("\n ,\n", "'bad.csv': it holds no numbers."),
    ],
)
def test_bad_matrices(refused, tmp_path, text, message):
    (tmp_path / "bad.csv").write_text(text)
    for name in ("inspect", "simulate"):
        assert message in refused(name, "complete:5", "--matrix", "bad.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("arm,x,y,z\n", "it holds a header only."),
        ("1,0,0\n0,1,b\n", "but got 'b' at line 2, column 3."),
        ("arm,x,y,z\nup,1,0,0\nup,0,1,0\n", "line 3 names the arm 'up', as line 2 does; give"),
        ("1,0\n0,1\n", "to have d = 3 columns of numbers, as --matrix is d x d, but got 2 in"),
        ("0,0,0\n", "Expected `--arms` to have norms that are not all zero"),
    ],
)
def test_bad_arms(refused, matrix, tmp_path, text, message):
    (tmp_path / "X.csv").write_text(text)
    found = refused("inspect", "complete:5", "--matrix", matrix, "--arms", "X.csv")
    assert message in found


def test_arms_and_dimension_must_agree(refused, tmp_path):
    (tmp_path / "X.csv").write_text("1,0\n0,1\n")
    message = refused("simulate", "complete:5", "--arms", "X.csv", "--d", 3)
    assert message == "Expected `--d` to be the arms' dimension 2, but got 3."


@pytest.mark.parametrize("option", ["--matrix", "--arms"])
def test_unreadable_tables(refused, tmp_path, option):
    args = ["--matrix", "ok.csv"] if option == "--arms" else []
    (tmp_path / "ok.csv").write_text("1,2\n3,4\n")
    (tmp_path / "european.csv").write_text("1,5;2\n3;4\n")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x01")
    for path, message in (
        ("missing.csv", "'missing.csv': No such file or directory."),
        (".", "'.': Is a directory."),
        ("binary.csv", "'binary.csv': it is not text"),
        ("european.csv", "'european.csv': columns must be separated by commas."),
    ):
        assert f"Cannot read `{option}` {message}" in refused(
            "simulate", "complete:5", *args, option, path
        )


def test_arms_may_have_a_header_and_names(tmp_path):
    path = tmp_path / "X.csv"
    for text, names in (
        ("1,2\n3,4\n", None),
        ("x,y\n1,2\n3,4\n", None),
        ("up,1,2\ndown,3,4\n", ("up", "down")),
        ("arm,x,y\nup,1,2\ndown,3,4\n", ("up", "down")),
        ("name, x, y\n 10, 1, 2\n\n 20, 3, 4\n", ("10", "20")),
        ("\ufeff,x,y\n7,1,2\n8,3,4\n", ("7", "8")),
    ):
        path.write_text(text, encoding="utf-8")
        arms = read_arms(path)
        np.testing.assert_array_equal(arms.features, [[1, 2], [3, 4]])
        assert arms.names == names
        assert arms.columns in (None, ("x", "y"))


@pytest.mark.parametrize("heading", ["id", "ID", "arm_id", "no", "index", "#"])
def test_a_column_of_numbers_that_is_called_an_id_holds_names(tmp_path, heading):
    path = tmp_path / "X.csv"
    path.write_text(f"{heading},yaw,pitch\n1,0.5,0\n2,0,0.5\n3,0.1,0.2\n")
    arms = read_arms(path)
    assert arms.names == ("1", "2", "3")
    assert arms.columns == ("yaw", "pitch")
    assert arms.features.shape == (3, 2)


@pytest.mark.parametrize("header", ["", "turbine,yaw,pitch\n"])
def test_a_feature_that_counts_the_arms_is_read_with_a_warning(tmp_path, header):
    path = tmp_path / "X.csv"
    path.write_text(f"{header}1,0.5,0\n2,0,0.5\n3,0.1,0.2\n")
    with pytest.warns(
        UserWarning, match=r"first column of `--arms` .*X\.csv', which counts the rows"
    ):
        assert read_arms(path).features.shape == (3, 3)
    path.write_text("0,1\n1,0\n")
    assert read_arms(path).names is None


def test_inspect_prints_agents_arms_and_features_as_read(run, tmp_path):
    (tmp_path / "g.csv").write_text("source,target\nnorth,south\nsouth,east\n")
    (tmp_path / "X.csv").write_text("arm,yaw,pitch\nup,1,0.25\ndown,0,1\n")
    args = ("inspect", "g.csv", "--undirected", "--arms", "X.csv")
    out = run(*args).out
    for words in ("3: north, south, east", "2: up, down", "2: yaw, pitch", "0.25"):
        assert words in out
    data = json.loads(run(*args, "--json").out)["as_read"]
    assert data["agents"] == ["north", "south", "east"]
    assert data["arms"] == ["up", "down"]
    assert data["features"] == ["yaw", "pitch"]
    assert "As read" not in run("inspect", "complete:5").out


def test_arms_of_one_dimension(tmp_path):
    path = tmp_path / "X.csv"
    for text in ("1\n2\n", "x\n1\n2\n"):
        path.write_text(text)
        arms = read_arms(path)
        np.testing.assert_array_equal(arms.features, [[1], [2]])
        assert arms.names is None


def test_a_matrix_may_be_one_number(tmp_path):
    (tmp_path / "M.csv").write_text("2.5")
    np.testing.assert_array_equal(read_matrix(tmp_path / "M.csv"), [[2.5]])


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--out", "folder"], "Expected `--out` to name a file, but got the directory 'folder'."),
        (["--plot", "folder"], "Expected `--plot` to name a file, but got the directory"),
        (["--out", "r.csv"], "Expected `--out` to end in .nc, but got 'r.csv'."),
        (["--plot", "f.gif"], "Expected `--plot` to end in .png or .pdf or .svg, but got 'f.gif'."),
        (["--out", "file/r.nc"], "Cannot write `--out` 'file/r.nc': Not a directory."),
        (["--out", "/proc/none/r.nc"], "Cannot write `--out` '/proc/none/r.nc': "),
    ],
)
def test_outputs_are_tried_before_the_simulation(refused, monkeypatch, tmp_path, args, message):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(command, "play", lambda *_, **__: pytest.fail("simulated"))
    assert message in refused("simulate", "complete:5", *args)


def test_a_read_only_file_is_not_replaced(refused, monkeypatch, tmp_path):
    (tmp_path / "r.nc").write_text("mine")
    (tmp_path / "r.nc").chmod(0o400)
    if os.access(tmp_path / "r.nc", os.W_OK):  # the superuser may write everywhere
        monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    message = refused("simulate", "complete:5", *SHORT, "--out", "r.nc")
    assert message == "Cannot write `--out` 'r.nc': Permission denied."
    assert (tmp_path / "r.nc").read_text() == "mine"


def test_a_forbidden_folder_names_the_option(refused, monkeypatch):
    def forbidden(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", forbidden)
    for args, name in (
        (["simulate", "complete:5", "--plot", "f.png"], "`--plot` 'f.png'"),
        (["paper", "table1", "--out", "deep/er"], "`--out` 'deep/er'"),
    ):
        assert refused(*args) == f"Cannot write {name}: Permission denied."


def test_system_errors_are_one_line(refused, monkeypatch):
    for error, message in (
        (OSError(28, "No space left on device", "r.nc"), "No space left on device: 'r.nc'"),
        (OSError("odd"), "odd"),
        (OSError(), "OSError"),
        (MemoryError("Unable to allocate 3 TiB"), "Not enough memory. Unable to allocate 3 TiB"),
    ):

        def broken(*_, error=error, **__):
            raise error

        monkeypatch.setattr("gbb._cli.given.results.save", broken)
        assert refused("simulate", "complete:5", *SHORT, "--out", "r.nc") == message


def test_an_error_of_the_system_without_a_number_says_what_it_says(capsys):
    def damaged():
        raise OSError("part is not what was written.")

    assert exit_code_of(damaged) == 2
    assert "part is not what was written." in capsys.readouterr().err


def test_a_group_without_a_command_prints_its_help_only(capsys):
    app, group = typer.Typer(), typer.Typer(no_args_is_help=True)
    for name in ("one", "two"):
        group.command(name)(lambda: None)
    app.add_typer(group, name="group")
    assert exit_code_of(lambda: app(["group"], standalone_mode=False)) == 0
    captured = capsys.readouterr()
    assert "Usage" in captured.out
    assert captured.err == ""


def test_warnings_are_one_line(capsys):
    def command():
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("slow\npolicy", UserWarning, stacklevel=1)

    assert exit_code_of(command) == 0
    assert capsys.readouterr().err == "gbb: warning: slow policy\n"


def test_an_interrupt_is_one_line_and_leaves_nothing(run, monkeypatch, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "play", interrupted)
    outcome = run("simulate", "complete:5", "--out", "r.nc", "--plot", "f.png")
    assert outcome.code == 130
    assert outcome.err == "gbb: interrupted; nothing half-written is left.\n"
    assert list(tmp_path.iterdir()) == []


PROGRAM = """
import signal, sys
from gbb.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
print("ready", flush=True)
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for a child process")
def test_ctrl_c_stops_a_real_process(tmp_path):
    args = [
        "simulate",
        "complete:5",
        "--rounds",
        str(10**9),
        "--record",
        str(10**6),
        "--out",
        "r.nc",
    ]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *args],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(gbb.__file__).parents[1])},
    ) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    said = err.removeprefix(f"{COMPILING}\n")
    assert said == "gbb: interrupted; nothing half-written is left.\n"
    assert list(tmp_path.iterdir()) == []


def test_a_real_process_fails_with_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "inspect", "missing.csv"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(Path(gbb.__file__).parents[1])},
    )
    assert done.returncode == 2
    assert (
        done.stderr == "gbb: error: Cannot read `GRAPH` 'missing.csv': No such file or directory.\n"
    )


def test_simulate_by_the_reference_loop(run, monkeypatch):
    calls = []

    def spy(env, policies, **settings):
        calls.append((settings["method"], settings["workers"]))
        return gbb.simulate(env, policies, **settings)

    monkeypatch.setattr(command, "play", spy)
    assert run("simulate", "circle:5", *SHORT).code == 0
    assert run("simulate", "circle:5", *SHORT, "--reference", "--workers", 1).code == 0
    assert calls == [("engine", None), ("reference", 1)]


def test_workers_are_at_least_one(refused):
    message = refused("simulate", "circle:5", *SHORT, "--workers", 0)
    assert message == "Expected `--workers` to be a whole number >= 1, but got 0."


@pytest.mark.parametrize(
    ("rounds", "record", "start"),
    [(50, 100, None), (200, 50, None), (200, 20, 180), (200, 30, 180), (6, 1, None), (7, 1, 6)],
)
def test_the_end_of_a_run_is_known_or_left_out(run, tmp_path, rounds, record, start):
    args = ["complete:4", "--policy", "UniformRandom", "--rounds", rounds, "--d", 2]
    row = json.loads(run("simulate", *args, "--record", record, "--json").out)["policies"][0]
    if start is None:
        assert row["fraction_last"] is None
        printed = run("simulate", *args, "--record", record).out
        assert re.search(r"UniformRandom +0\.\d+ +- ", printed)
        return
    assert run("simulate", *args, "--out", "r.nc").code == 0
    fraction = gbb.load(tmp_path / "r.nc")["fraction"][0, 0, start:]
    assert row["fraction_last"] == pytest.approx(float(fraction.mean()))


def test_simulate_says_what_it_wrote(run):
    args = ["simulate", "circle:5", *SHORT, "--out", "r.nc", "--plot", "f.png"]
    args += ["--save-matrix", "M.csv"]
    assert run(*args).out.splitlines()[-1] == "wrote M.csv, r.nc, f.png"
    assert "wrote" not in run(*args, "--json").out
    assert "wrote" not in run("simulate", "circle:5", *SHORT).out


def test_the_matrix_that_was_drawn_can_be_played_again(run, refused):
    args = ["simulate", "circle:5", *SHORT, "--json"]
    drawn = run(*args, "--d", 3, "--zeta", 0.5, "--save-matrix", "M.csv").out
    assert run(*args, "--matrix", "M.csv").out == drawn
    message = refused(*args, "--matrix", "M.csv", "--save-matrix", "N.csv")
    assert message == "`--save-matrix` writes a random matrix: leave out `--matrix`."
    message = refused(*args, "--own-matrices", "--save-matrix", "N.csv")
    assert message == "`--save-matrix` writes one matrix: leave out `--own-matrices`."
    assert "to end in .csv" in refused(*args, "--save-matrix", "M.txt")


def test_simulate_warns_when_an_assumption_fails(run, matrix, tmp_path):
    assert run("simulate", "circle:5", *SHORT, "--matrix", matrix).err == ""
    outcome = run("simulate", "circle:5", *SHORT, "--matrix", matrix, "--S", 1)
    assert outcome.code == 0
    assert outcome.err.startswith("gbb: warning: what the paper assumes does not hold, so no alpha")
    assert "the Frobenius norm of M* is at most S (4.036 against 1)" in outcome.err
    assert outcome.err.count("\n") == 1
    (tmp_path / "N.csv").write_text("-1,2\n3,1\n")
    outcome = run("simulate", "circle:5", *SHORT, "--matrix", "N.csv")
    assert "expected rewards are at least 0 (-1 against 0)" in outcome.err


def test_headings_count_right_and_fit(run, tmp_path):
    out = run("simulate", "circle:5", "--rounds", 1).out
    assert "1 round, 1 run\n" in out
    long = "a-graph-with-a-very-long-name-" * 5 + ".json"
    gbb.Graph.circle(5).write(tmp_path / long)
    out = run("simulate", long, *SHORT).out
    assert max(map(len, out.splitlines())) <= 80
    assert out.replace("\n", "").startswith(long)


def test_inspect_lists_agents_by_name(run, matrix, tmp_path):
    gbb.Graph.from_edges([("hub", "a"), ("hub", "b")], undirected=True).write(tmp_path / "g.json")
    (tmp_path / "X.csv").write_text("arm,x,y,z\nup,1,0,0\ndown,0,1,0\nflat,0,0,1\n")
    plain = json.loads(run("inspect", "g.json", "--agents", "--json").out)["agents"]
    assert {frozenset(part) for part in plain.values()} == {frozenset({"hub"}), frozenset("ab")}
    args = ["inspect", "g.json", "--matrix", matrix, "--arms", "X.csv", "--agents"]
    best = json.loads(run(*args, "--json").out)["agents"]["best_allocation"]
    assert set(best) == {"hub", "a", "b"}
    assert best["a"] == best["b"]
    assert {best["a"], best["hub"]} == {"up", "flat"}
    out = run(*args).out
    assert re.search(r"V[12] +a, b *\n", out)
    assert re.search(rf"hub +{best['hub']} *\n", out)
    assert "agents" not in json.loads(run("inspect", "g.json", "--json").out)


def test_names_with_brackets_are_shown_whole(run, tmp_path):
    gbb.Graph.from_edges([("[bold]", "[/x]")], undirected=True).write(tmp_path / "g.json")
    out = run("inspect", "g.json", "--agents").out
    assert re.search(r"V1 +\[bold\]", out)
    assert re.search(r"V2 +\[/x\]", out)


def test_warnings_speak_of_options():
    assert in_options('Pass record="log" for `horizon`.') == "Pass --record log for `--rounds`."


def test_python_dash_m_gbb_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "gbb", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"gbb {gbb.__version__}\n"


def test_a_policy_has_one_radius_whatever_plays_it(run, monkeypatch):
    built = []
    played = command.play
    monkeypatch.setattr(
        command, "play", lambda env, each, **rest: built.extend(each) or played(env, each, **rest)
    )
    assert run("simulate", "complete:4", "--policy", "JointOFUL", "--d", 2, *SHORT).code == 0
    assert (built[0].radius, built[0].index.shrinking) == ("default", True)


@pytest.mark.parametrize("command", ["simulate", "compare"])
def test_a_setting_that_no_policy_has_is_refused(refused, command):
    named = ["--policy", "UniformRandom", "--policy", "FixedAllocation"]
    said = refused(command, "complete:3", *named, "--lam", "2", *SHORT)
    assert said == "`--lam` is no setting of UniformRandom or FixedAllocation. Leave it out."
    said = refused(command, "complete:3", "--policy", "UniformRandom:lam=2")
    assert said == "`--policy`: UniformRandom has no setting 'lam'; it has none."
    said = refused(command, "complete:3", "--policy", "OFUL:lam=1_000", *SHORT)
    assert "`--policy OFUL:lam` to be a finite number > 0 and <= 1e+100, but got '1_000'" in said


def test_policies_are_named_with_their_settings(run):
    given = ["--policy", "oful:lam=2", "--policy", "OFUL", "--policy", "UniformRandom"]
    done = run("simulate", "complete:3", *given, "--delta", "0.1", *SHORT, "--json")
    found = json.loads(done.out)["policies"]
    assert [each["policy"] for each in found] == ["OFUL, lam=2", "OFUL", "UniformRandom"]


@pytest.mark.parametrize("spec", ["complete:99999999", "random:9999999", "star:999999999"])
def test_a_graph_beyond_all_memory_says_how_much_it_would_take(refused, spec, monkeypatch):
    monkeypatch.setattr(checks, "total_memory", lambda: 8 * 2.0**30)
    said = refused("inspect", spec)
    assert "Expected `GRAPH` to fit into this machine's memory of 8 GiB, but it needs about" in said


def test_simulate_says_what_the_learner_was_told(run):
    args = ["simulate", "complete:3", "--frobenius", "2", *SHORT]
    told = "told S = 2 (the norm of M*) and sigma = 1,\nbecause --S and --sigma were not given"
    assert told in run(*args).out
    told = "the learner was told sigma = 1,\nbecause --sigma was not given"
    assert told in run(*args, "--S", "3").out
    assert "the learner was told" not in run(*args, "--S", "3", "--sigma", "0.5").out
