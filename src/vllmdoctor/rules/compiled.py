"""Rule documents in, one JSON-ready bundle out, and back: what the wheel carries so that running needs no YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vllmdoctor.rules.build import build_remedy, build_rule, build_signature
from vllmdoctor.rules.build_facts import build_fact_book
from vllmdoctor.rules.fields import Field
from vllmdoctor.rules.lazy import LazyMapping
from vllmdoctor.rules.literals import required_literals
from vllmdoctor.rules.model import Catalogue
from vllmdoctor.rules.translate import digest_of, translated

if TYPE_CHECKING:
    from vllmdoctor.rules.yaml_source import Documents

FORMAT = 1
Bundle = Mapping[str, Any]


def bundle_of(documents: Documents) -> dict[str, Any]:
    """The bundle: documents as they are, each pattern with its literals so that starting needs no analysis."""
    bundle = {
        "format": FORMAT,
        "rules": {name: _with_literals(field.value) for name, field in sorted(documents.rules.items())},
        "remedies": {name: field.value for name, field in sorted(documents.remedies.items())},
        "facts": [_with_literals(field.value) for field in documents.facts],
        "files": {name: field.file for name, field in sorted((documents.rules | documents.remedies).items())},
        "translations": {
            language: {name: field.value for name, field in sorted(files.items())}
            for language, files in sorted(documents.translations.items())
        },
    }
    return bundle


def _with_literals(document: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(document)
    for group in ("signatures", "lines", "marks", "noise"):
        if isinstance(document.get(group), list):
            result[group] = [_literal_item(item) for item in document[group]]
    return result


def _literal_item(item: Any) -> Any:
    """The entry with its literals; one that is wrong stays as it is, since building it names what is wrong."""
    if not isinstance(item, Mapping) or "literals" in item or item.get("where") == "frame":
        return item
    try:
        return {**item, "literals": [list(group) for group in required_literals(item["pattern"])]}
    except (KeyError, TypeError, re.error, OverflowError, RecursionError):
        return item


def catalogue_of(
    bundle: Bundle, language: str, lines: Mapping[str, Mapping[str, int]] | None = None, *, checked: bool = False
) -> Catalogue:
    """The catalogue of a bundle in a language. `lines` gives the line map of each file for error messages.

    A `checked` bundle was built before without an error: its rules are built when they are asked for. Raises RuleError
    for the first thing that is wrong.
    """
    words: Mapping[str, Mapping[str, Any]] = bundle["translations"].get(language, {})
    places = _Places(bundle["files"], lines or {}, checked)

    def document(group: str, name: str) -> Field:
        return places.field(name, translated(bundle[group][name], words.get(name, {})))

    remedies = LazyMapping(bundle["remedies"], lambda name: build_remedy(document("remedies", name)))
    rules = LazyMapping(bundle["rules"], lambda name: build_rule(document("rules", name), remedies))
    facts = build_fact_book([Field("rules/facts", "", content, checked=checked) for content in bundle["facts"]])
    index = tuple(
        (name, build_signature(item))
        for name, content in bundle["rules"].items()
        for item in _signature_fields(places.field(name, content))
    )
    if not checked:
        _build_all(remedies, rules)
    return Catalogue(language, rules, remedies, facts, _notices(bundle, words) if language != "en" else {}, index)


def _build_all(*mappings: Mapping[str, Any]) -> None:
    for mapping in mappings:
        for name in mapping:
            mapping[name]


def _signature_fields(rule: Field) -> list[Field]:
    signatures = rule.get("signatures")
    return signatures.items() if signatures else []


def _notices(bundle: Bundle, words: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Which rules and remedies have no translation, or one of an older English text."""
    notices = {}
    for name, content in (*bundle["rules"].items(), *bundle["remedies"].items()):
        if name not in words:
            notices[name] = "missing"
        elif words[name].get("digest") != digest_of(content):
            notices[name] = "stale"
    return notices


class _Places:
    def __init__(self, files: Mapping[str, str], lines: Mapping[str, Mapping[str, int]], checked: bool) -> None:
        self.files = files
        self.lines = lines
        self.checked = checked

    def field(self, name: str, document: Mapping[str, Any]) -> Field:
        file = self.files.get(name, name)
        return Field(file, "", document, self.lines.get(file), checked=self.checked)
