"""Policies side by side: the library's comparison and its command."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

import gbb
from gbb import plotting, sweep
from gbb._cli.given.policies import parse
from gbb._cli.show import between
from gbb.cli import main
from gbb.policies import ImprovedOFUL, ThompsonSampling, UniformRandom
from gbb.simulation.comparison import ratio

GRAPH = gbb.Graph.complete(4)
GRAPH_PROBLEM = gbb.Problem(GRAPH, np.eye(3))


def family(count):
    return [
        gbb.Environment(gbb.Problem(GRAPH, np.eye(3), S=3.0), M)
        for M in (gbb.instances.absolute_normal(3, seed=seed) for seed in range(count))
    ]


def policies(problem):
    cut = gbb.cuts.greedy(problem.graph)
    return [ImprovedOFUL(problem, cut=cut), ThompsonSampling(problem, cut=cut)]


def test_every_run_is_that_of_simulate():
    instances = family(3)
    found = gbb.compare(instances, policies, rounds=50, runs=2, seed=5, record=10)
    assert found.sizes == {"policy": 2, "run": 6, "round": 5, "part": 2}
    assert found.instance.values.tolist() == [0, 0, 1, 1, 2, 2]
    children = np.random.SeedSequence(5).spawn(3)
    alone = gbb.simulate(
        instances[1], policies(instances[1].problem), rounds=50, runs=2, seed=children[1], record=10
    )
    assert np.array_equal(found.lost[:, 2:4], alone.regret)
    assert found.regret[:, 2:4].values == pytest.approx(
        alone.regret.values / alone.attrs["optimum"]
    )


def test_instances_go_to_any_executor():
    given = {"rounds": 30, "runs": 2, "seed": 3, "record": 10}
    here = gbb.compare(family(3), policies, **given)
    for threads in (True, False):
        there = sweep.executors.local(2, threads=threads)
        assert here.identical(gbb.compare(family(3), policies, **given, make_executor=there))


def test_an_error_ends_a_comparison_at_once(monkeypatch):
    calls = []

    def fails(*_, **__):
        calls.append(1)
        raise ValueError("no")

    monkeypatch.setattr("gbb.sweep.family.simulate", fails)
    with pytest.raises(ValueError, match="no"):
        gbb.compare(family(3), policies, rounds=10)
    assert calls == [1]


def test_intervals_are_over_instances():
    found = gbb.compare(family(5), policies, rounds=80, runs=3, record=[80])
    first, second = gbb.comparison(found).itertuples(index=False)
    totals = found.lost.isel(round=0).values.reshape(2, 5, 3).mean(axis=2)
    low, high = stats.t.interval(0.95, 4, totals[1].mean(), stats.sem(totals[1]))
    assert (second.regret, second.regret_low, second.regret_high) == pytest.approx(
        (totals[1].mean(), low, high)
    )
    assert second.ratio == pytest.approx(totals[1].mean() / totals[0].mean())
    assert second.ratio_low < second.ratio < second.ratio_high
    assert (first.ratio, first.ratio_low, first.ratio_high) == (1.0, 1.0, 1.0)
    assert first.lost == pytest.approx(float(found.regret[0].mean()) / 80)
    assert first.policy == "ImprovedOFUL"
    assert all(type(each) in (str, float) for each in second)


def test_the_interval_of_a_ratio_covers_at_its_rate():
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(1000):
        base = rng.gamma(4.0, size=30)
        values = 0.3 * base + rng.normal(0.6, 0.3, size=30)  # mean 1.8, of 4
        _, low, high = ratio(values, base)
        held += low <= 1.8 / 4 <= high
    assert held / 1000 == pytest.approx(0.95, abs=0.025)


def test_one_instance_has_intervals_over_runs_and_one_run_none():
    row = gbb.comparison(gbb.compare(family(1), policies, rounds=30, runs=4)).loc[1]
    assert row.lost_low < row.lost < row.lost_high
    row = gbb.comparison(gbb.compare(family(1), policies, rounds=30)).loc[1]
    assert np.isnan([row.lost_low, row.ratio_high]).all()


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(gbb.InputError, match=r"`instances` to hold at least one environment"):
        gbb.compare([], policies, rounds=5)
    with pytest.raises(
        gbb.InputError, match=r"be a gbb\.Environment or a list of them, but got Prob"
    ):
        gbb.compare(GRAPH_PROBLEM, policies, rounds=5)
    with pytest.raises(gbb.InputError, match=r"`instances` to be .* but got a list with str"):
        gbb.compare(["complete:4"], policies, rounds=5)
    with pytest.raises(
        gbb.InputError, match=r"`policies` to be policies, their names or classes.* but got int"
    ):
        gbb.compare(family(1), 3, rounds=5)
    with pytest.raises(gbb.InputError, match=r"`result` to be what gbb\.compare returned"):
        gbb.comparison(gbb.simulate(*family(1), "UniformRandom", rounds=5))
    with pytest.raises(gbb.InputError, match=r"Did you mean 'JointOFUL'\?"):
        gbb.compare(family(1), ["JointOFULL"], rounds=5)
    with pytest.raises(gbb.InputError, match=r"`policies` to play env\.problem"):
        gbb.compare(family(2), policies(family(1)[0].problem), rounds=5)
    env = gbb.Environment(gbb.Problem(GRAPH, np.eye(2)), -np.ones((2, 2)))
    with pytest.raises(
        gbb.InputError, match=r"`instances` to have positive optima, but got -12 at 0"
    ):
        gbb.compare([env], lambda problem: [UniformRandom(problem)], rounds=5)


@pytest.mark.parametrize(
    "contenders",
    [
        ["ImprovedOFUL", "ThompsonSampling"],
        [ImprovedOFUL, "ThompsonSampling"],
        lambda problem: ["ImprovedOFUL", *policies(problem)[1:]],
        [lambda problem: policies(problem)[0], ThompsonSampling],
    ],
)
def test_policies_may_be_named(contenders):
    settings = {"rounds": 20, "runs": 2}
    expected = gbb.compare(family(2), policies, **settings)
    assert gbb.compare(family(2), contenders, **settings).identical(expected)


def test_one_environment_and_one_policy_need_no_lists():
    (env,) = family(1)
    expected = gbb.compare([env], lambda problem: policies(problem)[:1], rounds=20)
    assert gbb.compare(env, "ImprovedOFUL", rounds=20).identical(expected)
    assert gbb.compare(env, ImprovedOFUL, rounds=20).identical(expected)
    assert gbb.compare(env, policies(env.problem)[0], rounds=20).identical(expected)
    explores = gbb.policies.ExploreThenCommit(env.problem, cut=gbb.cuts.greedy(GRAPH), horizon=20)
    expected = gbb.compare(env, explores, rounds=20)
    assert gbb.compare(env, "ExploreThenCommit", rounds=20).identical(expected)


def run(capsys, *args):
    with pytest.raises(SystemExit) as left:
        main(["compare", *args])
    return left.value.code, capsys.readouterr()


def test_the_command_prints_a_table_and_writes_files(capsys, tmp_path):
    files = [str(tmp_path / name) for name in ("result.nc", "figure.png")]
    code, printed = run(
        capsys, "complete:4", "--rounds", "60", "--instances", "2", "--runs", "2",
        "--policy", "improvedoful", "--policy", "KCutOFUL:k=3,radius=symmetric",
        "--out", files[0], "--plot", files[1],
    )  # fmt: skip
    assert code == 0
    assert "2 instances x 2 runs" in printed.out
    assert "KCutOFUL, k=3,radius=symmetric" in printed.out
    assert gbb.load(files[0]).sizes["run"] == 4
    assert (tmp_path / "figure.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        ((5.38, -2.3, 13.06), "5.38 (0 to 13.1)"),
        ((2.2041, 0.41234, 4.0), "2.2 (0.412 to 4)"),
        ((-0.5, -1.0, 0.25), "-0.5 (-0.5 to 0.25)"),
        ((1.0, 1.0, 1.0), "1"),
        ((0.7, np.nan, np.nan), "0.7"),
    ],
)
def test_intervals_of_losses_do_not_reach_below_zero(interval, text):
    assert between(*interval) == text


def test_the_band_is_the_error_over_instances():
    result = gbb.compare(family(4), policies, rounds=40, runs=3, record=20)
    ax = Figure().add_subplot()
    plotting.plot_fraction(result, ax, window=20)
    averages = plotting.moving_average(result, "ImprovedOFUL", np.full(2, 20.0))
    of_instance = averages.reshape(4, 3, 2).mean(axis=1)
    error = of_instance.std(axis=0, ddof=1) / 2.0
    corners = ax.collections[0].get_paths()[0].vertices
    last = corners[corners[:, 0] == 40.0][:, 1]
    assert np.ptp(last) == pytest.approx(2 * error[1])
    _, labels = ax.get_legend_handles_labels()
    assert {"±1 standard error over instances", "single rounds"} <= set(labels)
    title = plotting.figure_of(result).axes[0].get_title(loc="left")
    assert title.endswith("12 runs on 4 instances")


def test_sizes_that_differ_are_ranges(tmp_path):
    sizes = (4, 6)
    problems = [gbb.Problem(gbb.Graph.complete(n), np.eye(3), S=3.0) for n in sizes]
    M = gbb.instances.absolute_normal(3, seed=0)
    result = gbb.compare([gbb.Environment(each, M) for each in problems], policies, rounds=5)
    gbb.save(result, tmp_path / "result.nc")
    for each in (result, gbb.load(tmp_path / "result.nc")):
        title = plotting.figure_of(each).axes[0].get_title(loc="left")
        assert title.startswith("4 to 6 agents, 12 to 30 edges, 3 arms, 2 runs on 2 instances")


@pytest.fixture
def drawn(monkeypatch):
    """The matrices that the command plays on."""
    seen = []

    def spy(instances, *args, **settings):
        seen.extend(env.M_star for env in instances)
        return gbb.compare(instances, *args, **settings)

    monkeypatch.setattr("gbb._cli.commands.compare.play", spy)
    return seen


def test_seeds_share_no_matrix(capsys, drawn):
    for seed in (3, 4):
        run(capsys, "complete:4", "--rounds", "2", "--runs", "1", "--seed", str(seed), "--json")
    assert len({M.tobytes() for M in drawn}) == len(drawn) == 10


def test_an_optimum_that_is_not_proven_is_said(capsys, monkeypatch):
    def guess(problem, M, **settings):
        found = gbb.optimum.solve(problem, M, **settings)
        return dataclasses.replace(found, upper_bound=2 * found.value, proven=False)

    monkeypatch.setattr("gbb.simulation.baseline.solve", guess)
    args = ("complete:4", "--rounds", "5", "--runs", "1", "--instances", "2")
    code, printed = run(capsys, *args)
    assert code == 0
    assert printed.err.startswith("gbb: warning: 2 of 2 optima are not proven; all policies may")
    assert printed.err.count("\n") == 1
    _, printed = run(capsys, *args, "--json")
    assert json.loads(printed.out)["unproven_optima"] == 2


@pytest.mark.filterwarnings("always:The hidden matrix has the Frobenius norm")
def test_a_bound_that_does_not_hold_is_said(capsys):
    args = ("complete:4", "--rounds", "5", "--runs", "1", "--instances", "1")
    code, printed = run(capsys, *args, "--S", "0.5")
    assert code == 0
    assert printed.err.startswith("gbb: warning: The hidden matrix has the Frobenius norm")
    assert "more than `--S` = 0.5" in printed.err
    assert printed.err.count("\n") == 1
    _, printed = run(capsys, *args, "--S", "50")
    assert printed.err == ""


def test_instances_of_a_matrix_that_is_given_are_refused(capsys, tmp_path):
    (tmp_path / "M.csv").write_text("0,1\n1,0\n")
    args = ("complete:4", "--rounds", "5", "--matrix", str(tmp_path / "M.csv"))
    code, printed = run(capsys, *args, "--instances", "3")
    assert code == 2
    assert (
        "`--instances` is for random matrices and cannot be combined with `--matrix`" in printed.err
    )
    for extra in ((), ("--instances", "1")):
        code, printed = run(capsys, *args, *extra)
        assert code == 0
        assert "1 instance x 4 runs" in printed.out


def test_the_command_says_what_the_library_says(capsys):
    code, printed = run(
        capsys, "complete:5", "--rounds", "40", "--instances", "3", "--runs", "1",
        "--seed", "4", "--json", "--lam", "0.5",
    )  # fmt: skip
    assert code == 0
    rows = json.loads(printed.out)["policies"]
    assert [row["policy"] for row in rows] == ["ImprovedOFUL", "JointOFUL", "ThompsonSampling"]
    assert rows[0]["ratio"] == 1.0
    assert rows[2]["lost_low"] < rows[2]["lost"] < rows[2]["lost_high"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--policy", "JointOFUL:radius"), "`--policy` to be NAME or NAME:KEY=VALUE,..."),
        (("--policy", "JointOFULL"), "Did you mean 'JointOFUL'?"),
        (("--policy", "thompson"), "Did you mean 'ThompsonSampling'?"),
        (("--policy", "Pairs"), "One of your own goes by module:Class."),
        (("--policy", "ours.Pairs"), "Write ours:Pairs."),
        (("--policy", "ours.py"), "Name its class, too: ours.py:Class."),
        (("--policy", "ours:Pairs"), "ModuleNotFoundError: No module named 'ours'"),
        (("--policy", "gbb.policies.oful:OFULL"), "Did you mean 'OFUL'?"),
        (("--policy", "gbb.policies:Policy"), "to name a member of the family gbb.policies"),
        (("--policy", "OFUL:k=2"), "`--policy`: OFUL has no setting 'k'; it has"),
        (("--policy", "JointOFUL:radios=paper"), "Did you mean 'radius'?"),
        (("--policy", "JointOFUL:radius=symetric"), "Did you mean 'symmetric'?"),
        (("--instances", "0"), "`--instances` to be a whole number >= 1"),
    ],
)
def test_the_command_refuses(capsys, args, message):
    code, printed = run(capsys, "complete:4", *args)
    assert code == 2
    assert message in printed.err


OWN = """
import numpy as np
from gbb.policies import Choice, Policy

