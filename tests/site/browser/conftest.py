"""The built site on a server of this machine, and Chromium: skipped, with the reason, where either is missing."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from vllmdoctor.site.build import build
from vllmdoctor.site.server import Handler

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
NPM = Path("build", "npm", "node_modules")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker builds the site and runs all of them."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="session")
def npm(checkout: Path) -> Path | None:
    folder = checkout / NPM
    return folder if (folder / "pyodide").is_dir() else None


class Recording(Handler):
    """Serves files as `make serve` does and notes what was asked for."""

    asked: ClassVar[list[str]] = []

    def log_message(self, format: str, *args: object) -> None:
        self.asked.append(self.path)


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """The address of the folder, served in the background, and the growing list of what is asked for."""
    recording = type("OwnRecording", (Recording,), {"asked": []})
    handler = functools.partial(recording, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", recording.asked
        server.shutdown()


@dataclass(frozen=True)
class Served:
    """The folder of the built site, its address, and what was asked of its server."""

    folder: Path
    address: str
    asked: list[str]


@pytest.fixture(scope="session")
def site(checkout: Path, npm: Path | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """VLLMDOCTOR_TEST_SITE names a site that is already built."""
    if ready := os.environ.get("VLLMDOCTOR_TEST_SITE"):
        with served(Path(ready)) as (address, asked):
            yield Served(Path(ready), address, asked)
        return
    folder = tmp_path_factory.mktemp("site")
    # The configurations inherit from ../mkdocs.yml.
    for name in ("mkdocs.yml", "src"):
        (folder / name).symlink_to(checkout / name)
    (folder / "build" / "site").mkdir(parents=True)
    with served(folder / "build" / "site") as (address, asked):
        yield Served(build(checkout, folder / "build", address, npm=npm), address, asked)


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
        page.on("requestfailed", lambda request: self.failed.append(request.url))
        page.on("console", lambda message: self._said(message))
        page.on("pageerror", lambda problem: self.complaints.append(str(problem)))

    def _asked(self, url: str, address: str) -> None:
        if not url.startswith((address, "data:", "blob:")):
            self.foreign.append(url)

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
