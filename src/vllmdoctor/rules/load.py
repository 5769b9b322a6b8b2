"""Where rules come from (the wheel's compiled data, a checkout's YAML, a user's own folder) in, a catalogue out."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from vllmdoctor.errors import RuleError
from vllmdoctor.languages import Message
from vllmdoctor.rules.compiled import FORMAT, Bundle, bundle_of, catalogue_of
from vllmdoctor.rules.model import Catalogue, FactBook

_COMPILED = "catalogue.json"


def load_catalogue(language: str = "en", extra_folders: Sequence[Path] = ()) -> Catalogue:
    """The shipped rules in a language, with the rules of the given folders added (a rule of the same id replaces ours).

    Raises RuleError when a rule file is wrong.
    """
    catalogue = _shipped(language)
    for folder in extra_folders:
        catalogue = _with_user_rules(catalogue, folder)
    return catalogue


@cache
def _shipped(language: str) -> Catalogue:
    return catalogue_of(load_bundle(), language, checked=True)


def load_bundle() -> Bundle:
    """The shipped bundle: compiled data in an installed package, the YAML files in a checkout (compiled in build/)."""
    folder = checkout_rules()
    if folder is not None:
        return _checkout_bundle(folder)
    source = resources.files("vllmdoctor").joinpath("data").joinpath(_COMPILED)
    try:
        bundle: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise RuleError(
            _COMPILED, Message("the installed rules cannot be read ({reason}); reinstall vllmdoctor", reason=problem)
        ) from None
    return bundle


def checkout_rules() -> Path | None:
    """The rules folder of the checkout that this module runs from, None when it runs from an installed package."""
    root = Path(__file__).resolve().parents[3]
    return root / "rules" if (root / "pyproject.toml").is_file() and (root / "rules" / "facts").is_dir() else None


def _checkout_bundle(folder: Path) -> Bundle:
    stamp = _stamp(folder)
    cache = folder.parent / "build" / "rules-cache.json"
    try:
        kept: dict[str, Any] = json.loads(cache.read_text(encoding="utf-8"))
        if kept.get("stamp") == stamp:
            return kept
    except (OSError, ValueError):
        pass
    from vllmdoctor.rules.yaml_source import read_rules_folder

    documents = read_rules_folder(folder)
    bundle = {**bundle_of(documents), "stamp": stamp}
    fields = (*documents.rules.values(), *documents.remedies.values())
    catalogue_of(bundle, "en", {field.file: field.lines for field in fields})  # raises what is wrong, once
    try:
        cache.parent.mkdir(exist_ok=True)
        part = cache.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(bundle, ensure_ascii=False), encoding="utf-8")
        part.replace(cache)
    except OSError:
        pass  # a read-only checkout works, only slower
    return bundle


def _stamp(folder: Path) -> list[Any]:
    """Changes whenever a rule file (or the code that compiles them) is edited, added or removed."""
    code = Path(__file__).parent
    paths = sorted((*folder.rglob("*.yaml"), *code.glob("*.py")))
    return [FORMAT, *([path.name, path.stat().st_mtime_ns, path.stat().st_size] for path in paths)]


def _with_user_rules(catalogue: Catalogue, folder: Path) -> Catalogue:
    from vllmdoctor.rules.build import build_remedy, build_rule
    from vllmdoctor.rules.build_facts import build_fact_book
    from vllmdoctor.rules.guarded import guarded_facts, guarded_rule
    from vllmdoctor.rules.yaml_source import read_rules_folder

    if not folder.is_dir():
        raise RuleError(str(folder), Message("is not a folder; --rules wants one that holds rule files (*.yaml)"))
    documents = read_rules_folder(folder)
    remedies = {**catalogue.remedies, **{name: build_remedy(field) for name, field in documents.remedies.items()}}
    built = (replace(build_rule(field, remedies), user_supplied=True) for field in documents.rules.values())
    guarded = [guarded_rule(rule) for rule in built]
    rules = {rule.id: rule for rule, _ in guarded}
    ours = catalogue.facts
    book, facts_guard = guarded_facts(build_fact_book(documents.facts, ours.names), f"{folder.name}/facts")
    facts = FactBook(
        names=book.names,
        lines=ours.lines + book.lines,
        derived=ours.derived + book.derived,
        marks=ours.marks + book.marks,
        noise=ours.noise + book.noise,
        healthy=ours.healthy + book.healthy,
    )
    return replace(
        catalogue,
        rules={**catalogue.rules, **rules},
        remedies=remedies,
        facts=facts,
        index=(
            *((name, signature) for name, signature in catalogue.signatures() if name not in rules),
            *((rule.id, signature) for rule in rules.values() for signature in rule.signatures),
        ),
        guards=(*catalogue.guards, *(guard for _, guard in guarded), facts_guard),
    )
