"""The wheel: compiled catalogues in it, no sources of them, and what it prints unpacked on the path."""

from __future__ import annotations

import gettext
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.i18n.test_catalogues import wordings
from vllmdoctor.languages import LANGUAGES

TRANSLATIONS = LANGUAGES[1:]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    built = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=300, check=False)
    assert built.returncode == 0, built.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def printed(unpacked: Path, *arguments: str, **variables: str) -> str:
    """Of the unpacked wheel alone; `-c` tells where the package came from on the first line."""
    program = "import sys, vllmdoctor; print(vllmdoctor.__file__); from vllmdoctor.cli.app import run; sys.exit(run())"
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(unpacked), "PYTHONIOENCODING": "utf-8", **variables}
    result = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=unpacked, env=env, capture_output=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    place, _, shown = result.stdout.partition("\n")
    assert Path(place).is_relative_to(unpacked), result.stderr
    return shown


def test_it_holds_every_catalogue_compiled(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith("vllmdoctor/locale/")]
        compiled = {name: archive.read(name) for name in names if name.endswith(".mo")}
    assert not [name for name in names if name.endswith((".po", ".pot"))]
    assert sorted(compiled) == [f"vllmdoctor/locale/{name}/LC_MESSAGES/vllmdoctor.mo" for name in sorted(TRANSLATIONS)]
    for language in TRANSLATIONS:
        catalogue = gettext.GNUTranslations(
            io.BytesIO(compiled[f"vllmdoctor/locale/{language}/LC_MESSAGES/vllmdoctor.mo"])
        )
        assert [catalogue.gettext("Fixes"), catalogue.ngettext("{count} rule", "{count} rules", 2)] == [
            wordings(language)[message] for message in ("Fixes", "{count} rule")
        ]


@pytest.mark.parametrize(
    "language, words",
    [("vi", ("Cách khắc phục", "Kiểm tra trước", "KV cache")), ("ja", ("対処法", "最初に確認", "KVキャッシュ"))],
)
def test_unpacked_on_the_path_it_speaks_the_language(
    language: str, words: tuple[str, ...], unpacked: Path, checkout: Path
) -> None:
    log = str(checkout / "examples" / "startup.log")
    shown = printed(unpacked, "analyze", log, "--lang", language)
    assert not [word for word in words if word not in shown]
    assert "Fixes" not in shown
    assert printed(unpacked, "--help", VLLMDOCTOR_LANG=language) != printed(unpacked, "--help")