class Same(Policy[int]):
    arm: int = 0
    def init(self):
        return 0
    def select(self, state, rng):
        return Choice(np.full(self.problem.n, self.arm))
    def update(self, state, choice, rewards):
        return state + 1
"""


@pytest.mark.parametrize("name", ["ours_here:Same", "ours_here.py:Same"])
def test_a_policy_in_the_current_folder_is_found(name, tmp_path):
    (tmp_path / "ours_here.py").write_text(OWN)
    (tmp_path / "json.py").write_text("1 / 0")  # hides nothing that is installed
    (tmp_path / "town.csv").write_text("source,target\nwest,east\neast,north\n")
    command = ["compare", "town.csv", "--undirected", "--rounds", "5", "--policy", "UniformRandom"]
    command += ["--policy", name, "--policy", f"{name}:arm=1", "--json"]
    done = subprocess.run(
        [sys.executable, "-P", "-c", "import gbb.cli; gbb.cli.main()", *command],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(gbb.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    names = [row["policy"] for row in json.loads(done.stdout)["policies"]]
    assert names == ["UniformRandom", "Same", "Same, arm=1"]
    assert done.stderr.count("Same has no compiled loop") == 1


def test_specifications_are_read():
    assert parse("oful") == ("OFUL", "OFUL", {})
    assert parse("EpsilonGreedy:epsilon=0.2,lam=2,starts=0") == (
        "EpsilonGreedy, epsilon=0.2,lam=2,starts=0",
        "EpsilonGreedy",
        {"epsilon": 0.2, "lam": 2, "starts": 0},
    )
