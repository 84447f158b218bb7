"""Another package's policies, cut, solver and noise law: found, tested and played by gbb as it is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import gbb
from installed import THIRD_PARTY


@pytest.fixture
def run(theirs, tmp_path):
    """Run Python where their package is installed and ours is not touched; its output."""

    def python(*arguments: str, lines: Sequence[str] = ()) -> str:
        path = os.pathsep.join([str(theirs), str(Path(gbb.__file__).parents[1])])
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": path, "COLUMNS": "200"},
            input="".join(f"{line}\n" for line in lines),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return python


def test_pip_installed_it(run):
    about = "from importlib.metadata import distribution\nhere = distribution('their-bandits')\n"
    said = run("-c", about + "print(here.read_text('INSTALLER'), here.read_text('WHEEL'))")
    assert said.startswith("pip")
    assert "Generator: hatchling" in said


def test_it_keeps_the_contracts(run):
    tests = str(THIRD_PARTY / "tests")
    said = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tests, tests)
    assert " passed" in said


PLAY = """
import warnings
import numpy as np
import gbb
from gbb.controller import Controller

OURS = ["BoldThompson", "FadingGreedy", "ModestOFUL"]
PLACES = ["their_bandits.bold_thompson:BoldThompson", "their_bandits.modest_oful:ModestOFUL"]
assert set(OURS) <= set(gbb.policies.names())
assert gbb.policies.find(PLACES[0]) is gbb.policies.find("BoldThompson")
assert "best_of_random" in gbb.cuts.methods()
assert "same_arm" in gbb.optimum.solvers()

graph = gbb.Graph.complete(5)
cut = gbb.cuts.find("best_of_random")(graph, seed=1)
problem = gbb.Problem(graph, np.eye(4), S=4.0)
M = gbb.instances.absolute_normal(4, seed=0, frobenius=4.0)
best = gbb.optimum.solve(problem, M, method="same_arm")
assert best.method == "same_arm"
assert gbb.optimum.solve(problem, M, method="their_bandits.same_arm:same_arm").value == best.value

build = lambda problem: [gbb.policies.build(n, problem, cut=cut) for n in [*OURS, "ImprovedOFUL"]]
for noise in ("triangular", "their_bandits.triangular:triangular"):
    env = gbb.Environment(problem, M, noise=noise)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", gbb.simulation.SlowPolicyWarning)
        result = gbb.simulate(env, build(problem), rounds=300)
    slow = [name for name in OURS if any(name in str(each.message) for each in caught)]
    assert slow == ["BoldThompson", "FadingGreedy"]  # another bonus is played by compiled loops
    assert len(caught) == 2
    earned = result.fraction.mean(("run", "round"))
    assert float(earned.sel(policy="ModestOFUL")) > float(earned.sel(policy="ImprovedOFUL"))
    assert result.alpha.sel(policy="ModestOFUL") == 1.0  # of no theorem
warnings.simplefilter("ignore", gbb.simulation.SlowPolicyWarning)
assert list(gbb.compare([env], build, rounds=50).policy.values) == list(earned.policy.values)

url = "sqlite:///theirs.db"
rng = np.random.default_rng(0)
for number, policy in enumerate([*OURS, *PLACES, *build(problem)[:3]]):
    name = f"study {number}"
    Controller.create(url, problem, policy, name=name).close()
    for _ in range(3):
        with Controller.open(url, name=name) as controller:
            controller.tell(controller.ask(), rng.normal(size=problem.m))
"""


def test_simulate_compare_and_the_controller_take_it(run):
    run("-c", PLAY)


COMMANDS = """
import sys
from pathlib import Path
import gbb.cli

Path("arms.csv").write_text("name,one,two\\nlow,1,0\\nhigh,0,1\\n")
Path("matrix.csv").write_text("0,2\\n1,0\\n")
for line in sys.stdin:
    print("$", flush=True)
    try:
        gbb.cli.main(line.split())
    except SystemExit as end:
        if end.code:
            raise
"""


def test_the_command_line_takes_it_by_entry_point_and_by_place(run):
    place = "their_bandits.{0}:{1}".format
    policy, noise = place("fading_greedy", "FadingGreedy"), place("triangular", "triangular")
    cut, solver = place("best_of_random", "best_of_random"), place("same_arm", "same_arm")
    play, create = "complete:4 --rounds 20 --policy", "control create plant.db complete:4"
    expected = {
        f"simulate {play} fadinggreedy --noise triangular": "FadingGreedy",
        f"simulate {play} {policy} --noise {noise}": "FadingGreedy",
        f"simulate {play} ModestOFUL --policy BoldThompson:draws=2": "BoldThompson, draws=2",
        f"compare {play} OFUL --policy FadingGreedy:explore=2": "FadingGreedy, explore=2",
        f"compare {play} {policy} --policy {policy}:explore=3": "FadingGreedy, explore=3",
        f"{create} --arms arms.csv --policy FadingGreedy": "policy FadingGreedy",
        f"{create} --arms arms.csv --policy {policy} --name b": "policy FadingGreedy",
        f"{create} --arms arms.csv --policy ModestOFUL --name c": "policy ModestOFUL",
        f"{create} --arms arms.csv --policy BoldThompson --name d": "policy BoldThompson",
        "control ask plant.db --name b": "high",
        "cut circle:6 --method best_of_random": "(best_of_random)",
        f"inspect circle:6 --cut {cut}": "6",
        "optimum complete:4 --matrix matrix.csv --method same_arm": "same_arm",
        f"optimum complete:4 --matrix matrix.csv --method {solver}": "same_arm",
        "simulate --help": "ModestOFUL",
        "cut --help": "best_of_random",
    }
    said = run("-W", "ignore", "-c", COMMANDS, lines=list(expected))
    for answer, text in zip(said.split("$\n")[1:], expected.values(), strict=True):
        assert text in answer
