"""A killed run leaves no corrupt file, and a restart computes only what was missing."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import xarray as xr

import gbb
from gbb import InputError
from gbb.experiments import figure1, figure2, paper
from gbb.experiments._cache import ResultStore
from gbb.simulation.result import read_dataset
from gbb.sweep import executors

MATRICES = 40
SETTINGS = dataclasses.replace(figure2.PAPER, matrices=MATRICES, runs=1, T=3000, last=100)
SCRIPT = f"""
import dataclasses, sys
from gbb.experiments import figure2, paper
s = dataclasses.replace(figure2.PAPER, matrices={MATRICES}, runs=1, T=3000, last=100)
paper.reproduce(sys.argv[1], {{"figure2": s}}, seed=3)
"""


def start(out: Path) -> subprocess.Popen[bytes]:
    source = str(Path(gbb.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": source}
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(out)], env=env)


def parts(out: Path) -> dict[str, tuple[int, int]]:
    """Finished parts, each with what would change if it were written again."""
    found = {}
    for path in (out / "parts").glob("*.nc"):
        if not path.name.startswith("."):
            about = path.stat()
            found[path.name] = (about.st_ino, about.st_mtime_ns)
    return found


def kill_after(out: Path, count: int) -> None:
    """Start a run and kill it without warning once it has finished ``count`` parts."""
    process = start(out)
    deadline = time.monotonic() + 120
    while len(parts(out)) < count:
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_killed_runs_leave_whole_files_and_are_continued(tmp_path: Path) -> None:
    out = tmp_path / "killed"
    before: dict[str, tuple[int, int]] = {}
    for count in (4, 12):
        kill_after(out, count)
        now = parts(out)
        assert count <= len(now) < MATRICES
        assert before.items() <= now.items(), "a finished part was written again"
        for name in now:
            assert read_dataset(out / "parts" / name).sizes["matrix"] == 1
        assert not (out / "figure2.nc").exists()
        before = now
    for place in (out, out / "parts"):
        (place / ".gbb-x1y2z3a4").mkdir()
        (place / ".gbb-x1y2z3a4" / "figure2.nc").write_bytes(b"half")
    (out / ".mine").write_text("kept")

    assert start(out).wait() == 0
    after = parts(out)
    assert len(after) == MATRICES
    assert before.items() <= after.items(), "a finished part was written again"
    hidden = {path.name for place in (out, out / "parts") for path in place.glob(".*")}
    assert hidden == {".lock", ".mine"}

    whole = figure2.run(SETTINGS, seed=3)
    xr.testing.assert_identical(read_dataset(out / "figure2.nc"), whole)


def count_parts(out: Path, settings: figure1.Figure1Settings, seed: int = 0) -> int:
    """How many parts a run into ``out`` had to compute."""
    before = parts(out)
    figure1.run(settings, seed=seed, where=ResultStore(out).places("figure1", settings, seed))
    return len(parts(out).items() - before.items())


def test_a_part_is_known_by_settings_and_seed(tmp_path: Path) -> None:
    small = dataclasses.replace(figure1.QUICK, n=4, d=3, matrices=4, block=2, zeta_steps=4)
    assert count_parts(tmp_path, small) == 2
    assert count_parts(tmp_path, small) == 0
    assert count_parts(tmp_path, small, seed=1) == 2
    assert count_parts(tmp_path, dataclasses.replace(small, zeta_steps=5)) == 2
    assert count_parts(tmp_path, small) == 0


def test_changed_source_is_not_served_old_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = dataclasses.replace(figure1.QUICK, n=4, d=3, matrices=2, block=2, zeta_steps=4)
    assert count_parts(tmp_path, small) == 1
    monkeypatch.setattr("gbb.experiments._cache.source_digest", lambda: "another version")
    assert count_parts(tmp_path, small) == 1


def test_an_unreadable_part_is_computed_again(tmp_path: Path) -> None:
    small = dataclasses.replace(figure1.QUICK, n=4, d=3, matrices=4, block=2, zeta_steps=4)
    assert count_parts(tmp_path, small) == 2
    victim = min((tmp_path / "parts").glob("*.nc"))
    whole = victim.read_bytes()
    damaged = [whole[:100], whole[:-78], *(_flip(whole, place) for place in (700, 5000, -3000))]
    for bad in damaged:
        victim.write_bytes(bad)
        assert count_parts(tmp_path, small) == 1
        assert read_dataset(victim).sizes["matrix"] == 2


def _flip(data: bytes, place: int) -> bytes:
    flipped = bytearray(data)
    flipped[place] ^= 64
    return bytes(flipped)


@pytest.mark.skipif(sys.platform == "win32", reason="needs advisory locks")
def test_two_runs_do_not_share_a_directory(tmp_path: Path) -> None:
    with (
        ResultStore(tmp_path).locked(),
        pytest.raises(InputError, match="Another run is writing to"),
    ):
        paper.reproduce(tmp_path, paper.choose(("table1",), quick=True))
    paper.reproduce(tmp_path, paper.choose(("table1",), quick=True))


def test_parts_from_several_processes_are_the_same(tmp_path: Path) -> None:
    small = dataclasses.replace(figure1.QUICK, n=4, d=3, matrices=4, block=2, zeta_steps=4)
    whole = figure1.run(small)
    where = ResultStore(tmp_path).places("figure1", small, 0)
    xr.testing.assert_identical(
        figure1.run(small, where=where, make_executor=executors.local(2)), whole
    )
    assert len(parts(tmp_path)) == 2


def test_a_part_that_fails_ends_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = dataclasses.replace(figure1.QUICK, n=4, d=3, matrices=4, block=2, zeta_steps=4)
    real = figure1.envelope
    calls = iter([True])

    def once(*given, **named):  # type: ignore[no-untyped-def]
        if next(calls, False):
            raise OSError("no space left")
        return real(*given, **named)

    monkeypatch.setattr(figure1, "envelope", once)
    where = ResultStore(tmp_path).places("figure1", small, 0)
    with pytest.raises(OSError, match="no space left"):
        figure1.run(small, where=where)
    assert len(parts(tmp_path)) == 1
    assert figure1.run(small, where=where).sizes["matrix"] == 4
