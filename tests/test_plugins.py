"""Plug-ins: members of installed packages are found, and a broken one is named and left out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gbb

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
        ("broken_cuts:thirds", "to name something in 'broken_cuts'"),
        ("broken_cuts:number", r"to name a member of the family gbb.cuts, but got .* \(int\)"),
    ],
)
def test_a_broken_entry_point_is_left_out_with_a_warning(install, value, cause):
    install("broken_cuts", CUT, {"odd": value, "good": "broken_cuts:halves"})
    text = rf"gbb.cuts: 'odd' of broken_cuts is left out. .*{cause}"
    with pytest.warns(UserWarning, match=text) as caught:
        methods = gbb.cuts.methods()
    assert len(caught) == 1
    assert "odd" not in methods
    assert "good" in methods


@pytest.mark.parametrize("name", ["halves", "greedy"])
def test_a_name_that_is_taken_is_left_out_with_a_warning(install, name):
    install("one_cuts", CUT, {"halves": "one_cuts:halves"})
    install("two_cuts", CUT, {name: "two_cuts:halves"})
    with pytest.warns(UserWarning, match=f"'{name}' of .* is left out. The name '{name}' is taken"):
        methods = gbb.cuts.methods()
    assert methods["greedy"] is gbb.cuts.greedy
    assert gbb.cuts.find("one_cuts:halves") is not gbb.cuts.find("two_cuts:halves")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nowhere_to_be_found:cut", "Cannot import 'nowhere_to_be_found:cut' for `method`: Module"),
        ("gbb.cuts:gredy", "to name something in 'gbb.cuts', .* Did you mean 'greedy'"),
        ("gbb.cuts:__name__", r"`method` to name a member .*'gbb.cuts:__name__' \(str\)"),
        (":", "Cannot import ':' for `method`"),
        ("greddy", "`method` to be one of .* Did you mean 'greedy'"),
        (3, "`method` to be one of "),
        ([], "`method` to be one of "),
    ],
)
def test_what_cannot_be_found_is_refused(name, text):
    with pytest.raises(gbb.InputError, match=text):
        gbb.cuts.find(name)


def test_the_command_line_says_it_once(install, tmp_path):
    install("broken_policies", "", {"Odd": "broken_policies:Odd"}, "gbb.policies")
    path = os.pathsep.join([str(tmp_path), str(Path(gbb.__file__).parents[1])])
    command = ["simulate", "complete:4", "--rounds", "5", "--policy", "UniformRandom"]
    done = subprocess.run(
        [sys.executable, "-c", "import gbb.cli; gbb.cli.main()", *command],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("'Odd' of broken_policies is left out") == 1
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
