import stat

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


def test_the_temporary_file_stands_beside_the_target_with_its_suffix(tmp_path):
    with files.atomic(tmp_path / "result.nc") as temporary:
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".nc"
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
