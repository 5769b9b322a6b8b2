"""The npm package of Pyodide and our own modules in, the folder out from which the analyzer runs in a browser.

Only what an analysis needs is in it. `manifest.json` names each file with its size and digest, so that a browser never
mixes files of two releases.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import vllmdoctor
from vllmdoctor.languages import DOMAIN, ENGLISH, LANGUAGES
from vllmdoctor.locale.compiled import compiled_catalogue
from vllmdoctor.rules.load import load_bundle, load_catalogue
from vllmdoctor.site.candidates import candidates_document
from vllmdoctor.site.engine_build.compiled_zip import imported_names

ENTRY = "vllmdoctor.site.in_browser"
STDLIB, ENGINE = "python_stdlib.zip", "vllmdoctor.zip"
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm")
# Reached by imports that an analysis in the browser never comes to.
_LEFT_OUT = ("vllmdoctor.rules.yaml_source", "vllmdoctor.rules.check", "vllmdoctor.cli", "vllmdoctor.report.text")
_DATA = ("memory/gpus.json",)
_PACKAGE = Path(vllmdoctor.__file__).parent
_BUILD = Path(__file__).parent / "engine_build"
_NODE_SECONDS = 300
EXAMPLES: Mapping[str, str] = {
    "kv-cache.log": "examples/startup.log",
    "kv-cache.nvidia-smi.txt": "examples/nvidia-smi.txt",
    "port-in-use.log": "tests/fixtures/real/port-in-use.log",
    "worker-killed.log": "tests/fixtures/real/sigkill-worker.log",
    "unknown-architecture.log": "tests/fixtures/real/unknown-arch.log",
    "healthy.log": "tests/fixtures/clean/v1-0.32.0.log",
}


class EngineError(Exception):
    """The engine cannot be built; the message says what to install."""


def write_engine(npm_folder: Path, target: Path) -> None:
    """Writes everything into `target`, which is made. `npm_folder` is a node_modules folder that holds pyodide.

    Raises EngineError when pyodide or node is missing.
    """
    pyodide = npm_folder / "pyodide"
    if not (pyodide / "pyodide.mjs").is_file():
        raise EngineError(f"{pyodide} holds no Pyodide; run `npm ci`")
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name in PYODIDE:
        shutil.copyfile(pyodide / name, target / name)
        (target / name).chmod(0o644)
    compiled = compiled_modules(pyodide, npm_folder.parent / "compiled")
    for name in (STDLIB, ENGINE):
        shutil.copyfile(compiled / name, target / name)
    lock = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))
    _write_json(target / "pyodide-lock.json", {"info": lock["info"], "packages": {}})
    for language in LANGUAGES:
        _write_json(target / f"catalogue.{language}.json", language_bundle(language))
        _write_json(target / f"literals.{language}.json", candidates_document(load_catalogue(language)))
    _write_examples(target / "examples")
    (target / "LICENSES.txt").write_text(licences(pyodide), encoding="utf-8")
    _write_manifest(target, pyodide)


def language_bundle(language: str) -> dict[str, Any]:
    """The compiled rules with the texts of one language."""
    bundle = load_bundle()
    words = {} if language == ENGLISH else {language: bundle["translations"].get(language, {})}
    kept = ("format", "rules", "remedies", "facts", "files")
    return {**{name: bundle[name] for name in kept}, "translations": words}


def visitor_files(language: str) -> tuple[str, ...]:
    """What one visitor's browser loads for a first report."""
    names = (*PYODIDE, STDLIB, "pyodide-lock.json", ENGINE)
    return (*names, f"catalogue.{language}.json", f"literals.{language}.json", "manifest.json")


def transfer_bytes(target: Path, language: str) -> int:
    """The size of these files as a server sends them, compressed with gzip."""
    return sum(len(gzip.compress((target / name).read_bytes(), 9)) for name in visitor_files(language))


