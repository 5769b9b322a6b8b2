"""Rule documents in, one JSON-ready bundle out, and back: what the wheel carries so that running needs no YAML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from vllmdoctor.rules.build import Field, build_remedy, build_rule
from vllmdoctor.rules.build_facts import build_fact_book
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
        if document.get(group):
            result[group] = [_literal_item(item) for item in document[group]]
    return result


def _literal_item(item: Mapping[str, Any]) -> dict[str, Any]:
    if "literals" in item or "pattern" not in item or item.get("where") == "frame":
        return dict(item)
    return {**item, "literals": [list(group) for group in required_literals(item["pattern"])]}


def catalogue_of(bundle: Bundle, language: str, lines: Mapping[str, Mapping[str, int]] | None = None) -> Catalogue:
    """The catalogue of a bundle in a language. `lines` gives the line map of each file for error messages.

    Raises RuleError for the first thing that is wrong.
    """
    words: Mapping[str, Mapping[str, Any]] = bundle["translations"].get(language, {})
    places = _Places(bundle["files"], lines or {})
    notices = {}
    for name, document in (*bundle["rules"].items(), *bundle["remedies"].items()):
        if language != "en":
            if name not in words:
                notices[name] = "missing"
            elif words[name].get("digest") != digest_of(document):
                notices[name] = "stale"
    remedies = {
        name: build_remedy(places.field(name, translated(document, words.get(name, {}))))
        for name, document in bundle["remedies"].items()
    }
    rules = {
        name: build_rule(places.field(name, translated(document, words.get(name, {}))), remedies)
        for name, document in bundle["rules"].items()
    }
    facts = build_fact_book([Field("rules/facts", "", document) for document in bundle["facts"]])
    return Catalogue(language, rules, remedies, facts, notices)


class _Places:
    def __init__(self, files: Mapping[str, str], lines: Mapping[str, Mapping[str, int]]) -> None:
        self.files = files
        self.lines = lines

    def field(self, name: str, document: Mapping[str, Any]) -> Field:
        file = self.files.get(name, name)
        return Field(file, "", document, self.lines.get(file))


def all_patterns(bundle: Bundle) -> Iterator[str]:
    """Every regular expression of a bundle, for checks."""
    for document in (*bundle["rules"].values(), *bundle["facts"]):
        for group in ("signatures", "lines", "marks", "noise"):
            for item in document.get(group) or []:
                yield from (item[key] for key in ("pattern", "unless", "frames") if item.get(key))
