"""A real Chromium before a real service; every page must be clean when its test ends."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright
from service import FARM, Network, Service

FOUND = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
CHROMIUM = next(filter(None, FOUND), None)
PATIENCE = 30_000
"""Milliseconds that something may take on a machine that others use too; speed has tests of its own."""

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    assert CHROMIUM, "No Chromium is installed: on Debian, apt-get install chromium."
    opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    running = Service(tmp_path_factory.mktemp("service") / "farms.db")
    yield running
    running.stop()


@pytest.fixture
def farm(service: Service, request: pytest.FixtureRequest) -> Network:
    """A farm of four turbines, with the name of the test."""
    return service.create(request.node.name, FARM, seed=0)


class Open:
    """Opens pages, and keeps what went wrong on them."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.contexts: list[Any] = []
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.expected: list[str] = []

    def __call__(self, url: str, *, width: int = 1280, dark: bool = False, **more: Any) -> Page:
        scheme = "dark" if dark else "light"
        size = {"width": width, "height": 900}
        context = self.browser.new_context(viewport=size, color_scheme=scheme, **more)
        self.contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("console", lambda said: said.type == "error" and self.errors.append(said.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(url)
        return page

    def close(self) -> None:
        for context in self.contexts:
            context.close()
        self.contexts.clear()

    def check(self) -> None:
        """No error in the console but those expected, and no request that leaves the machine."""
        unexpected = [
            text for text in self.errors if not any(part in text for part in self.expected)
        ]
        assert unexpected == []
        local = ("http://127.0.0.1:", "data:", "blob:")
        assert [url for url in self.requests if not url.startswith(local)] == []


@pytest.fixture
def visit(browser: Browser) -> Iterator[Open]:
    opener = Open(browser)
    yield opener
    opener.close()
    opener.check()


@pytest.fixture
def picture() -> Callable[..., None]:
    """Keeps a picture of a page, where ``GBB_SCREENSHOTS`` names a folder."""
    folder = os.environ.get("GBB_SCREENSHOTS")

    def take(page: Page, name: str, **more: Any) -> None:
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            page.evaluate("window.scrollTo(0, 0)")
            taken = Image.open(io.BytesIO(page.screenshot(**more))).convert("RGB")
            few = taken.quantize(256, dither=Image.Dither.NONE)  # a third of the size
            few.save(Path(folder) / f"{name}.png", optimize=True)

    return take
