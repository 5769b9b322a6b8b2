"""The built site on a server of this machine: built once by each worker that runs tests which need it."""

from __future__ import annotations

import functools
import http.server
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from vllmdoctor.site.build import SERVED, build
from vllmdoctor.site.generate import SOURCE
from vllmdoctor.site.server import Handler

NPM = Path("build", "npm", "node_modules")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "site" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


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
    """The folder of the built site, the folder of its Markdown, its address, and what was asked of its server."""

    folder: Path
    source: Path
    address: str
    asked: list[str]


@pytest.fixture(scope="session")
def npm(checkout: Path) -> Path | None:
    folder = checkout / NPM
    return folder if (folder / "pyodide").is_dir() else None


@pytest.fixture(scope="session")
def site(checkout: Path, npm: Path | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """VLLMDOCTOR_TEST_SITE names a site that is already built."""
    if ready := os.environ.get("VLLMDOCTOR_TEST_SITE"):
        folder = Path(ready).resolve()
        with served(folder) as (address, asked):
            yield Served(folder, folder.parent / SOURCE, address, asked)
        return
    folder = build_folder(checkout, tmp_path_factory.mktemp("site"))
    (folder / SERVED).mkdir()
    with served(folder / SERVED) as (address, asked):
        yield Served(build(checkout, folder, address, npm=npm), folder / SOURCE, address, asked)


def build_folder(checkout: Path, place: Path) -> Path:
    """A folder to build in: its configurations inherit from ../mkdocs.yml and take ../src/vllmdoctor/site/theme."""
    for name in ("mkdocs.yml", "src"):
        (place / name).symlink_to(checkout / name)
    folder = place / "build"
    folder.mkdir()
    return folder
