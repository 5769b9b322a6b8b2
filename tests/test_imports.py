"""The borders of the packages: imports run one way, and the steps run on the standard library alone."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PURE_PACKAGES = ("logs", "facts", "memory", "rules", "diagnosis", "report")


def with_libraries(checkout: Path) -> set[str]:
    """The modules that pyproject.toml lets use libraries."""
    config = (checkout / "pyproject.toml").read_text(encoding="utf-8")
    return set(re.findall(r'^ +"(vllmdoctor\.[\w.]+?)(?:\.\*\*)? -> (?!vllmdoctor)', config, re.MULTILINE))


def pure_modules(checkout: Path) -> list[str]:
    """Every other module of the pure packages by its dotted name."""
    source = checkout / "src"
    allowed = with_libraries(checkout)
    names = []
    for package in PURE_PACKAGES:
        for path in sorted((source / "vllmdoctor" / package).rglob("*.py")):
            name = ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
            if not any(name == other or name.startswith(other + ".") for other in allowed):
                names.append(name)
    return names


def without_libraries(source: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Runs code where no installed library can be imported (`-S`), only the checkout and the standard library."""
    code = f"import sys; sys.path.insert(0, {str(source)!r})\n{code}"
    return subprocess.run([sys.executable, "-S", "-E", "-c", code], capture_output=True, text=True, check=False)


def test_steps_import_without_any_library(checkout: Path) -> None:
    names = pure_modules(checkout)
    assert {name.split(".")[1] for name in names} == set(PURE_PACKAGES)
    result = without_libraries(checkout / "src", f"import importlib\nfor n in {names!r}: importlib.import_module(n)")
    assert result.returncode == 0, result.stderr


def test_the_check_above_really_hides_libraries(checkout: Path) -> None:
    result = without_libraries(checkout / "src", "import yaml")
    assert result.returncode != 0
    assert "ModuleNotFoundError" in result.stderr


def test_import_contracts_hold(checkout: Path) -> None:
    pytest.importorskip("importlinter")
    result = subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command; lint_imports_command()",
            "--no-cache",
        ],
        cwd=checkout,
        env={"PYTHONPATH": str(checkout / "src"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 broken" in result.stdout


def test_package_import_is_cheap(checkout: Path) -> None:
    """`vllmdoctor --version` and programs that import the package must not pay for libraries they may never use."""
    code = (
        f"import sys; sys.path.insert(0, {str(checkout / 'src')!r}); import vllmdoctor\n"
        "print([n for n in ('rich', 'typer', 'yaml', 'regex', 'zstandard', 'markdown_it') if n in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
