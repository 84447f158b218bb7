"""Discovery: members are found by existing, and a broken one is named."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gbb


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("import nowhere_to_be_found", "ModuleNotFoundError: No module named"),
        ("def broken(:", "SyntaxError: "),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_file_that_cannot_be_imported_is_named(tmp_path, monkeypatch, source, cause):
    (tmp_path / "odd_policy.py").write_text(source)
    monkeypatch.setattr(gbb.policies, "__path__", [*gbb.policies.__path__, str(tmp_path)])
    with pytest.raises(gbb.InputError, match=r"Cannot import '.*odd_policy\.py': ") as caught:
        gbb.policies.classes()
    assert cause in str(caught.value)
    assert caught.value.__cause__ is not None


CUT = """
import gbb

def halves(graph, *, seed=None):
    return gbb.cuts.greedy(graph)

number = 3
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put a module and its entry points on the path, good ones and those that pip would refuse."""
    monkeypatch.syspath_prepend(tmp_path)

    def put(package, source, entries, group="gbb.cuts"):
        (tmp_path / f"{package}.py").write_text(source)
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [f"{name} = {place}\n" for name, place in entries.items()]
        (info / "entry_points.txt").write_text("".join([f"[{group}]\n", *lines]))
        monkeypatch.delitem(sys.modules, package, raising=False)

    return put


def test_an_installed_packages_method_goes_by_its_entry_point(install):
    install("their_cuts", CUT, {"halves": "their_cuts:halves"})
    methods = gbb.cuts.methods()
    assert list(methods)[-1] == "halves"
    graph = gbb.Graph.complete(4)
    assert methods["halves"](graph).m12 == 4
    assert gbb.cuts.find("halves") is methods["halves"]
    assert gbb.cuts.find("their_cuts:halves") is methods["halves"]
    assert gbb.cuts.find("greedy") is gbb.cuts.greedy


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        ("nowhere_cuts:halves", "ModuleNotFoundError: No module named 'nowhere_cuts'"),
        ("broken_cuts:thirds", "'.*broken_cuts.py' has no 'thirds'"),
        ("broken_cuts:number", "to be a function of a graph that cuts it, but got .*, a int"),
    ],
)
def test_a_broken_entry_point_is_one_warning_that_names_it(install, value, cause):
    install("broken_cuts", CUT, {"odd": value, "good": "broken_cuts:halves"})
    text = rf"broken_cuts offers 'odd' in 'gbb.cuts', which is left out: .*{cause}"
    with pytest.warns(UserWarning, match=text) as caught:
        methods = gbb.cuts.methods()
    assert len(caught) == 1
    assert "odd" not in methods
    assert "good" in methods


def test_a_name_of_two_packages_is_an_error_that_names_both(install):
    install("one_cuts", CUT, {"halves": "one_cuts:halves"})
    install("two_cuts", CUT, {"halves": "two_cuts:halves"})
    text = "Both (one|two)_cuts and (one|two)_cuts offer 'halves' as an entry point"
    with pytest.raises(gbb.InputError, match=text):
        gbb.cuts.methods()
    assert gbb.cuts.find("one_cuts:halves") is not gbb.cuts.find("two_cuts:halves")


def test_gbbs_own_names_cannot_be_taken(install):
    install("greedy_cuts", CUT, {"greedy": "greedy_cuts:halves"})
    with pytest.raises(gbb.InputError, match="Both gbb and greedy_cuts offer 'greedy'"):
        gbb.cuts.methods()
    assert gbb.cuts.find("greedy") is gbb.cuts.greedy


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nowhere_to_be_found:cut", "Cannot load 'nowhere_to_be_found:cut' for `method`: Module"),
        ("gbb.cuts:nothing", "'.*cuts.*' has no 'nothing'"),
        ("gbb.cuts:gredy", "Did you mean 'greedy'"),
        ("gbb.cuts:__name__", "`method` to be a function of a graph .*'gbb.cuts:__name__', a str"),
        (":", "Cannot load ':' for `method`"),
        ("greddy", "`method` to be one of .* Did you mean 'greedy'"),
        (3, "`method` to be one of "),
        ([], "`method` to be one of "),
    ],
)
def test_what_cannot_be_found_is_refused(name, text):
    with pytest.raises(gbb.InputError, match=text):
        gbb.cuts.find(name)


@pytest.mark.parametrize(
    ("packages", "code", "text"),
    [
        (
            ["broken_policies"],
            0,
            "broken_policies offers 'Odd' in 'gbb.policies', which is left out",
        ),
        (["one_policies", "two_policies"], 2, "gbb: error: Both .* offer 'Odd'"),
    ],
    ids=["broken", "taken twice"],
)
def test_the_command_line_says_it_once(install, tmp_path, packages, code, text):
    for package in packages:
        install(package, "", {"Odd": f"{package}:Odd"}, "gbb.policies")
    path = os.pathsep.join([str(tmp_path), str(Path(gbb.__file__).parents[1])])
    command = ["simulate", "complete:4", "--rounds", "5", "--policy", "UniformRandom"]
    done = subprocess.run(
        [sys.executable, "-c", "import gbb.cli; gbb.cli.main()", *command],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert len(re.findall(text, done.stderr)) == 1
    assert "Traceback" not in done.stderr


WATCH = """
import importlib.metadata as metadata, sys

real = metadata.entry_points
def watched(**which):
    return sys.exit(3) if which.get("group", "").startswith("gbb.") else real(**which)
metadata.entry_points = watched

import gbb
gbb.cuts.find("greedy")
if sys.argv[1:]:
    gbb.cuts.methods()
"""


@pytest.mark.parametrize(("ask", "code"), [([], 0), (["all"], 3)], ids=["own", "all"])
def test_installed_packages_are_looked_at_only_when_asked_for(ask, code):
    done = subprocess.run([sys.executable, "-c", WATCH, *ask], check=False)
    assert done.returncode == code
