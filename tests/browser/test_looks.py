"""What everybody can use: a phone's width, dark and light, contrast, names, the keyboard."""

from __future__ import annotations

import itertools

import pytest
from playwright.sync_api import Page, expect
from service import FARM, probe

CONTRAST, NAMELESS, FOCUSED = map(probe, ("contrast", "nameless", "focused"))
VIEWS = ["overview", "network", "new", "docs"]


@pytest.fixture(scope="module")
def shown(service):
    """A farm with everything to be seen: a forbidden arm, an open trial, an alert."""
    network = service.create("a farm to look at", FARM, policy="JointOFUL")
    network.play(40)
    network.ask()
    service.call(f"{network.path}/forbid", {"agents": ["north"], "arms": ["left"]})
    return network


def view(visit, shown, name, **more) -> Page:
    base = shown.service.url
    places = {
        "overview": f"{base}/#/",
        "network": shown.place,
        "new": f"{base}/#/new",
        "docs": f"{base}/docs",
    }
    page = visit(places[name], **more)
    if name == "network":
        page.locator(".agents").get_by_role("button", name="north").click()
        expect(page.get_by_role("button", name="Allow left for north")).to_be_visible()
        expect(page.locator(".diagnosis .badge")).to_be_visible()
        expect(page.locator(".heats")).to_be_visible()
    expect(page.locator("main").get_by_role("heading").first).to_be_attached()
    page.wait_for_timeout(300)
    return page


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("name", "width"), list(itertools.product(VIEWS, [1280, 375])))
def test_every_view_fits_and_is_read(visit, shown, picture, *, name, dark, width):
    page = view(visit, shown, name, dark=dark, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate(NAMELESS) == []
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground[4:-1].split(","))) < 3 * 60) == dark
    picture(page, f"{name}-{width}-{'dark' if dark else 'light'}", full_page=name != "docs")


WIDER = """[...document.querySelectorAll(".scroll")]
  .filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.ariaLabel)"""


@pytest.mark.parametrize("width", [1280, 375])
def test_long_names_and_alerts_fit_the_overview(service, visit, width):
    network = service.create(f"a_farm_{width}_{'with_a_long_name_' * 8}", FARM)
    for _ in range(3):
        network.tell(network.ask(), [1e6] * 10)
    network.ask()
    service.call(f"{network.path}/watch", {"stale": 0.001})
    texts = [alert["text"] for alert in service.call(network.path)["alerts"]]
    assert len(texts) > 1
    page = visit(f"{service.url}/#/", width=width)
    row = page.locator("tr").filter(has_text=network.name)
    expect(row.locator("p")).to_have_text(texts)  # each of them once
    assert page.evaluate(WIDER) == []


