"""Another package's policy, cut, solver and noise law: found, tested and played without touching gbb."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gbb
from installed import THIRD_PARTY, install


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """The package, installed in a folder of its own."""
    target = tmp_path_factory.mktemp("site")
    install(THIRD_PARTY, target)
    return target


@pytest.fixture
def run(theirs, tmp_path):
    """Run Python where their package is installed and ours is not touched; its output."""

    def python(*arguments: str) -> str:
        path = os.pathsep.join([str(theirs), str(Path(gbb.__file__).parents[1])])
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": path, "COLUMNS": "200"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return python


def test_it_keeps_the_contracts(run):
    tests = str(THIRD_PARTY / "tests")
    said = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tests, tests)
    assert " passed" in said
    assert "skipped" not in said


PLAY = """
import numpy as np
import gbb
from gbb.controller import Controller

assert {"FadingGreedy", "ModestOFUL"} <= set(gbb.policies.classes())
assert "best_of_random" in gbb.cuts.methods()
assert "same_arm" in gbb.optimum.solvers()

graph = gbb.Graph.complete(5)
cut = gbb.cuts.find("best_of_random")(graph, seed=1)
problem = gbb.Problem(graph, np.eye(4), S=4.0)
M = gbb.instances.absolute_normal(4, seed=0, frobenius=4.0)
best = gbb.optimum.solve(problem, M, method="same_arm")
assert best.method == "same_arm"
assert gbb.optimum.solve(problem, M, method="their_bandits.same_arm:same_arm").value == best.value

NAMES = ["FadingGreedy", "their_bandits.modest_oful:ModestOFUL", "ImprovedOFUL"]
build = lambda problem: [gbb.policies.build(n, problem, cut=cut, horizon=300) for n in NAMES]
for noise in ("triangular", "their_bandits.triangular:triangular"):
    env = gbb.Environment(problem, M, noise=noise)
    result = gbb.simulate(env, build(problem), rounds=300)
    earned = result.fraction.mean(("run", "round"))
    assert float(earned.sel(policy="ModestOFUL")) > float(earned.sel(policy="ImprovedOFUL"))
assert list(gbb.compare([env], build, rounds=50).policy.values) == list(earned.policy.values)

url = "sqlite:///theirs.db"
rng = np.random.default_rng(0)
for number, policy in enumerate([*NAMES[:2], build(problem)[0], build(problem)[1]]):
    name = f"study {number}"
    Controller.create(url, problem, policy, name=name).close()
    for _ in range(3):
        with Controller.open(url, name=name) as controller:
            controller.tell(controller.ask(), rng.normal(size=problem.m))
"""


def test_simulate_compare_and_the_controller_take_it(run):
    run("-W", "ignore::gbb.simulation.SlowPolicyWarning", "-c", PLAY)


@pytest.mark.parametrize("policy", ["fadinggreedy", "their_bandits.fading_greedy:FadingGreedy"])
def test_the_command_line_takes_its_policy(run, policy):
    rounds = ["--rounds", "30"]
    assert "FadingGreedy" in run_gbb(run, "simulate", "complete:4", *rounds, "--policy", policy)
    several = ["--policy", "OFUL", "--policy", policy, "--policy", f"{policy}:explore=3"]
    said = run_gbb(run, "compare", "complete:4", *rounds, *several)
    assert "FadingGreedy, explore=3" in said
    run_gbb(run, "control", "create", "complete:4", "--arms", "arms.csv", "--policy", policy)


def test_the_command_line_takes_its_cut_solver_and_noise(run):
    path = "their_bandits.best_of_random:best_of_random"
    for method in ("best_of_random", path):
        assert "6 of them" in run_gbb(run, "cut", "circle:6", "--method", method)
        run_gbb(run, "inspect", "circle:6", "--cut", method)
    run_gbb(run, "optimum", "complete:4", "--method", "same_arm")
    for noise in ("triangular", "their_bandits.triangular:triangular"):
        run_gbb(run, "simulate", "complete:4", "--rounds", "20", "--noise", noise)


def test_the_command_line_names_it_in_its_help(run):
    assert "FadingGreedy" in run_gbb(run, "simulate", "--help")
    assert "best_of_random" in run_gbb(run, "cut", "--help")


def run_gbb(run, *words: str) -> str:
    return run("-W", "ignore", "-c", "import gbb.cli; gbb.cli.main()", *words)
