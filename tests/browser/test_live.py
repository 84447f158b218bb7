"""A controller made on the page, rounds that arrive while it is open, and a connection that is lost."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect
from service import Network, Service

import gbb


def rounds(page):
    return page.locator(".facts dd").first


def test_create_and_watch_rounds_arrive(service, visit, picture):
    page = visit(f"{service.url}/#/")
    page.get_by_role("link", name="New controller").click()
    page.get_by_role("button", name="Fill in an example").click()
    page.get_by_label("Name", exact=True).fill("made/here & now")
    expect(page.get_by_role("status").filter(has_text="4 agents")).to_contain_text("10 directed")
    picture(page, "create")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("made/here & now")
    expect(rounds(page)).to_have_text("0")
    network = Network(service, "made/here & now")
    for told in range(1, 4):
        network.play(1)
        expect(rounds(page)).to_have_text(str(told))
        expect(page.locator(".plot")).to_have_attribute("data-rounds", str(told))
    trial = network.ask()
    expect(page.locator("canvas.network")).to_have_attribute("data-trial", str(trial["trial"]))
    expect(page.get_by_role("heading", name="Open trials (1)")).to_be_visible()
    expect(page.locator(".history tbody tr").first).to_contain_text("ask")


def test_a_mistake_in_the_form_is_said_in_words(service, farm, visit):
    page = visit(f"{service.url}/#/new")
    page.get_by_label("Name", exact=True).fill("wrong")
    page.get_by_label("Links").fill("a,b\nb")
    expect(page.locator(".note[role=status]")).to_contain_text(
        'The line "b" of the links must name two'
    )
    page.get_by_label("Links").fill("a,b\nb,c")
    page.get_by_label("Arms").fill("one,1,0\ntwo,1")
    expect(page.locator(".note[role=status]")).to_contain_text("The arm two must have 2 numbers")
    page.get_by_label("Arms").fill("one,1,0\ntwo,0,1")
    page.get_by_label("Name", exact=True).fill(farm.name)
    visit.expected += ["409", "422"]
    page.get_by_role("button", name="Create").click()
    expect(page.locator(".note[role=status]")).to_contain_text("already")


def test_what_is_not_known_is_left_empty(service, visit):
    page = visit(f"{service.url}/#/new")
    page.get_by_label("Name", exact=True).fill("channels")
    page.get_by_label("Links").fill("a,b\nb,c")
    page.get_by_label("Arms").fill("arm\nch1\nch2")
    for name in ("sigma", "S"):
        field = page.locator(f"input[name={name}]")
        expect(field).to_have_attribute("placeholder", "estimated")
        expect(field).to_have_value("")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("channels")
    problem = service.call("/v1/controllers/channels/problem")
    assert (problem.get("sigma"), problem.get("S")) == (None, None)
    assert problem["arms"] == [[1.0, 0.0], [0.0, 1.0]]


def test_a_round_with_missing_rewards_is_no_collapse(service, farm, visit, picture):
    for _ in range(3):
        farm.tell(farm.ask(), [1.0] * 10)
    farm.tell(farm.ask(), [["west", "north", 1.0]])
    page = visit(farm.place)
    expect(page.locator(".facts dd").nth(1)).to_have_text("1.00 (1 of 10 rewards)")
    said = "Round 4 paid 1.00 (1 of 10 rewards); the average of the last 20 is 10.0."
    expect(page.locator(".plot")).to_have_attribute("aria-label", re.compile(re.escape(said)))
    expect(page.get_by_text("rewards missing")).to_be_visible()
    picture(page, "missing")
    page = visit(f"{service.url}/#/")
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name=farm.name, exact=True))
    expect(row.locator("td").nth(4)).to_have_text("1.00 (1 of 10 rewards)")
    heights = row.locator("polyline").get_attribute("points")
    assert len({point.partition(",")[2] for point in heights.split()}) == 1


def test_all_controllers_at_a_glance(service, farm, visit, picture):
    farm.play(12)
    page = visit(f"{service.url}/#/")
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name=farm.name, exact=True))
    expect(row).to_contain_text("ImprovedOFUL")
    expect(row.locator("td").nth(3)).to_have_text("12")
    expect(row.locator("polyline")).to_have_count(1)
    farm.play(1)
    expect(row.locator("td").nth(3)).to_have_text("13")
    picture(page, "overview")


def test_a_lost_connection_is_said_and_resumed(tmp_path: Path, visit, picture):
    service = Service(tmp_path / "farm.db")
    try:
        farm = service.create("farm")
        farm.play(2)
        page = visit(farm.place)
        expect(rounds(page)).to_have_text("2")
        visit.expected.append("net::ERR_")
        service.kill()
        lost = page.get_by_role("alert")
        expect(lost).to_contain_text("What is shown is from")
        expect(page.locator("#link")).to_have_text("Not connected")
        picture(page, "lost")
        with gbb.Controller.open(f"sqlite:///{service.database}", name="farm") as meanwhile:
            for _ in range(3):
                trial = meanwhile.ask()
                meanwhile.tell(trial, [0.5] * 10)
        service.start()
        expect(lost).to_be_hidden()
        expect(page.locator("#link")).to_have_text("Live")
        expect(rounds(page)).to_have_text("5")
        expect(page.locator(".plot")).to_have_attribute("data-rounds", "5")
        farm.play(1)
        expect(rounds(page)).to_have_text("6")
    finally:
        visit.close()
        service.stop()
