"""The page about sweeps: its commands run on smaller declarations, its jobs as processes."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

import gbb
from gbb import sweep
from pages import ROOT, blocks
from served import serving

PAGE = "docs/sweeps.md"
STUDY = "benchmarks/sweeps/which-policy.toml"
SMALLER = {
    "n": "[9, 16]",
    "zeta": "[0.0]",
    "matrices": "2",
    "runs": "1",
    "rounds": "20",
    "record": "[1, 5, 10, 20]",
}
"""What is played in the place of hours."""


def smaller(text: str) -> str:
    for key, value in SMALLER.items():
        text = re.sub(rf"^{key} = .*$", f"{key} = {value}", text, flags=re.MULTILINE)
    return text


@pytest.fixture
def folder(tmp_path):
    """An empty folder, and a ``gbb`` on the path."""
    tools, empty = tmp_path / "tools", tmp_path / "empty"
    tools.mkdir()
    empty.mkdir()
    env = os.environ | {"PYTHONPATH": str(Path(gbb.__file__).parents[1])}
    with serving(tools, env):
        yield empty, env | {"PATH": os.pathsep.join([str(tools), os.environ["PATH"]])}


def test_the_commands_run_on_smaller_declarations(folder):
    empty, env = folder
    (declared,), (first, study) = blocks(PAGE, "toml"), blocks(PAGE, "sh")
    (empty / "families.toml").write_text(smaller(declared))
    (empty / STUDY).parent.mkdir(parents=True)
    (empty / STUDY).write_text(smaller((ROOT / STUDY).read_text(encoding="utf-8")))
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", first + study],
        cwd=empty,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for name in ("families", "which-policy"):
        made = {path.name for path in (empty / "results" / name).iterdir()}
        assert {"dataset.nc", "curves.png", "wins.png", "exponents.png"} <= made


def test_the_jobs_of_a_cluster_run_as_processes_of_this_machine(tmp_path):
    """As on the page, by submitit's local executor; only the folder and the partition are others."""
    (block,) = blocks(PAGE, "py")
    assert block.count('"/shared/') == 2
    assert 'slurm_partition="cpu"' in block
    here = block.replace('"/shared/', f'"{tmp_path}/')
    here = here.replace('slurm_partition="cpu"', 'cluster="local"')
    declared = gbb.Sweep(
        graph=["complete"], n=[4], d=2, matrices=1, runs=1, rounds=20, policies=["ImprovedOFUL"]
    )
    exec(compile(here, PAGE, "exec"), {"sweep": sweep, "declared": declared})
    assert sweep.status(tmp_path / "study").complete
