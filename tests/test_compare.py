"""Policies side by side: the library's comparison and its command."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import gbb
from gbb._cli.given.policies import parse
from gbb.cli import main
from gbb.policies import ImprovedOFUL, ThompsonSampling, UniformRandom

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


def test_intervals_are_over_instances():
    found = gbb.compare(family(5), policies, rounds=80, runs=3, record=[80])
    first, second = gbb.comparison(found)
    totals = found.lost.isel(round=0).values.reshape(2, 5, 3).mean(axis=2)
    low, high = stats.t.interval(0.95, 4, totals[1].mean(), stats.sem(totals[1]))
    assert (second.regret, second.regret_low, second.regret_high) == pytest.approx(
        (totals[1].mean(), low, high)
    )
    assert second.ratio == pytest.approx(totals[1].mean() / totals[0].mean())
    assert second.ratio_low < second.ratio < second.ratio_high
    assert (first.ratio, first.ratio_low, first.ratio_high) == (1.0, 1.0, 1.0)
    assert first.lost == pytest.approx(float(found.regret[0].mean()) / 80)


def test_the_interval_of_a_ratio_covers_at_its_rate():
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(1000):
        base = rng.gamma(4.0, size=30)
        values = 0.3 * base + rng.normal(0.6, 0.3, size=30)  # mean 1.8, of 4
        _, low, high = gbb.simulation._comparison._ratio(values, base)
        held += low <= 1.8 / 4 <= high
    assert held / 1000 == pytest.approx(0.95, abs=0.025)


def test_one_instance_has_intervals_over_runs_and_one_run_none():
    rows = gbb.comparison(gbb.compare(family(1), policies, rounds=30, runs=4))
    assert rows[1].lost_low < rows[1].lost < rows[1].lost_high
    row = gbb.comparison(gbb.compare(family(1), policies, rounds=30))[1]
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
    with pytest.raises(gbb.InputError, match=r"`policies` to be names or classes.* but got int"):
        gbb.compare(family(1), 3, rounds=5)
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
        (("--policy", "JointOFUL:radios=paper"), "Did you mean 'radius'?"),
        (("--policy", "JointOFUL:radius=symetric"), "Did you mean 'symmetric'?"),
        (("--instances", "0"), "`--instances` to be a whole number >= 1"),
    ],
)
def test_the_command_refuses(capsys, args, message):
    code, printed = run(capsys, "complete:4", *args)
    assert code == 2
    assert message in printed.err


def test_specifications_are_read():
    assert parse("oful") == ("OFUL", "OFUL", {})
    assert parse("EpsilonGreedy:explore=0.2,lam=2,starts=0") == (
        "EpsilonGreedy, explore=0.2,lam=2,starts=0",
        "EpsilonGreedy",
        {"explore": 0.2, "lam": 2, "starts": 0},
    )
