"""Building the catalogue: what is wrong is named with file, line and field, never by a traceback."""

from __future__ import annotations

import pytest

from tests.rules.helpers import Change, Folder, put
from vllmdoctor.errors import RuleError
from vllmdoctor.rules.compiled import bundle_of, catalogue_of
from vllmdoctor.rules.model import Catalogue
from vllmdoctor.rules.yaml_source import read_rules_folder


def built(folder: Folder) -> Catalogue:
    documents = read_rules_folder(folder.write())
    lines = {field.file: field.lines for field in (*documents.rules.values(), *documents.remedies.values())}
    return catalogue_of(bundle_of(documents), "en", lines)


def test_a_good_folder_builds(folder: Folder) -> None:
    catalogue = built(folder)
    rule = catalogue.rules["length-too-long"]
    assert (rule.role, rule.severity, rule.phase) == ("cause", "fatal", "any")
    assert rule.signatures[0].scope == "error"
    assert rule.signatures[0].literals == ((") does not fit",), ("the length (",))
    assert rule.fixes[0].id == "lower-length"
    assert catalogue.facts.unit_of("max_model_len") == "tokens"


def rule_with(**values: object) -> Change:
    return lambda folder: folder.rule.update(values)


@pytest.mark.parametrize(
    "change, field, problem",
    [
        (rule_with(colour="red"), "colour", "no such field"),
        (rule_with(category="kitchen"), "category", "none of"),
        (rule_with(title=5), "title", "not a text"),
        (rule_with(title="{max_model_len}"), "title", "fallback"),
        (rule_with(title="{a b|x}"), "title", "column"),
        (rule_with(signatures="x"), "signatures", "not a list"),
        (rule_with(signatures=["x"]), "signatures.0", "not a mapping"),
        (rule_with(related=[1]), "related.0", "not a text"),
        (put("signatures", 0, pattern="(open"), "signatures.0.pattern", "unterminated"),
        (put("signatures", 0, pattern="a{99999999999999}"), "signatures.0.pattern", "too large"),
        (put("signatures", 0, pattern="(" * 3000 + ")" * 3000), "signatures.0.pattern", ""),
        (put("signatures", 0, pattern=""), "signatures.0", "missing"),
        (put("signatures", 0, scope="everywhere"), "signatures.0.scope", "none of"),
        (put("signatures", 0, phases=["breakfast"]), "signatures.0", "no phase"),
        (put("signatures", 0, versions="0.9"), "signatures.0.versions", "version bound"),
        (put("signatures", 0, when=True), "signatures.0.when", "quotes"),
        (put("causes", 0, when="a >"), "causes.0.when", "column"),
        (put("fixes", 0, remedy="magic"), "fixes.0.remedy", "no remedy"),
        (put("fixes", 0, title="x"), "fixes.0.title", "no such field"),
        (put("fixes", 0, arguments={"value": "1 +"}), "fixes.0.arguments.value", "column"),
        (put("verify", 0, id=None), "verify.0", "`id` is missing"),
    ],
)
def test_errors_name_the_field(folder: Folder, change: Change, field: str, problem: str) -> None:
    change(folder)
    with pytest.raises(RuleError) as caught:
        built(folder)
    assert caught.value.file == "rules/memory/length-too-long.yaml"
    assert caught.value.field == field
    assert caught.value.line > 0
    assert problem in caught.value.problem


@pytest.mark.parametrize(
    "group, entry, problem",
    [
        ("lines", {"samples": ["x"]}, "`pattern` is missing"),
        ("marks", {"mark": "ready"}, "`pattern` is missing"),
        ("noise", {"id": "a", "why": "b"}, "`pattern` is missing"),
        ("lines", {"pattern": "abcd (?P<undeclared>x)"}, "not declared"),
        ("lines", {"pattern": "abcd", "constants": {"undeclared": "x"}}, "not declared"),
        ("derived", {"fact": "undeclared", "value": "1"}, "not declared"),
        ("derived", {"fact": "max_model_len", "value": "1 +"}, "column"),
        ("facts", {"name": "a", "type": "colour", "title": "a"}, "none of"),
        ("marks", {"mark": "lunch", "pattern": "abcd"}, "none of"),
    ],
)
def test_bad_fact_files(folder: Folder, group: str, entry: dict[str, object], problem: str) -> None:
    folder.facts[group] = [*folder.facts.get(group, []), entry]
    with pytest.raises(RuleError, match=problem):
        built(folder)


def test_the_unit_of_a_fact_needs_no_declaration(folder: Folder) -> None:
    folder.facts["lines"][0]["pattern"] = r"Using (?P<max_model_len>\d+) (?P<max_model_len_unit>\w+) length"
    assert len(built(folder).facts.lines) == 1
