"""Small catalogues and logs for the tests of this package: rules from dicts, logs from text."""

from __future__ import annotations

import textwrap
from typing import Any

from vllmdoctor.diagnosis import diagnose
from vllmdoctor.diagnosis.model import Diagnosis
from vllmdoctor.logs import Log, RawLine, read_log
from vllmdoctor.rules.compiled import catalogue_of
from vllmdoctor.rules.load import load_bundle
from vllmdoctor.rules.model import Catalogue


def log_of(text: str) -> Log:
    """The log of a text whose common indentation is taken off."""
    lines = textwrap.dedent(text).strip("\n").split("\n")
    return read_log(RawLine(0, number, line) for number, line in enumerate(lines, start=1))


def rule(name: str, *patterns: str, **fields: Any) -> dict[str, Any]:
    """A rule document with one signature a pattern; `signature` adds fields to each of them."""
    extra = fields.pop("signature", {})
    return {
        "id": name,
        "category": "memory",
        "title": name,
        "summary": name,
        "signatures": [{"pattern": pattern, "samples": [], **extra} for pattern in patterns],
        **fields,
    }


def catalogue(*rules: dict[str, Any]) -> Catalogue:
    """The given rules with the shipped facts, marks and noise, so that phases and readiness are the real ones."""
    shipped = load_bundle()
    return catalogue_of(
        {
            "rules": {document["id"]: document for document in rules},
            "remedies": {},
            "facts": shipped["facts"],
            "files": {},
            "translations": {},
        },
        "en",
    )


def diagnosis(text: str, *rules: dict[str, Any]) -> Diagnosis:
    return diagnose(log_of(text), catalogue(*rules))


def roles(found: Diagnosis) -> dict[str, str]:
    """Rule id → role."""
    return {finding.rule.id: finding.role for finding in found.findings}