def compiled_modules(pyodide: Path, cache: Path) -> Path:
    """The folder with the two zips, in `cache` by the digest of what they are made from: compiling takes a while."""
    sources = engine_sources()
    digest = hashlib.sha256((_BUILD / "compiled_zip.py").read_bytes())
    for data in ((pyodide / STDLIB).read_bytes(), *(part for pair in sources.items() for part in pair)):
        digest.update(data if isinstance(data, bytes) else data.encode())
    kept = cache / digest.hexdigest()[:16]
    if kept.is_dir():
        return kept
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="part-", dir=cache) as work:
        _compile(pyodide, Path(work), sources)
        with suppress(OSError):  # another build was first
            Path(work, "out").rename(kept)
    for old in cache.iterdir():
        if old != kept and not old.name.startswith("part-"):
            shutil.rmtree(old, ignore_errors=True)
    return kept


def _compile(pyodide: Path, work: Path, sources: Mapping[str, bytes]) -> None:
    shutil.copyfile(pyodide / STDLIB, work / STDLIB)
    for name, data in sources.items():
        place = work / "source" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    command = ["node", str(_BUILD / "compile.mjs"), str(pyodide), str(work), str(_BUILD / "compiled_zip.py")]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_NODE_SECONDS)
    except FileNotFoundError:
        raise EngineError(
            "node is missing; it compiles the engine for the browser (Debian: apt install nodejs)"
        ) from None
    if done.returncode:
        raise EngineError(f"compiling the engine failed:\n{done.stderr or done.stdout}")


def engine_sources() -> dict[str, bytes]:
    """The modules that an analysis in the browser imports, messages and data, by their path on `sys.path`."""
    paths = {name: _path_of(name) for name in sorted(engine_modules())}
    files = {path.relative_to(_PACKAGE.parent).as_posix(): path.read_bytes() for path in paths.values() if path}
    files |= {f"vllmdoctor/{name}": (_PACKAGE / name).read_bytes() for name in _DATA}
    for language in LANGUAGES:
        folder = f"vllmdoctor/locale/{language}/LC_MESSAGES"
        source = _PACKAGE.parent / folder / f"{DOMAIN}.po"
        if source.is_file():
            files[f"{folder}/{DOMAIN}.mo"] = compiled_catalogue(source.read_text(encoding="utf-8"))
    # There is no installed package whose metadata would tell the version.
    files["vllmdoctor/__init__.py"] += f'\n__version__ = "{vllmdoctor.__version__}"\n'.encode()
    return files


def engine_modules() -> set[str]:
    """The names of our modules that the entry imports, wherever the import stands."""
    found: set[str] = set()
    waiting = [ENTRY]
    while waiting:
        name = waiting.pop()
        while name and name not in found and not name.startswith(_LEFT_OUT):
            path = _path_of(name)
            if path is not None:
                found.add(name)
                package = name if path.name == "__init__.py" else name.rpartition(".")[0]
                waiting += imported_names(path.read_bytes(), package, inside_functions=True)
            name = name.rpartition(".")[0]
    return found


def _path_of(name: str) -> Path | None:
    """The file of a module of ours; None for a name that is something inside of one, or not ours."""
    if name.split(".")[0] != _PACKAGE.name:
        return None
    place = _PACKAGE.joinpath(*name.split(".")[1:])
    return next((path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file()), None)


def _write_examples(folder: Path) -> None:
    """Logs of the checkout for the page's buttons."""
    folder.mkdir()
    root = _PACKAGE.parents[1]
    for name, source in EXAMPLES.items():
        shutil.copyfile(root / source, folder / name)


def licences(pyodide: Path) -> str:
    version = json.loads((pyodide / "package.json").read_text(encoding="utf-8"))["version"]
    text = (_BUILD / "LICENSES.txt").read_text(encoding="utf-8")
    own = _PACKAGE.parents[1] / "LICENSE"
    return text.replace("{pyodide}", version) + "\n\n" + own.read_text(encoding="utf-8")


def _write_manifest(target: Path, pyodide: Path) -> None:
    version = json.loads((pyodide / "package.json").read_text(encoding="utf-8"))["version"]
    files = {
        path.name: {"bytes": path.stat().st_size, "digest": hashlib.sha256(path.read_bytes()).hexdigest()[:12]}
        for path in sorted(target.glob("*.*"))
    }
    _write_json(target / "manifest.json", {"vllmdoctor": vllmdoctor.__version__, "pyodide": version, "files": files})


def _write_json(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
