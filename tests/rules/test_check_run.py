"""The whole check: all issues with their places, summary, exit code; user folders; healthy logs; the shipped rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.helpers import Folder
from vllmdoctor.rules.check import ERROR, Issue, check_rules, main_check


def test_issues_name_file_line_field_and_check(folder: Folder) -> None:
    folder.rule["signatures"][0]["samples"] = ["something else"]
    issues = check_rules(folder.write())
    assert [(issue.file, issue.field, issue.check) for issue in issues] == [
        ("rules/memory/length-too-long.yaml", "signatures.0.samples.0", "sample"),
    ]
    line = (
        (folder.path / "memory" / "length-too-long.yaml").read_text(encoding="utf-8").splitlines()[issues[0].line - 1]
    )
    assert line.strip() == "- something else"


def test_main_check_prints_and_fails(folder: Folder) -> None:
    folder.rule["related"] = ["nowhere"]
    printed: list[str] = []
    assert main_check(folder.write(), printed.append) == 1
    assert printed[0].startswith("rules/memory/length-too-long.yaml:")
    assert printed[0].endswith(" [related.0] there is no rule 'nowhere' (link)")
    assert printed[-1] == "1 error, 0 remarks"


def test_main_check_passes_a_good_folder(folder: Folder) -> None:
    printed: list[str] = []
    assert main_check(folder.write(), printed.append) == 0
    assert printed == ["1 rule, 1 remedy, 2 facts", "no problems"]


def test_remarks_do_not_fail(folder: Folder) -> None:
    folder.files["remedies/spare.yaml"] = {**folder.remedy, "id": "spare", "title": "Spare", "changes": {}}
    printed: list[str] = []
    assert main_check(folder.write(), printed.append) == 0
    assert printed[-1] == "0 errors, 1 remark"


def test_schema_and_build_do_not_repeat_each_other(folder: Folder) -> None:
    folder.rule["category"] = "kitchen"
    assert (
        sum(issue.field == "category" and issue.check in ("schema", "build") for issue in check_rules(folder.write()))
        == 1
    )


def test_everything_wrong_at_once_is_no_traceback(folder: Folder) -> None:
    folder.files["memory/a.yaml"] = "id: a\nsignatures: [1, {pattern: 5}, {pattern: '('}]\nfixes: x\ncauses: {a: b}\n"
    folder.files["remedies/b.yaml"] = "id: b\nchanges: [1]\nreferences: [x]\ntitle: {known: 1}\n"
    folder.files["facts/c.yaml"] = "lines: [1, {pattern: '('}]\nmarks: x\nnoise: [{id: a}]\nderived: [{fact: x}]\n"
    folder.files["memory/d.vi.yaml"] = "causes: x\n"
    files = {issue.file for issue in check_rules(folder.write())}
    assert {"rules/memory/a.yaml", "rules/remedies/b.yaml", "rules/facts/c.yaml", "rules/memory/d.vi.yaml"} <= files


def test_one_bad_fact_line_is_one_issue(folder: Folder) -> None:
    folder.facts["lines"].append({"pattern": "the (?P<undeclared>value)", "samples": ["the value"]})
    assert [issue.check for issue in check_rules(folder.write())] == ["build"]


@pytest.mark.parametrize("name", ["empty", "missing"])
def test_a_folder_without_rules(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    printed: list[str] = []
    assert main_check(tmp_path / name, printed.append) == 1
    assert name in printed[0]


def user_folder(tmp_path: Path) -> Folder:
    """Only the rule; remedies and facts are the shipped ones."""
    folder = Folder(tmp_path)
    for name in ("remedies/lower-length.yaml", "facts/names.yaml"):
        del folder.files[name]
    return folder


def test_a_user_folder_builds_on_the_shipped_rules(tmp_path: Path) -> None:
    folder = user_folder(tmp_path)
    folder.rule["fixes"] = [{"remedy": "lower-max-model-len", "arguments": {"value": "floor(max_model_len / 2, 16)"}}]
    folder.rule["signatures"][0].pop("raised")
    folder.rule["signatures"][0].pop("versions")
    folder.rule["related"] = ["no-cache-blocks"]
    path = folder.write()
    (path / "taxonomy.tsv").unlink()
    assert check_rules(path) == []


def test_a_user_rule_must_not_look_like_a_shipped_one(tmp_path: Path) -> None:
    folder = user_folder(tmp_path)
    folder.rule["fixes"] = [{"remedy": "lower-max-model-len"}]
    sample = "ValueError: No available memory for the cache blocks."
    folder.rule["signatures"][0] |= {"pattern": "memory for the cache blocks", "samples": [sample]}
    issues = check_rules(folder.write(), user=True)
    assert [issue.check for issue in issues] == ["overlap"]
    assert "no-cache-blocks" in issues[0].text


class Finding:
    def __init__(self, rule: str, role: str) -> None:
        self.rule, self.role, self.evidence = rule, role, ()


class Report:
    def __init__(self, status: str, *findings: Finding) -> None:
        self.status, self.findings = status, findings


@pytest.mark.parametrize(
    "report, problem",
    [
        (Report("healthy"), None),
        (Report("healthy", Finding("slow", "warning")), None),
        (Report("failure", Finding("no-cache-blocks", "root-cause")), "'no-cache-blocks' matches here"),
        (Report("unrecognized-failure"), "status is 'unrecognized-failure'"),
    ],
)
def test_rules_are_silent_on_healthy_logs(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, report: Report, problem: str | None
) -> None:
    from vllmdoctor import analysis

    monkeypatch.setattr(analysis, "analyze_inputs", lambda paths, **options: report)
    (tmp_path / "clean").mkdir()
    (tmp_path / "clean" / "start.log").write_text("INFO: started\n", encoding="utf-8")
    issues = check_rules(folder.write(), clean_corpus=tmp_path / "clean")
    assert [problem in issue.text for issue in issues] == ([True] if problem else [])


def test_an_empty_corpus_is_an_error(folder: Folder, tmp_path: Path) -> None:
    assert [issue.check for issue in check_rules(folder.write(), clean_corpus=tmp_path)] == ["clean"]


def test_issues_read_well() -> None:
    issue = Issue("rules/a.yaml", 3, "title", "title", ERROR, "is too long")
    assert str(issue) == "rules/a.yaml:3 [title] is too long (title)"
    assert (
        str(Issue("rules/a.yaml", 0, "", "link", "warning", "is not used"))
        == "rules/a.yaml warning: is not used (link)"
    )


def test_the_shipped_rules_have_no_issue(checkout: Path) -> None:
    assert [str(issue) for issue in check_rules(checkout / "rules")] == []
