import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gbb._support import files


def names(folder):
    return sorted(item.name for item in folder.iterdir())


def fail_half_way(target, error):
    with files.atomic(target) as temporary:
        temporary.write_text("half")
        raise error


def test_a_file_appears_under_its_name_with_missing_folders(tmp_path):
    target = tmp_path / "deep" / "er" / "note.txt"
    files.write_text(target, "naïve")
    assert target.read_text(encoding="utf-8") == "naïve"
    assert names(target.parent) == ["note.txt"]


def test_the_temporary_file_has_the_target_s_name_in_a_hidden_folder_beside_it(tmp_path):
    with files.atomic(tmp_path / "result.nc") as temporary:
        assert temporary.parent.parent == tmp_path
        assert temporary.parent.name.startswith(".")
        assert temporary.name == "result.nc"
        assert not (tmp_path / "result.nc").exists()


def test_the_target_is_as_readable_as_any_new_file(tmp_path):
    ordinary = tmp_path / "ordinary"
    ordinary.touch()
    files.write_text(tmp_path / "atomic", "")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ordinary", "atomic")}
    assert len(modes) == 1


def test_an_exception_leaves_nothing_behind(tmp_path):
    with pytest.raises(RuntimeError, match="half way"):
        fail_half_way(tmp_path / "result.csv", RuntimeError("half way"))
    assert names(tmp_path) == []


def test_an_exception_leaves_the_old_file_as_it_was(tmp_path):
    target = tmp_path / "result.csv"
    target.write_text("old")
    with pytest.raises(KeyboardInterrupt, match="stop"):
        fail_half_way(target, KeyboardInterrupt("stop"))
    assert target.read_text() == "old"
    assert names(tmp_path) == ["result.csv"]


def test_success_replaces_the_old_file(tmp_path):
    target = tmp_path / "result.csv"
    target.write_text("old")
    files.write_text(target, "new")
    assert target.read_text() == "new"
    assert names(tmp_path) == ["result.csv"]


def test_a_target_that_is_a_folder_fails_and_leaves_nothing(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError, match="folder"):
        files.write_text(tmp_path / "folder", "text")
    assert names(tmp_path) == ["folder"]


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "far" / "real.txt")
    files.write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "far" / "real.txt").read_text() == "new"
    assert names(tmp_path / "far") == ["real.txt"]


def test_a_replaced_file_keeps_its_mode(tmp_path):
    target = tmp_path / "secret.csv"
    for mode in (0o600, 0o640, 0o755):
        target.touch()
        target.chmod(mode)
        files.write_text(target, "new")
        assert stat.S_IMODE(target.stat().st_mode) == mode


@pytest.mark.parametrize("name", ["a" * 245 + ".csv", "." + "b" * 250, "ä" * 120 + ".json"])
def test_names_as_long_as_the_system_allows(tmp_path, name):
    files.write_text(tmp_path / name, "text")
    files.write_text(tmp_path / name, "again")
    assert (tmp_path / name).read_text() == "again"
    assert names(tmp_path) == [name]


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be synced")
def test_the_file_is_synced_before_its_name_and_the_folders_after(tmp_path, monkeypatch):
    seen = []

    def fsync(handle):
        where = Path(f"/proc/self/fd/{handle}").readlink()
        seen.append((where.name, (tmp_path / "new" / "a.txt").exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    files.write_text(tmp_path / "new" / "a.txt", "text")
    assert seen == [("a.txt", False), ("new", True), (tmp_path.name, True)]


KILLED = """
import os, signal, sys
from gbb._support import files
with files.atomic(sys.argv[1]) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_what_a_killed_writer_left_is_swept_away_by_the_next(tmp_path):
    target = tmp_path / "result.csv"
    target.write_text("old")
    done = subprocess.run([sys.executable, "-c", KILLED, str(target)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert target.read_text() == "old"
    assert len(names(tmp_path)) == 2
    with files.atomic(tmp_path / "other.csv") as temporary:
        assert len(names(tmp_path)) == 2  # this writer's folder, but the dead one's no more
        files.write_text(target, "new")
        assert temporary.exists()  # a living writer's file is left alone
    assert names(tmp_path) == ["other.csv", "result.csv"]
