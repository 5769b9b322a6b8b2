"""The generated Markdown in, the site that is served out: MkDocs for each language, the engine, what lies beside."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from vllmdoctor.languages import LANGUAGES
from vllmdoctor.site.generate import generate
from vllmdoctor.site.outside import write_outside

SERVED = "site"


class SiteError(Exception):
    """The site cannot be built; the message says why and what to do."""


def build(
    root: Path, folder: Path, address: str, *, npm: Path | None = None, languages: tuple[str, ...] = LANGUAGES
) -> Path:
    """Builds everything into `folder`/site and returns that folder.

    `npm` is the folder of node packages that holds pyodide; without it the site has no analyzer. Raises SiteError when
    MkDocs finds a fault (a broken link, a missing anchor).
    """
    sites = generate(root, folder, address, languages)
    target = folder / SERVED
    shutil.rmtree(target, ignore_errors=True)
    run_mkdocs(folder, languages)
    if npm is not None:
        from vllmdoctor.site.engine import write_engine

        write_engine(npm, target / "engine")
    write_outside(sites, target)
    return target


def run_mkdocs(folder: Path, languages: tuple[str, ...]) -> None:
    """Two languages at a time. MkDocs with -q would exit with 0 on a broken link."""
    waiting = list(languages)
    running: list[tuple[str, subprocess.Popen[str]]] = []
    failed: list[str] = []
    while waiting or running:
        while waiting and len(running) < 2:
            language = waiting.pop(0)
            running.append((language, _mkdocs(folder / f"mkdocs.{language}.yml")))
        language, process = running.pop(0)
        output, _ = process.communicate()
        if process.returncode:
            failed.append(f"{language}:\n{output.strip()}")
    if failed:
        raise SiteError("mkdocs build --strict failed\n" + "\n".join(failed))


def _mkdocs(config: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean", "-f", str(config)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