@pytest.mark.parametrize("width", [1280, 375])
def test_long_names_fit_the_network(service, visit, width):
    long = "a_turbine_with_a_long_name_" * 4
    problem = {
        "edges": [[long, "b"], ["b", "c"]],
        "undirected": True,
        "arms": {long: [1], "b": [2]},
    }
    network = service.create(f"long names {width}", problem)
    network.play(12)
    page = visit(network.place, width=width)
    page.locator(".agents").get_by_role("button", name=long).click()
    expect(page.locator(".agent h2")).to_contain_text(long)
    expect(page.locator(".diagnosis .scroll")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_what_hardly_varies_is_explained_in_few_digits(service, visit):
    network = service.create("a farm of which one link never varies", FARM)
    for k in range(16):
        network.tell(network.ask(), [0.3 + 0.01 * k * link for link in range(10)])
    page = visit(network.place, width=375)
    expect(page.locator(".diagnosis td.num").first).to_be_visible()
    assert max(map(len, page.locator(".diagnosis td.num").all_inner_texts())) < 16
    assert page.locator(".diagnosis .scroll").get_attribute("tabindex") == "0"


def test_the_scheme_changes_while_the_page_is_open(visit, shown):
    page = view(visit, shown, "network")
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(CONTRAST) == []


def walk(page: Page, wanted: str, most: int = 80) -> list[str]:
    """Press Tab until something with that name has the focus; everything on the way shows it."""
    seen = []
    for _ in range(most):
        page.keyboard.press("Tab")
        name, outline = page.evaluate(FOCUSED)
        assert outline != "none", name
        seen.append(name)
        if name == wanted:
            return seen
    raise AssertionError(f"{wanted} was not reached: {seen}")


def test_a_walk_with_the_keyboard(visit, shown):
    page = visit(shown.place)
    expect(page.locator(".agents").get_by_role("button", name="north")).to_be_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    seen = walk(page, "north")
    assert any(name.startswith("4 agents and 5 links") for name in seen)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Forbid straight for north")).to_be_visible()
    walk(page, "Forbid straight for north")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("Forbid straight for north?")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.evaluate(FOCUSED)[0] == "Forbid straight for north"


def test_the_picture_obeys_the_keyboard(visit, shown):
    page = view(visit, shown, "network")
    canvas = page.locator("canvas.network")
    before = canvas.screenshot()
    canvas.focus()
    for key in ("+", "ArrowLeft"):
        page.keyboard.press(key)
    page.wait_for_timeout(100)
    assert canvas.screenshot() != before
    page.locator(".agents").get_by_role("button", name="south").click()
    canvas.focus()
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    expect(page.locator(".agent h2")).not_to_have_text("Agent south")
    expect(page.locator(".agent h2")).to_contain_text("Agent ")


def test_names_are_text_and_nothing_else(service, visit):
    bad = "<img src=x onerror=alert(1)>"
    problem = {
        "edges": [[bad, "b & c"], ["b & c", "ü/ß -> ?#"]],
        "undirected": True,
        "arms": {"<b>bold</b>": [1.0, 0.0], "two": [0.0, 1.0]},
    }
    network = service.create(f'{bad} %2F "quoted"', problem)
    network.play(12)
    page = visit(network.place)
    page.locator(".agents").get_by_role("button", name="ü/ß -> ?#").click()
    expect(page.get_by_role("heading", name="Agent ü/ß -> ?#")).to_be_visible()
    page.locator(".agents").get_by_role("button", name=bad).click()
    expect(page.get_by_role("button", name=f"Forbid two for {bad}")).to_be_visible()
    expect(page.locator(".diagnosis")).to_contain_text("→")
    assert page.locator("main img, main b b").count() == 0


def test_the_documentation_says_what_a_token_must_be_good_for(service, visit):
    page = visit(f"{service.url}/docs")
    said = {"ask": "operate", "status": "read", "set-policy": "administer"}
    for verb, scope in said.items():
        operation = page.locator(f'section[id$="/v1/controllers/{{name}}/{verb}"]')
        expect(operation.locator(".badge")).to_have_text(scope)
    expect(page.locator("pre").first).to_contain_text("curl")
    assert "$TOKEN" not in page.locator("main").inner_text()  # this service has none


def test_nothing_covers_the_network_of_a_phone(service, visit):
    network = service.create("a farm on a phone", FARM)
    network.play(3)
    page = visit(network.place, width=375)
    expect(page.locator(".agents tbody tr")).to_have_count(4)
    zooms, canvas = (page.locator(each).bounding_box() for each in (".zooms", "canvas.network"))
    assert zooms["y"] + zooms["height"] <= canvas["y"]
    discount = page.get_by_role("button", name="Discount").bounding_box()
    assert discount["y"] > canvas["y"] + canvas["height"]
    expect(page.locator(".agents").get_by_role("columnheader", name="Forbidden")).to_be_hidden()
    heights = page.locator(".agents tbody tr").evaluate_all(
        "rows => rows.map((r) => r.clientHeight)"
    )
    assert max(heights) < 40  # a line each
    service.call(f"{network.path}/forbid", {"agents": ["north"], "arms": ["left"]})
    expect(page.locator(".agents").get_by_role("columnheader", name="Forbidden")).to_be_visible()


SCALES = """async () => {
  const { css, ramp, inkOn } = await import("/static/js/colours.js");
  const light = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
    .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const links = ["--low", "--high", "--wide-low", "--wide-high"];
  const cells = [["--heat-low", "--heat-high"], ["--wide-heat-low", "--wide-heat-high"]];
  return {
    least: Math.min(...links.map((each) => contrast(css(each), css("--panel")))),
    inks: cells.map((ends) => new Set(ramp(...ends.map(css)).map(inkOn)).size),
  };
}"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_faintest_link_is_seen_and_numbers_keep_their_ink(service, visit, *, dark):
    found = visit(f"{service.url}/#/new", dark=dark).evaluate(SCALES)
    assert found["least"] >= 2.9
    assert found["inks"] == [1, 1]
