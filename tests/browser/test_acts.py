"""What an operator does on the page, and what the controller makes of it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect


@pytest.fixture
def page(farm, visit):
    """The page of a farm with some rounds and one open trial."""
    farm.play(6)
    farm.ask()
    opened = visit(farm.place)
    opened.locator(".agents").get_by_role("button", name="north").click()
    expect(opened.get_by_role("heading", name="Agent north")).to_be_visible()
    return opened


def confirm(page, text, button):
    """The dialog says what will happen; then it is done."""
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(text)
    dialog.get_by_role("button", name=button).click()
    expect(dialog).to_be_hidden()


def toast(page, text):
    found = page.locator(".toast").filter(has_text=text)
    expect(found).to_be_visible()
    return found


def plays(farm, rounds=6):
    """What north is asked to play in the next rounds."""
    found = set()
    for _ in range(rounds):
        trial = farm.ask()
        found.add(trial["allocation"]["north"])
        farm.tell(trial)
    return found


def test_the_next_ask_obeys_what_was_forbidden(page, farm, picture):
    for arm in ("straight", "left"):
        page.get_by_role("button", name=f"Forbid {arm} for north").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("It can be undone, by allowing")
        if arm == "left":
            picture(page, "forbid")
        confirm(page, f"From the next ask on, north does not play {arm}.", "Forbid")
        toast(page, f"north does not play {arm} from the next ask on.")
        expect(page.get_by_role("button", name=f"Allow {arm} for north")).to_be_visible()
    assert plays(farm) == {"right"}
    expect(page.locator(".agents tbody tr").filter(has_text="north")).to_contain_text("straight")
    toast(page, "north does not play left").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Forbid left for north")).to_be_visible()
    expect(page.get_by_role("button", name="Allow straight for north")).to_be_visible()
    assert "straight" not in plays(farm)


def test_the_last_arm_is_refused_in_the_library_s_words(page, visit):
    for arm in ("straight", "left"):
        page.get_by_role("button", name=f"Forbid {arm} for north").click()
        confirm(page, "From the next ask on", "Forbid")
        expect(page.get_by_role("button", name=f"Allow {arm} for north")).to_be_visible()
    visit.expected.append("422")
    page.get_by_role("button", name="Forbid right for north").click()
    confirm(page, "would have no arm left", "Forbid")
    toast(page, "Expected `forbid` to leave every agent an arm")


def test_pin_and_allow(page, farm):
    page.get_by_role("button", name="Pin right for north").click()
    confirm(page, "north plays right and nothing else", "Pin")
    expect(page.get_by_role("button", name="Allow straight for north")).to_be_visible()
    assert plays(farm) == {"right"}
    page.get_by_role("button", name="Allow every arm").click()
    confirm(page, "north may play every arm again", "Allow")
    expect(page.get_by_role("button", name="Forbid straight for north")).to_be_visible()
    assert farm.status()["forbidden"] == 0
    toast(page, "north may play every arm").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Allow straight for north")).to_be_visible()
    assert plays(farm) == {"right"}


def test_retract_and_tell_the_same_again(page, farm):
    told = page.locator(".history tbody tr").filter(has_text="tell").first
    text = told.locator(".what").inner_text()
    told.get_by_role("button", name="Retract").click()
    page.get_by_label("Reason").fill("typo")
    confirm(page, "trial 6 is open again", "Retract")
    expect(page.locator(".facts dd").first).to_have_text("5")
    expect(page.get_by_role("heading", name="Open trials (2)")).to_be_visible()
    first = page.locator(".history tbody tr").first
    expect(first).to_contain_text("Reason: typo.")
    expect(first).to_contain_text("local")
    assert farm.status()["rounds"] == 5
    toast(page, "Trial 6 is open again.").get_by_role("button", name="Undo").click()
    expect(page.locator(".facts dd").first).to_have_text("6")
    expect(page.locator(".history tbody tr").first.locator(".what")).to_have_text(text)


def test_abandon_and_open_again(page, farm):
    page.get_by_role("button", name="Abandon trial 7").click()
    confirm(page, "closed as not played", "Abandon")
    expect(page.get_by_text("No trial is open.")).to_be_visible()
    toast(page, "Trial 7 is abandoned.").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="Open trials (1)")).to_be_visible()
    assert farm.status()["open"] == [7]


def test_discount_says_that_there_is_no_undo(page):
    before = page.locator(".heats td.heat").first.inner_text()
    page.get_by_role("button", name="Discount").click()
    expect(page.get_by_role("dialog")).to_contain_text("It cannot be undone.")
    page.get_by_label("Factor").fill("0.5")
    confirm(page, "intervals widen", "Discount")
    done = toast(page, "Everything told before counts 0.5 times as much.")
    expect(done.get_by_role("button", name="Undo")).to_have_count(0)
    expect(page.locator(".heats td.heat").first).not_to_have_text(before)


def test_nothing_happens_when_it_is_cancelled(page, farm):
    events = farm.status()["events"]
    page.get_by_role("button", name="Forbid left for north").click()
    expect(page.get_by_role("dialog")).to_be_visible()  # it asks the service before it opens
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert farm.status()["events"] == events


def test_the_history_is_searched(page):
    page.get_by_label("Kind of event").select_option("tell")
    expect(page.locator(".history tbody tr")).to_have_count(6)
    page.get_by_label("Kind of event").select_option("")
    page.get_by_label("Search the history").fill("trial 3")
    expect(page.locator(".history tbody tr")).to_have_count(2)
    page.get_by_label("Search the history").fill("no such thing")
    expect(page.locator(".history")).to_contain_text("Nothing was found.")


def test_rewards_are_saved_as_a_file(page, farm):
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save all rewards as CSV").click()
    assert saved.value.suggested_filename.endswith("rewards.csv")
    lines = saved.value.path().read_text().splitlines()
    assert len(lines) == 1 + 10 * farm.status()["rounds"]
