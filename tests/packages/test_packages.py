"""The wheel and the source archive, each in an environment of its own: what the README says works.

Not part of `make test`: `make test-packages` builds both, installs them and takes some minutes.
"""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
NOT_SHIPPED = (".ci/", ".gitignore", ".pre-commit-config.yaml")
SCRIPTS = "Scripts" if sys.platform == "win32" else "bin"
CLEAN = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}


def call(*command, cwd):
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=CLEAN, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


PYTHONS = [sys.executable, *os.environ.get("GBB_PYTHONS", "").split()]
"""This interpreter, and others to try the wheel with."""


def environment(folder, interpreter=sys.executable):
    call(interpreter, "-m", "venv", folder, cwd=folder.parent)
    return folder / SCRIPTS / "python"


def install(python, *what, cwd=ROOT):
    pip = (python, "-m", "pip", "--disable-pip-version-check")
    call(*pip, "install", "--quiet", "-c", ROOT / "constraints.txt", *what, cwd=cwd)
    call(*pip, "check", cwd=cwd)


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The folder that holds the wheel and the source archive."""
    place = tmp_path_factory.mktemp("built")
    python = environment(place / "tools")
    install(python, "hatchling", "twine")
    call(python, "-m", "hatchling", "build", "-d", place / "dist", cwd=ROOT)
    call(python, "-m", "twine", "check", "--strict", *(place / "dist").iterdir(), cwd=place)
    return place / "dist"


@pytest.fixture(scope="session")
def unpacked(built, tmp_path_factory):
    place = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        archive.extractall(place, filter="data")
    return next(place.iterdir())


def use(python, folder):
    """The commands and the ten lines of the README, from a folder that holds nothing of ours."""
    gbb = python.with_name("gbb")
    assert call(gbb, "--version", cwd=folder).startswith("gbb ")
    assert "100" in call(gbb, "inspect", "random:100", "--p", "0.6", cwd=folder)
    plot = "simulate complete:5 --zeta 0 --rounds 200 --runs 2 --plot fraction.png"
    call(gbb, *plot.split(), cwd=folder)
    assert (folder / "fraction.png").stat().st_size > 1000
    (folder / "links.csv").write_text("source,target\na,b\nb,c\n")
    (folder / "settings.csv").write_text("arm,x,y\nlow,1,0\nhigh,0,1\n")
    (folder / "rewards.csv").write_text("source,target,reward\na,b,1\nb,a,1\n")
    lines = re.findall(r"^gbb control .*$", README, re.MULTILINE)
    assert len(lines) == 4
    for line in lines:
        call(gbb, *line.split()[1:], cwd=folder)
    (ten,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert re.fullmatch(r"\[0\.\d+\]\n", call(python, "-I", "-c", ten, cwd=folder))


def test_the_wheel_holds_the_package_and_its_mark_of_types(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        held = {name for name in wheel.namelist() if name.startswith("gbb/")}
    source = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "gbb").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert held == source
    assert "gbb/py.typed" in held


@pytest.mark.parametrize("interpreter", PYTHONS)
def test_a_wheel_in_a_clean_environment(interpreter, built, tmp_path):
    python = environment(tmp_path / "clean", interpreter)
    install(python, next(built.glob("*.whl")))
    (tmp_path / "work").mkdir()
    use(python, tmp_path / "work")


EXTRAS = {
    "exact": "pytoulbar2",
    "postgres": "psycopg",
    "traffic": "sumo",
    "wind": "floris",
    "radio": "CRRM",
    "dask": "distributed",
    "slurm": "submitit",
    "serve": "fastapi, uvicorn, gbb.serve",
    "docs": "sphinx, myst_parser, sphinx_gallery",
}


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_in_a_clean_environment(extra, built, tmp_path):
    python = environment(tmp_path / "clean")
    install(python, f"{next(built.glob('*.whl'))}[{extra}]")
    call(python, "-I", "-c", f"import gbb, {EXTRAS[extra]}", cwd=tmp_path)


def test_the_source_archive_holds_the_repository(unpacked):
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not in a clone")
    tracked = {name for name in listed.stdout.split("\n") if name}
    assert not [
        name
        for name in sorted(tracked)
        if not name.startswith(NOT_SHIPPED) and not (unpacked / name).exists()
    ]


def test_a_source_archive_in_a_clean_environment(unpacked, tmp_path):
    """`make` sets up the archive's own environment; its checks of the documents run there."""
    call("make", f"PYTHON={sys.executable}", "setup", cwd=unpacked)
    python = unpacked / ".venv" / SCRIPTS / "python"
    use(python, tmp_path)
    tests = ("tests/test_docs.py", "tests/test_graph.py", "tests/test_files.py")
    assert " passed" in call(python, "-m", "pytest", "-q", *tests, cwd=unpacked)
