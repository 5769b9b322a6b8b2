"""The engine as the site ships it, built once for all workers; what its tests need, or why they are skipped."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from vllmdoctor.site.engine import write_engine

CHECKOUT = Path(__file__).resolve().parents[2]
NPM = CHECKOUT / "build" / "npm" / "node_modules"
SCRIPTS = CHECKOUT / "src" / "vllmdoctor" / "site" / "theme" / "assets" / "javascripts"
CONFORMANCE = Path(__file__).parent / "node" / "conformance.mjs"

needs_node = pytest.mark.skipif(
    shutil.which("node") is None or not (NPM / "pyodide" / "pyodide.mjs").is_file(),
    reason="SKIPPED: the analyzer in the browser is not tested. It needs Node.js and `make site`, which fetches Pyodide",
)


@cache
def engine_folder(target: Path) -> Path:
    """The tests that use it are of one xdist group."""
    write_engine(NPM, target)
    return target


def asked_in_node(engine: Path, requests: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What the analyzer answers in Node."""
    questions, answers = folder / "requests.json", folder / "answers.json"
    questions.write_text(json.dumps(requests), encoding="utf-8")
    command = ["node", str(CONFORMANCE), str(engine), str(SCRIPTS), str(questions), str(answers)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    loaded: dict[str, Any] = json.loads(answers.read_text(encoding="utf-8"))
    return loaded
