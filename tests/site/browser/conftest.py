"""Chromium, and pages of the built site that must stay clean: skipped, with the reason, where Chromium is missing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.site.conftest import Served

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def address(site: Served) -> str:
    return site.address


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


class Watched:
    """A page that notes what no page of the site may do: ask another host, fail to load, complain in the console."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.foreign: list[str] = []
        self.failed: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self._asked(request.url, address))
        page.on("response", lambda response: self._answered(response))
        page.on("requestfailed", lambda request: self._lost(request))
        page.on("console", lambda message: self._said(message))
        page.on("pageerror", lambda problem: self.complaints.append(str(problem)))

    def _asked(self, url: str, address: str) -> None:
        if not url.startswith((address, "data:", "blob:")):
            self.foreign.append(url)

    def _lost(self, request: Any) -> None:
        """A request that ends because the page is left or closed has not failed."""
        if request.failure != "net::ERR_ABORTED":
            self.failed.append(request.url)

    def _answered(self, response: Any) -> None:
        if response.status >= 400:
            self.failed.append(response.url)

    def _said(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def assert_clean(self) -> None:
        assert self.foreign == []
        assert self.failed == []
        assert self.complaints == []


@pytest.fixture
def open_page(browser: Any, address: str) -> Iterator[Callable[..., Watched]]:
    """Opens a page of the site by its path; every page is closed, and must have been clean, at the test's end."""
    contexts: list[Any] = []
    watched: list[Watched] = []

    def opened(path: str, *, width: int = 1280, scheme: str = "light", scripts: bool = True, **options: Any) -> Watched:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            java_script_enabled=scripts,
            reduced_motion="reduce",
            **options,
        )
        context.set_default_timeout(30_000)
        contexts.append(context)
        page = Watched(context.new_page(), address)
        watched.append(page)
        page.page.goto(address + path)
        return page

    yield opened
    for page in watched:
        page.assert_clean()
    for context in contexts:
        context.close()
