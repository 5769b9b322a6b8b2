"""The YAML files of rules/ and the .po files in; the wheel's catalogue.json and .mo files out.

Nothing stays in the source tree.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CATALOGUE = "vllmdoctor/data/catalogue.json"
MESSAGES = "src/vllmdoctor/locale/*/LC_MESSAGES/*.po"


class CatalogueHook(BuildHookInterface[Any]):
    """Compiles rules and messages into a wheel. An editable install has none: it reads the YAML and .po files."""

    PLUGIN_NAME = "custom"
    _folder: str | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self._folder = tempfile.mkdtemp(prefix="vllmdoctor-build-")
        root = Path(self.root)
        target = Path(self._folder, "catalogue.json")
        target.write_text(compiled_rules(root), encoding="utf-8")
        build_data["force_include"][str(target)] = CATALOGUE
        for number, source in enumerate(sorted(root.glob(MESSAGES))):
            compiled = Path(self._folder, f"{number}.mo")
            compiled.write_bytes(compiled_messages(root, source))
            place = source.relative_to(root / "src").with_suffix(".mo")
            build_data["force_include"][str(compiled)] = place.as_posix()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


def compiled_rules(root: Path) -> str:
    """The bundle of the checkout's rules as JSON; a rule that is wrong fails the build."""
    _prepare_imports(root / "src")
    from vllmdoctor.rules.compiled import bundle_of, catalogue_of
    from vllmdoctor.rules.yaml_source import read_rules_folder

    bundle = bundle_of(read_rules_folder(root / "rules"))
    catalogue_of(bundle, "en")
    return json.dumps(bundle, ensure_ascii=False, separators=(",", ":")) + "\n"


def compiled_messages(root: Path, source: Path) -> bytes:
    """The bytes of the .mo file; an entry that is wrong fails the build."""
    _prepare_imports(root / "src")
    from vllmdoctor.locale.compiled import compiled_catalogue

    return compiled_catalogue(source.read_text(encoding="utf-8"))


def _prepare_imports(source: Path) -> None:
    """Makes the package importable without running its __init__, which may want libraries that a build lacks."""
    if "vllmdoctor" not in sys.modules:
        package = ModuleType("vllmdoctor")
        package.__path__ = [str(source / "vllmdoctor")]
        sys.modules["vllmdoctor"] = package
