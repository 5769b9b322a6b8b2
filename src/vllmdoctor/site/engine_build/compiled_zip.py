"""Python sources in, zip files of compiled modules out. Runs in the Pyodide that will load them.

Compiled modules load twice as fast as sources, and only the same Python can compile them. Files are sorted and have one
date, so that the same sources give the same bytes.
"""

from __future__ import annotations

import ast
import importlib.util
import marshal
import os
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

_DATE = (2000, 1, 1, 0, 0, 0)
_UNCHECKED = (1).to_bytes(4, "little") + bytes(8)  # a hash of a source that is not there: PEP 552
_OURS = "vllmdoctor"
_PYODIDE = ("_pyodide", "pyodide")
# Named in an import that is never come to in a browser: of other systems, of programs' `main`, of network access.
_NEVER = frozenset(
    "_pydatetime argparse asyncio.proactor_events asyncio.windows_events asyncio.windows_utils http.client py_compile "
    "pyodide.console rlcompleter urllib.error urllib.request urllib.response".split()
)
# Loaded by name only, where no import statement tells of them.
_BY_NAME = (
    "encodings.aliases",
    "encodings.ascii",
    "encodings.cp437",
    "encodings.idna",
    "encodings.latin_1",
    "encodings.utf_8",
    "encodings.utf_16_be",
    "encodings.utf_16_le",
    "encodings.utf_32_be",
    "encodings.utf_32_le",
    "importlib.readers",
    "importlib.resources._adapters",
    "importlib.resources.readers",
    "zipimport",
)


def build(folder: Path) -> None:
    """Reads `python_stdlib.zip` and `source/` in the folder; writes the zips of the same names into `out/`."""
    sources = {path.relative_to(folder / "source").as_posix(): path for path in (folder / "source").rglob("*")}
    files = {name: path.read_bytes() for name, path in sorted(sources.items()) if path.is_file()}
    with zipfile.ZipFile(folder / "python_stdlib.zip") as archive:
        library = {name: archive.read(name) for name in archive.namelist() if name.endswith(".py")}
    wanted = needed_modules(library, files)
    kept = {name: data for name, data in library.items() if _module(name) in wanted}
    out = folder / "out"
    out.mkdir(exist_ok=True)
    _write_zip(out / "python_stdlib.zip", _compiled(kept, f"/lib/python{sys.version_info[0]}{sys.version_info[1]}.zip"))
    _write_zip(out / "vllmdoctor.zip", _compiled(files, ""))


def needed_modules(library: Mapping[str, bytes], sources: Mapping[str, bytes]) -> set[str]:
    """What the sources import of the library, what Pyodide has loaded, and what these import at their top.

    Of modules that the sources name themselves, imports inside of functions count, too.
    """
    files = {_module(name): name for name in library}
    named: set[str] = set()
    for name, source in sources.items():
        if name.endswith(".py"):
            named |= set(imported_names(source, _package(name), inside_functions=True))
    own = {name for name in files if name.split(".")[0] in _PYODIDE}
    waiting = [*sorted(named), *sorted(own), *sorted(sys.modules), *_BY_NAME]
    needed: set[str] = set()
    while waiting:
        name = waiting.pop()
        while name:
            if name in files and name not in needed and name not in _NEVER:
                needed.add(name)
                waiting += imported_names(library[files[name]], _package(files[name]), inside_functions=name in named)
            name = name.rpartition(".")[0]
    return needed


def imported_names(source: bytes, package: str, *, inside_functions: bool) -> list[str]:
    """The full names after `import` and `from`, with what is taken out of a module, since it may be one itself."""
    found: dict[str, None] = {}
    for node in _statements(ast.parse(source), inside_functions=inside_functions):
        if isinstance(node, ast.Import):
            found.update(dict.fromkeys(alias.name for alias in node.names))
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - (node.level - 1)] if node.level else []
            base = ".".join(filter(None, (*parents, node.module or "")))
            found[base] = None
            found.update(dict.fromkeys(f"{base}.{alias.name}" for alias in node.names))
    return list(found)


def _statements(node: ast.AST, *, inside_functions: bool) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) and not inside_functions:
            continue
        if isinstance(child, ast.If) and _never_at_run_time(child.test):
            continue
        yield child
        yield from _statements(child, inside_functions=inside_functions)


def _never_at_run_time(test: ast.expr) -> bool:
    return "TYPE_CHECKING" in ast.unparse(test) or ast.unparse(test) == "__name__ == '__main__'"


def _compiled(files: Mapping[str, bytes], place: str) -> Iterable[tuple[str, bytes]]:
    """The library's docstrings are dropped, ours as far as nothing looks at them; Pyodide looks at its own."""
    for name, data in sorted(files.items()):
        if not name.endswith(".py"):
            yield name, data
            continue
        package = name.split("/")[0]
        tree = _without_docs(ast.parse(data)) if package == _OURS else ast.parse(data)
        optimize = 0 if package in (_OURS, *_PYODIDE) else 2
        code = compile(tree, os.path.join(place, name), "exec", dont_inherit=True, optimize=optimize)
        yield f"{name}c", importlib.util.MAGIC_NUMBER + _UNCHECKED + marshal.dumps(code)


def _without_docs(tree: ast.Module) -> ast.Module:
    """Classes keep theirs: a dataclass without one makes one up, which takes time."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(
            node, clean=False
        ):
            node.body[:1] = [] if len(node.body) > 1 else [ast.copy_location(ast.Pass(), node.body[0])]
    return tree


def _write_zip(target: Path, files: Iterable[tuple[str, bytes]]) -> None:
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(name, _DATE)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)


def _module(name: str) -> str:
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _package(name: str) -> str:
    return _module(name) if name.endswith("/__init__.py") else _module(name).rpartition(".")[0]
