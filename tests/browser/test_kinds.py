"""Networks of every kind on the page: positions, types, contexts, numbers for names, other feedback."""

from __future__ import annotations

import math

import numpy as np
import pytest
from playwright.sync_api import expect
from service import Network

ARMS = {"channel 1": [1.0, 0.0, 0.0], "channel 2": [0.0, 1.0, 0.0], "channel 3": [0.0, 0.0, 1.0]}


def hexagon(rings: int) -> tuple[list[tuple[float, float]], list[list[str]]]:
    """Cells in rings around one, and which are neighbours."""
    places = [
        (a + b / 2, b * math.sqrt(3) / 2)
        for a in range(-rings, rings + 1)
        for b in range(-rings, rings + 1)
        if abs(a + b) <= rings
    ]
    near = [
        (i, j)
        for i in range(len(places))
        for j in range(i)
        if math.dist(places[i], places[j]) < 1.01
    ]
    return places, [[f"cell {i}", f"cell {j}"] for i, j in near]


def play(network: Network, rounds: int, seed: int = 0) -> None:
    """Links whose cells share a channel keep little."""
    known = network.service.call(f"{network.path}/problem")
    names = known["names"]
    ends = [(names[i], names[j]) for i, j in known["edges"]]
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        trial = network.ask()
        arms = trial["allocation"]
        same = np.array([arms[a] == arms[b] for a, b in ends])
        pays = np.where(same, 0.3, 1.0) + 0.1 * rng.standard_normal(len(ends))
        network.tell(trial, pays.tolist())


def test_cells_that_say_where_they_stand(service, visit, picture):
    places, edges = hexagon(3)
    names = [f"cell {i}" for i in range(len(places))]
    problem = {
        "edges": edges,
        "undirected": True,
        "names": names,
        "positions": places,
        "arms": ARMS,
        "sigma": 0.1,
        "S": 3.0,
    }
    network = service.create("radio cells, north", problem, policy="ThompsonSampling")
    play(network, 80)
    service.call(f"{network.path}/forbid", {"agents": ["cell 5"], "arms": ["channel 2"]})
    network.ask()
    for dark in (False, True):
        page = visit(network.place, dark=dark)
        page.locator(".agents").get_by_role("button", name="cell 5", exact=True).click()
        expect(page.get_by_role("button", name="Allow channel 2 for cell 5")).to_be_visible()
        expect(page.locator(".strip .badge")).to_be_visible()
        expect(page.locator(".heats")).to_be_visible()
        if dark:
            page.get_by_text("Uncertainty").first.click()
            page.get_by_text("Differ").click()
            expect(page.locator(".legend-row").first).to_contain_text("differ")
        page.wait_for_timeout(500)
        picture(page, "service-dark" if dark else "service")


def test_types_have_tables_of_their_own(service, visit):
    problem = {
        "edges": [["a", "b"], ["b", "c"]],
        "undirected": True,
        "types": [0, 1],
        "arms": {"x": [1.0, 0.0], "y": [0.0, 1.0]},
        "sigma": 0.1,
    }
    network = service.create("two types", problem, policy="JointOFUL")
    for _ in range(10):
        trial = network.ask()
        network.tell(trial, [0.2, 0.2, 0.8, 0.8])
    page = visit(network.place)
    first = page.locator(".heats td.heat").first
    expect(first).to_be_visible()
    before = first.inner_text()
    page.get_by_label("Type of link").select_option("1")
    expect(first).not_to_have_text(before)


@pytest.mark.parametrize("feedback", ["link", "agent", "global"])
def test_other_feedback(service, visit, feedback):
    edges = [[0, 1], [1, 2], [2, 3], [3, 0]]
    problem = {
        "edges": edges,
        "undirected": True,
        "arms": [[1.0, 0.0], [0.0, 1.0]],
        "feedback": feedback,
    }
    network = service.create(f"told by {feedback}", problem, policy="JointOFUL")
    for _ in range(12):
        network.tell(network.ask(), 3.0 if feedback == "global" else [0.5, 0.4, 0.6, 0.7])
    page = visit(network.place)
    expect(page.locator(".facts dd").first).to_have_text("12")
    page.locator(".agents").get_by_role("button", name="2", exact=True).click()
    expect(page.get_by_role("button", name="Forbid 1 for 2", exact=True)).to_be_visible()
    page.get_by_role("button", name="Forbid 1 for 2", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Forbid").click()
    expect(page.get_by_role("button", name="Allow 1 for 2", exact=True)).to_be_visible()
    told = page.locator(".history tbody tr").filter(has_text="tell").first
    told.get_by_role("button", name="Retract").click()
    page.get_by_role("dialog").get_by_role("button", name="Retract").click()
    expect(page.locator(".facts dd").first).to_have_text("11")
    page.locator(".toast").filter(has_text="is open again").get_by_role(
        "button", name="Undo"
    ).click()
    expect(page.locator(".facts dd").first).to_have_text("12")


def test_contexts(service, visit):
    problem = {
        "edges": [["a", "b"], ["b", "c"]],
        "undirected": True,
        "arms": {"x": [1.0, 0.0], "y": [0.0, 1.0]},
        "contexts": {"kind": "regimes", "regimes": ["day", "night"]},
    }
    network = service.create("with contexts", problem, policy="JointOFUL")
    page = visit(network.place)
    expect(page.locator(".facts dd").first).to_have_text("0")
    for told in range(12):
        regime = ["day", "night"][told % 2]
        trial = service.call(f"{network.path}/ask", {"context": regime})
        network.tell(trial)
    expect(page.locator(".facts dd").first).to_have_text("12")
    expect(page.locator(".history tbody tr").nth(1)).to_contain_text("Context")
    page.get_by_label("Type of link").select_option("1")
    expect(page.locator(".heats")).to_be_visible()
