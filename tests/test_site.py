"""What the documentation site is built with: no Sphinx is needed here, `make docs` has it."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path

import pytest

import gbb

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted([*(ROOT / "docs/course").glob("*.py"), *(ROOT / "docs/examples").glob("*.py")])


@pytest.fixture(scope="module")
def tools():
    """Import a module of ``docs/_ext``."""
    sys.path.insert(0, str(ROOT / "docs/_ext"))
    yield importlib.import_module
    sys.path.remove(str(ROOT / "docs/_ext"))


def test_every_public_name_has_a_page_and_a_text(tools):
    api = tools("api")
    found = api.pages()
    assert api.undocumented(found) == []
    names = {page.name for each in found.values() for page in each}
    assert {f"gbb.{name}" for name in gbb.HOMES if name != "radius"} <= names
    assert set(gbb.MODULES) <= {room.removeprefix("gbb.") for room in found}
    here = [page.name for each in found.values() for page in each if page.is_here]
    assert len(here) == len(set(here)) > 150


def test_a_name_without_a_text_is_noticed(tools, tmp_path, monkeypatch):
    api = tools("api")
    monkeypatch.setattr(gbb.instances.best_couple, "__doc__", None)
    with pytest.raises(ValueError, match=r"no docstring: gbb\.instances\.best_couple"):
        api.write(tmp_path)


def test_what_is_wrong_with_a_site_is_found(tools, tmp_path):
    check = tools("check_site")
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">1</a><a href="b.html#gone">2</a><a href="c.html">3</a>'
        '<a href="https://elsewhere.example">4</a><img src="x.png">'
        '<script src="https://elsewhere.example/x.js"></script>'
    )
    (tmp_path / "b.html").write_text('<p id="here"></p><img src="x.png" alt="a picture">')
    (tmp_path / "x.png").touch()
    assert check.problems(tmp_path) == [
        "a.html: the picture x.png has no alternative text",
        "a.html: loads https://elsewhere.example/x.js from another machine",
        "a.html: b.html#gone names an anchor that is not there",
        "a.html: c.html does not exist",
    ]


def test_what_the_search_does_not_find_is_noticed(tools, tmp_path):
    check = tools("check_site")
    index = {
        "docnames": ["paper", "controller", "problems"],
        "terms": {"alpha": 0, "regret": [0, 1], "forbid": 1, "edg": [1, 2]},
        "titleterms": {"type": 2},
    }
    place = tmp_path / "searchindex.js"
    place.write_text(f"Search.setIndex({json.dumps(index)})")
    assert check.unfound(tmp_path) == []
    index["terms"] |= {"edg": 1, "forbid": 0}
    place.write_text(f"Search.setIndex({json.dumps(index)})")
    assert check.unfound(tmp_path) == [
        "the search for 'forbid' does not find 'controller'",
        "the search for 'edge types' does not find 'problems'",
    ]


def test_there_are_six_chapters_with_an_exercise_and_twelve_examples():
    chapters = [path for path in SCRIPTS if path.parent.name == "course"]
    assert len(chapters) == 6
    assert len(SCRIPTS) == 18
    for path in SCRIPTS:
        text = path.read_text(encoding="utf-8")
        compile(text, str(path), "exec")
        assert re.search(r"title\(|title=", text), (
            f"{path.name}: pictures take their text from a title"
        )
        if path in chapters:
            assert ".. admonition:: Exercise" in text
            assert ".. admonition:: Answer" in text


def test_versions_agree():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f'\nversion = "{gbb.__version__}"\n' in project
    assert f"\nversion: {gbb.__version__}\n" in cited
    assert f"## [{gbb.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_readme_fits_a_screen_and_its_pictures_are_small():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    pictures = re.findall(r"^!\[.+\]\((.+)\)$", text, re.MULTILINE)
    assert pictures
    assert all((ROOT / picture).stat().st_size < 300_000 for picture in pictures)
