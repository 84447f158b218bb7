"""Quick to start: nothing is imported before it is needed, and nothing is listed that is not there."""

from __future__ import annotations

import ast
import inspect
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gbb
from gbb._cli import commands, control
from gbb._cli.on_demand import OnDemand
from gbb._support.compiling import COMPILING

ROOT = Path(gbb.__file__).parents[1]
SLOW = {"scipy", "pandas", "networkx", "xarray", "matplotlib", "numba", "netCDF4"}


def python(program: str, *args: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *args],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        **options,
    )


def loaded_after(*args: str, **options) -> set[str]:
    """What a command has imported when it ends."""
    program = (
        "import sys, atexit, gbb.cli\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "gbb.cli.main()\n"
    )
    done = python(program, *args, **options)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def test_importing_the_package_imports_nothing_slow():
    done = python("import sys, gbb\nprint(*sys.modules)")
    assert not (SLOW | {"numpy", "typer", "rich"}) & set(done.stdout.split())


def test_the_version_needs_no_parser():
    assert not (SLOW | {"numpy", "typer", "rich"}) & loaded_after("--version")


@pytest.mark.parametrize("args", [[], ["control"], ["paper"], ["demo"]])
def test_help_imports_no_command(args):
    loaded = loaded_after(*args, "--help")
    assert not SLOW & loaded
    assert not {"gbb._cli.commands.simulate", "gbb._cli.control.trials", "gbb.policies"} & loaded


def test_a_controllers_round_imports_no_more_than_it_needs(tmp_path):
    (tmp_path / "arms.csv").write_text("arm,x,y\nleft,1,0\nright,0,1\n")
    made = ["create", "farm.db", "complete:3", "--arms", "arms.csv"]
    loaded_after("control", *made, cwd=tmp_path)
    loaded = loaded_after("control", "ask", "farm.db", cwd=tmp_path)
    unneeded = {"matplotlib", "networkx", "pandas", "xarray", "scipy.stats", "rich.progress"}
    assert not (unneeded | {"gbb.simulation", "gbb.experiments", "gbb.environment"}) & loaded


@pytest.mark.parametrize("places", [commands.PLACES, control.PLACES], ids=["gbb", "gbb control"])
def test_commands_are_listed_with_their_own_words(places):
    for name, (place, listed) in places.items():
        command = OnDemand(name, place, listed).load()
        assert command.name in (name, "")
        assert command.help.splitlines()[0] == listed


def test_every_public_name_is_there():
    for name in gbb.__all__:
        found = getattr(gbb, name)
        assert inspect.ismodule(found) or found.__name__ == name
    assert set(gbb.__all__) < set(dir(gbb))
    assert gbb.plotting.__name__ == "gbb.plotting"


def test_type_checkers_are_told_the_same_names():
    tree = ast.parse(Path(gbb.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    told = [alias.asname for node in block.body for alias in node.names]
    assert sorted(told) == sorted(gbb.__all__)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'gbb' has no attribute 'nothing'"):
        gbb.nothing  # noqa: B018


def test_a_room_that_cannot_be_imported_says_why():
    broken = "import sys\nsys.modules['sqlite3'] = None\nimport gbb\ngbb.controller"
    assert "ModuleNotFoundError: import of sqlite3 halted" in python(broken).stderr


PROGRAM = """
import gbb.cli
print("ready", flush=True)
gbb.cli.main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a child process")
@pytest.mark.parametrize("wait", [0.02, 0.1, 0.3, 0.7, 3.0])
def test_ctrl_c_while_loading_or_compiling_is_one_line(tmp_path, tmp_path_factory, wait):
    args = ["simulate", "complete:5", "--rounds", str(10**9), "--record", "log", "--out", "r.nc"]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *args],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ
        | {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path_factory.mktemp("cold"))},
    ) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, out) == (130, "")
    said = err.removeprefix(COMPILING + "\n")  # after two seconds
    assert said == "gbb: interrupted; nothing half-written is left.\n"
    assert list(tmp_path.iterdir()) == []


def test_warm_says_what_it_compiled(capsys):
    with pytest.raises(SystemExit) as done:
        gbb.cli.main(["warm", "--policy", "uniformrandom"])
    lines = capsys.readouterr().out.splitlines()
    assert done.value.code == 0
    kinds = ("one-hot arms", "general arms")
    assert [line.rpartition(":")[0] for line in lines] == [
        f"UniformRandom, {kind}" for kind in kinds
    ]
    assert all(line.endswith(" s") for line in lines)


def test_warming_up_plays_policies_that_estimate_sigma_and_S(monkeypatch):
    played = []
    module = sys.modules["gbb.simulation.warm_up"]
    monkeypatch.setattr(module, "simulate", lambda *_, **how: played.append(how["runs"]))
    monkeypatch.setattr(
        module, "play", lambda _, policy, __: [played.append(policy.problem.unknown)]
    )
    assert list(gbb.simulation.warm_up("ImprovedOFUL", arms="one-hot")) == [
        "ImprovedOFUL, one-hot arms"
    ]
    assert played == [1, 4, (), ("sigma", "S")]
    with pytest.raises(gbb.InputError, match="`arms` to be one of"):
        gbb.simulation.warm_up(arms="round")
