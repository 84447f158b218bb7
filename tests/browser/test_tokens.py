"""Tokens on the page: none, a wrong one, one that may only read, and one that may operate."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect
from service import Network, Service

from gbb.serve.access.tokens import create_token, read_tokens, write_tokens


@pytest.fixture
def guarded(tmp_path: Path):
    """A service with tokens, and the secrets of some."""
    file = tmp_path / "tokens.json"
    scopes = ("read", "operate", "administer")
    secrets = {scope: create_token(file, f"{scope}er", scope) for scope in scopes}
    service = Service(tmp_path / "farm.db", "--tokens", str(file))
    service.token = secrets["administer"]
    service.create("farm").play(3)
    yield service, secrets
    service.stop()


def use(page, secret):
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Token").fill(secret)
    dialog.get_by_role("button", name="Use it").click()


def change_scope(service, name, scope):
    file = Path(service.options[-1])
    known = [
        token._replace(scope=scope) if token.name == name else token for token in read_tokens(file)
    ]
    write_tokens(file, known)


def choose(page):
    page.locator(".agents").get_by_role("button", name="north").click()
    expect(page.locator(".agent .interval").first).to_be_visible()


def forbid(page, meanwhile=lambda: None):
    page.get_by_role("button", name="Forbid left for north").click()
    act = page.get_by_role("dialog").get_by_role("button", name="Forbid")
    expect(act).to_be_visible()
    meanwhile()
    act.click()


def test_a_wrong_token_is_said_in_words(guarded, visit, picture):
    service, secrets = guarded
    visit.expected += ["401", "403"]
    page = visit(f"{service.url}/#/c/farm")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("A token is needed.")
    use(page, "a-guess")
    expect(dialog).to_contain_text("The token was not accepted. This token is not known.")
    picture(page, "wrong-token")
    use(page, secrets["read"])
    expect(page.get_by_role("heading", level=1)).to_have_text("farm")
    choose(page)
    for act in ("Forbid left for north", "Discount", "Retract"):
        expect(page.get_by_role("button", name=act)).to_have_count(0)
    page.get_by_role("button", name="Token").click()
    use(page, secrets["operate"])
    expect(page.get_by_role("heading", level=1)).to_have_text("farm")
    choose(page)
    forbid(page, meanwhile=lambda: change_scope(service, "operateer", "read"))
    said = page.locator(".toast.bad")
    expect(said).to_contain_text(
        "The token 'operateer' has the scope 'read'; this needs 'operate'."
    )
    assert service.call("/v1/controllers/farm")["forbidden"] == 0
    change_scope(service, "operateer", "operate")
    choose(page)
    forbid(page)
    expect(page.locator(".toast.good")).to_contain_text("north does not play left")
    assert service.call("/v1/controllers/farm")["forbidden"] == 1
    expect(page.locator(".history tbody tr").first).to_contain_text("operateer")
    assert not any(secret in url for url in visit.requests for secret in secrets.values())
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("farm")
    other = visit(f"{service.url}/#/c/farm")
    expect(other.get_by_role("dialog")).to_contain_text("A token is needed.")


def test_a_token_that_is_taken_back_ends_the_page(guarded, visit, tmp_path: Path):
    from gbb.serve.access.tokens import revoke_token  # noqa: PLC0415

    service, secrets = guarded
    visit.expected += ["401"]
    pages = [visit(f"{service.url}/#/"), visit(f"{service.url}/#/c/farm")]
    for page in pages:
        use(page, secrets["read"])
    expect(pages[0].get_by_role("link", name="farm")).to_be_visible()
    expect(pages[1].locator(".heats")).to_be_visible()
    revoke_token(tmp_path / "tokens.json", "reader")
    Network(service, "farm").play(1)
    for page in pages:
        expect(page.get_by_role("dialog")).to_contain_text("The token was not accepted.")
