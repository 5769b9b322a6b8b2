"""An installed or unpacked vLLM in, its message templates out. Files are parsed; nothing is imported or executed."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

from vllmdoctor.errors import InputError
from vllmdoctor.languages import Message
from vllmdoctor.rules.versions import release_of
from vllmdoctor.upstream.source import module_templates
from vllmdoctor.upstream.templates import Template

_VERSION_LINE = re.compile(r"^(?:__version__ *= *)?(?:version|__version__) *= *['\"]([^'\"]+)['\"]", re.MULTILINE)
_METADATA_VERSION = re.compile(r"^Version: *(\S+)", re.MULTILINE)
_FOLDER_VERSION = re.compile(r"vllm[-_]v?(\d+\.\d+[\w.+]*)")
_SKIPPED = ("tests", "benchmarks", "third_party", "__pycache__")


def package_folder(path: Path) -> Path:
    """The folder `vllm` itself: the path, or the one in it. Raises InputError when there is none."""
    for folder in (path, path / "vllm", path / "src" / "vllm"):
        if folder.name == "vllm" and (folder / "__init__.py").is_file():
            return folder
    if (path / "__init__.py").is_file() and (path / "engine").is_dir():
        return path
    raise InputError(
        str(path),
        Message("is no vLLM"),
        Message("Name an installed or unpacked vLLM: the folder that holds vllm/__init__.py"),
    )


def version_of(path: Path) -> str:
    """The version that the files beside or in a package folder tell, "" when none does."""
    folder = package_folder(path)
    for name in ("_version.py", "version.py"):
        found = _VERSION_LINE.search(_text(folder / name))
        if found and release_of(found[1]):
            return found[1]
    for metadata in (*folder.parent.glob("vllm*.dist-info/METADATA"), folder.parent / "PKG-INFO"):
        found = _METADATA_VERSION.search(_text(metadata))
        if found:
            return found[1]
    named = _FOLDER_VERSION.search(folder.parent.name) or _FOLDER_VERSION.search(folder.name)
    return named[1] if named else ""


def from_tree(path: Path, version: str = "") -> list[Template]:
    """Every template of the package, by file. Files that this Python cannot parse are left out."""
    folder = package_folder(path)
    version = version or version_of(path)
    return [template for file in source_files(folder) for template in file_templates(file, folder, version)]


def source_files(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("*.py")):
        if not any(part in _SKIPPED for part in file.relative_to(folder).parts):
            yield file


def file_templates(file: Path, folder: Path, version: str) -> list[Template]:
    shown = "vllm/" + file.relative_to(folder).as_posix()
    try:
        with warnings.catch_warnings():  # invalid escapes in vLLM's source are not the reader's business
            warnings.simplefilter("ignore")
            module = ast.parse(_text(file))
    except (SyntaxError, ValueError, RecursionError):
        return []
    return module_templates(module, shown, version)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
