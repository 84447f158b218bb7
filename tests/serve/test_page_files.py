"""The files of the page: all there, all ours, nothing inline, nothing from elsewhere."""

from __future__ import annotations

import contextlib
import re
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import gbb
from control import url_of
from gbb import policies
from gbb.controller.state.fold import KINDS

PAGE = Path(str(resources.files("gbb.serve") / "page"))
OWN = [path for path in PAGE.rglob("*.*") if "vendor" not in path.parts]
MODULES = sorted((PAGE / "js").glob("*.js"))


def listed(module: str, name: str) -> list[str]:
    """The texts of a list of a module."""
    found = re.search(rf"const {name} = \[(.*?)\]", (PAGE / "js" / module).read_text(), re.S)
    assert found
    return re.findall(r'"([^"]+)"', found[1])


@pytest.mark.parametrize("policy", listed("create.js", "POLICIES"))
def test_every_policy_of_the_form_can_be_chosen(server, policy):
    problem = {"edges": [["a", "b"]], "undirected": True, "arms": [[1.0, 0.0], [0.0, 1.0]]}
    problem |= {"sigma": 1.0, "S": 1.0}  # some cannot estimate them
    said = {"name": f"a {policy}", "problem": problem, "policy": policy}
    assert server.post("/v1/controllers", said).status == 201


def test_every_policy_that_needs_no_settings_is_in_the_form(tmp_path):
    problem = gbb.Problem(gbb.Graph.path(2), np.eye(2))
    free = []
    for name in policies.names():
        with contextlib.suppress(gbb.InputError):
            gbb.Controller.rehearse(url_of(tmp_path), problem, name)
            free.append(name)
    assert sorted(listed("create.js", "POLICIES")) == sorted(free)


def test_every_kind_of_event_can_be_searched_for():
    assert set(listed("history.js", "KINDS")) == set(KINDS)


@pytest.mark.parametrize("page", ["index.html", "docs.html"])
def test_what_a_page_names_is_given_out(server, page):
    text = (PAGE / page).read_text()
    named = re.findall(r'(?:src|href)="(/static/[^"]+)"', text)
    assert named
    for place in named:
        assert server.get(place).status == 200, place


def test_the_first_page_loads_every_module_it_needs_at_once():
    """A module that is not named there would be found late, by whoever imports it."""
    text = (PAGE / "index.html").read_text()
    later = {"main", "docs", "schema-tree", "layout-worker", "create", "tables"}
    named = set(re.findall(r'modulepreload" href="/static/js/([\w-]+)\.js"', text))
    assert named == {path.stem for path in MODULES} - later


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_modules_import_what_is_there(path):
    text = path.read_text()
    for name in re.findall(r'(?:from|import\(|new URL\()\s*"\./([^"]+)"', text):
        assert (PAGE / "js" / name).is_file(), name


def test_nothing_is_inline_and_nothing_is_elsewhere():
    for path in OWN:
        text = path.read_text()
        assert not re.search(r"https?://(?!www\.w3\.org/)", text), path.name
        assert "innerHTML" not in text, path.name
        if path.suffix == ".html":
            assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", text), (
                path.name
            )


def test_what_others_wrote_says_its_licence():
    assert "MIT" in (PAGE / "vendor" / "uPlot.LICENSE").read_text()
    assert "1.6.32" in (PAGE / "vendor" / "README.md").read_text()
    assert b"v1.6.32" in (PAGE / "vendor" / "uPlot.iife.min.js").read_bytes()[:200]


def test_answers_come_at_once(server):
    """Small answers on one connection do not wait for each other: Nagle's delay is 40 ms each."""
    from http.client import HTTPConnection  # noqa: PLC0415
    from time import perf_counter  # noqa: PLC0415

    host = re.sub("^http://", "", server.url)
    connection = HTTPConnection(host)
    times = []
    for _ in range(40):
        start = perf_counter()
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        times.append(perf_counter() - start)
    connection.close()
    assert sorted(times)[10] < 0.02


@pytest.mark.parametrize(
    ("place", "mode", "status"),
    [
        ("/", "navigate", 200),
        ("/docs", "navigate", 200),
        ("/", "no-cors", 403),
        ("/v1/controllers", "navigate", 403),
        ("/static/js/main.js", "no-cors", 403),
    ],
)
def test_a_link_on_another_site_leads_to_the_page_and_to_nothing_else(server, place, mode, status):
    sent = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": mode}
    assert server.get(place, **sent).status == status
