"""Checks on the structure of rule files: schema, build, identity, completeness, titles, links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.rules.helpers import Change, Folder, put
from vllmdoctor.rules.build import RULE_FIELDS
from vllmdoctor.rules.check.build import BuildCheck
from vllmdoctor.rules.check.causes import CauseCheck
from vllmdoctor.rules.check.completeness import CompletenessCheck
from vllmdoctor.rules.check.folder import Check, open_rule_folder
from vllmdoctor.rules.check.identity import IdentityCheck
from vllmdoctor.rules.check.links import LinkCheck
from vllmdoctor.rules.check.run import checks
from vllmdoctor.rules.check.schema import KINDS, SchemaCheck, published_schema
from vllmdoctor.rules.check.titles import TitleCheck
from vllmdoctor.rules.translate import GROUPS, TEXTS


@pytest.mark.parametrize("check", checks(), ids=lambda check: check.name)
def test_a_good_folder_passes(folder: Folder, check: Check) -> None:
    folder.add_rule()
    assert folder.found_by(check) == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_published_schemas_are_valid(kind: str) -> None:
    Draft202012Validator.check_schema(published_schema(kind))


@pytest.mark.parametrize(
    "change, field, problem",
    [
        (lambda f: f.rule.update(colour="red"), "", "colour"),
        (lambda f: f.rule.pop("summary"), "", "summary"),
        (put("signatures", 0, samples="x"), "signatures.0.samples", "array"),
        (put("signatures", 0, scope="all"), "signatures.0.scope", "one of"),
        (put("signatures", 0, versions="0.9"), "signatures.0.versions", "match"),
        (put("verify", 0, id="Two Words"), "verify.0.id", "match"),
        (put("references", 0, url="http://x"), "references.0.url", "match"),
        (lambda f: f.remedy.pop("cost"), "", "cost"),
        (lambda f: f.remedy["changes"]["arguments"].update({"max-model-len": "1"}), "changes.arguments", "match"),
        (lambda f: f.remedy.update(title={"known": "x"}), "title", "unknown"),
        (lambda f: f.facts["facts"][0].update(type="colour"), "facts.0.type", "one of"),
        (lambda f: f.facts["noise"][0].pop("why"), "noise.0", "why"),
    ],
)
def test_schema(folder: Folder, change: Change, field: str, problem: str) -> None:
    change(folder)
    found = folder.found_by(SchemaCheck())
    assert len(found) == 1
    assert found[0].startswith(f"{field}: ")
    assert problem in found[0]


def test_translations_have_a_schema(folder: Folder) -> None:
    folder.files["memory/length-too-long.vi.yaml"] = {"digest": "short", "title": "x"}
    assert len(folder.found_by(SchemaCheck())) == 1


def test_build_reports_every_bad_file(folder: Folder) -> None:
    folder.rule["causes"][0]["when"] = "1 +"
    folder.add_rule()["category"] = "kitchen"
    folder.files["memory/broken.yaml"] = "id: [\n"
    found = folder.found_by(BuildCheck())
    assert [text.partition(":")[0] for text in found] == ["", "causes.0.when", "category"]


@pytest.mark.parametrize(
    "change, problem",
    [
        (lambda f: f.rule.update(id="other-name"), "file's name"),
        (lambda f: f.remedy.update(id="other-name"), "file's name"),
        (lambda f: f.rule["causes"].append({**f.rule["causes"][0]}), "used twice"),
        (lambda f: f.rule["fixes"].append({"remedy": "lower-length"}), "used twice"),
        (lambda f: f.rule.update(category="config"), "not in the folder config/"),
        (lambda f: setattr(f, "taxonomy", "id\tcategory\tdescription\n"), "is not in rules/taxonomy.tsv"),
        (lambda f: setattr(f, "taxonomy", f.taxonomy.replace("\tmemory\t", "\tgpu\t")), "has it under 'gpu'"),
        (lambda f: setattr(f, "taxonomy", f.taxonomy + "not-written\tgpu\tx\n"), "has no rule file"),
        (lambda f: f.add_rule(aliases=["length-too-long"]), "id or old id of another"),
    ],
)
def test_identity(folder: Folder, change: Change, problem: str) -> None:
    change(folder)
    assert any(problem in text for text in folder.found_by(IdentityCheck()))


def test_a_fix_used_twice_may_have_its_own_id(folder: Folder) -> None:
    folder.rule["fixes"].append({"remedy": "lower-length", "id": "lower-length-more"})
    assert folder.found_by(IdentityCheck()) == []


def test_a_rule_and_a_remedy_do_not_share_an_id(folder: Folder) -> None:
    folder.files["remedies/length-too-long.yaml"] = {**folder.remedy, "id": "length-too-long"}
    assert folder.found_by(IdentityCheck()) == ["id: a rule has the id 'length-too-long' too"]


def test_a_missing_taxonomy_is_reported(folder: Folder) -> None:
    path = folder.write()
    (path / "taxonomy.tsv").unlink()
    issues = list(IdentityCheck().issues(open_rule_folder(path)))
    assert [issue.file for issue in issues] == ["rules/taxonomy.tsv"]


@pytest.mark.parametrize(
    "change, field",
    [
        (lambda f: f.rule.pop("causes"), "causes"),
        (lambda f: f.rule.update(fixes=[]), "fixes"),
        (lambda f: f.rule.pop("verify"), "verify"),
        (lambda f: f.rule.pop("does_not_help"), "does_not_help"),
        (lambda f: f.rule.pop("first_check"), "first_check"),
        (lambda f: f.remedy.pop("cost"), "fixes.0.cost"),
        (put("signatures", 0, samples=[]), "signatures.0.samples"),
        (lambda f: f.rule["signatures"][0].pop("raised"), "signatures.0.raised"),
        (lambda f: f.rule["signatures"][0].pop("versions"), "signatures.0.versions"),
    ],
)
def test_completeness(folder: Folder, change: Change, field: str) -> None:
    change(folder)
    assert [text.partition(":")[0] for text in folder.found_by(CompletenessCheck())] == [field]


def test_what_others_print_needs_no_vllm_source(folder: Folder) -> None:
    folder.rule["signatures"][0] |= {"origin": "torch", "raised": [], "versions": None}
    assert folder.found_by(CompletenessCheck()) == []


@pytest.mark.parametrize("changes", [{"role": "consequence"}, {"category": "wrapper"}])
def test_rules_that_point_elsewhere_need_no_cautions(folder: Folder, changes: dict[str, str]) -> None:
    folder.rule.update(changes)
    del folder.rule["does_not_help"]
    assert folder.found_by(CompletenessCheck()) == []


def test_a_fix_may_give_the_cost(folder: Folder) -> None:
    del folder.remedy["cost"]
    folder.rule["fixes"][0]["cost"] = "none"
    assert folder.found_by(CompletenessCheck()) == []


def test_titles_fit_with_their_facts(folder: Folder) -> None:
    fits = "x" * (72 - len("4,096"))
    folder.rule["title"] = {"known": fits + "{max_model_len}", "unknown": "x" * 72}
    assert folder.found_by(TitleCheck()) == []
    folder.rule["title"] = {"known": fits + "y{max_model_len}", "unknown": "x" * 73}
    found = folder.found_by(TitleCheck())
    assert [text.partition(",")[0] for text in found] == [
        "title.known: 73 characters when rendered",
        "title.unknown: 73 characters when rendered",
    ]


def test_backticks_take_no_room_in_titles(folder: Folder) -> None:
    folder.rule["title"] = f"`{'x' * 72}`"
    assert folder.found_by(TitleCheck()) == []


def test_titles_have_no_full_stop(folder: Folder) -> None:
    folder.rule["title"] = "It broke."
    assert folder.found_by(TitleCheck()) == ["title: ends with a full stop"]


@pytest.mark.parametrize(
    "change, problem",
    [
        (lambda f: f.rule.update(related=["nowhere"]), "no rule 'nowhere'"),
        (lambda f: f.rule.update(explained_by=["length-too-long"]), "names itself"),
        (lambda f: f.add_rule(related=["length-too-long", "length-too-long"]), "named twice"),
        (put("references", 0, url="https://"), "not an https:// address"),
        (put("references", 0, url="http://docs.vllm.ai"), "not an https:// address"),
        (put("references", 0, title=" "), "no title"),
        (lambda f: f.rule["fixes"][0].update(remedy="another"), "no rule uses this remedy"),
    ],
)
def test_links(folder: Folder, change: Change, problem: str) -> None:
    change(folder)
    found = folder.found_by(LinkCheck())
    assert len(found) == 1
    assert problem in found[0]


def test_the_schemas_know_the_fields_of_the_builder() -> None:
    assert set(published_schema("rule")["properties"]) == set(RULE_FIELDS)
    texts = {*TEXTS, *GROUPS, "digest"}
    assert set(published_schema("translation")["properties"]) == texts


def _names_in(schema: object) -> set[str]:
    """Every property and every choice that a schema has."""
    if isinstance(schema, list):
        return set().union(*map(_names_in, schema))
    if not isinstance(schema, dict):
        return set()
    own = {*schema.get("properties", {}), *(choice for choice in schema.get("enum", []) if choice)}
    return own.union(*map(_names_in, schema.values()))


@pytest.mark.parametrize("kind", KINDS)
def test_the_rule_authors_reference_names_every_field(kind: str, checkout: Path) -> None:
    reference = (checkout / "docs" / "rules.md").read_text(encoding="utf-8")
    assert {name for name in _names_in(published_schema(kind)) if not re.search(rf"\b{name}\b", reference)} == set()


@pytest.mark.parametrize(
    ("when", "then", "refused"),
    [
        ("not known(max_model_len)", None, True),
        ("not known(max_model_len) or max_model_len > 9", None, True),
        ("not known(max_model_len)", "confirmed", True),
        ("not known(max_model_len)", "possible", False),
        ("not known(max_model_len)", "likely", False),
        ("max_model_len > 1024", None, False),
    ],
)
def test_a_cause_is_not_confirmed_by_what_is_missing(
    folder: Folder, when: str, then: str | None, refused: bool
) -> None:
    cause = folder.rule["causes"][0]
    cause["when"] = when
    if then:
        cause["then"] = then
    found = folder.found_by(CauseCheck())
    assert len(found) == refused
    assert all(problem.startswith("causes.0.when: ") for problem in found)


def test_what_a_true_condition_means_needs_a_condition(folder: Folder) -> None:
    folder.rule["causes"][0] = {"id": "x", "title": "X", "then": "likely"}
    assert folder.found_by(SchemaCheck())


def test_a_fix_cures_causes_that_exist(folder: Folder) -> None:
    folder.rule["fixes"][0]["cures"] = ["default-length", "no-such-cause"]
    assert folder.found_by(SchemaCheck()) == []
    found = folder.found_by(LinkCheck())
    assert len(found) == 1
    assert "no-such-cause" in found[0]
