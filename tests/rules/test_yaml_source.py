"""Reading rule files: every problem names file, line and field."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.helpers import Folder
from vllmdoctor.errors import RuleError
from vllmdoctor.rules.yaml_source import read_rules_folder


def error_of(folder: Folder, name: str, text: str) -> RuleError:
    folder.files[name] = text
    with pytest.raises(RuleError) as caught:
        read_rules_folder(folder.write())
    return caught.value


def test_documents_are_sorted_by_kind(folder: Folder) -> None:
    folder.files["memory/length-too-long.vi.yaml"] = {"digest": "0" * 12, "title": "x"}
    documents = read_rules_folder(folder.write())
    assert list(documents.rules) == ["length-too-long"]
    assert list(documents.remedies) == ["lower-length"]
    assert list(documents.translations["vi"]) == ["length-too-long"]
    assert len(documents.facts) == 1


def test_values_know_their_line(folder: Folder) -> None:
    folder.files["memory/a.yaml"] = "id: a\n\ncauses:\n  - id: one\n    title: first\n  - id: two\n    title: second\n"
    document = read_rules_folder(folder.write()).rules["a"]
    second = document.need("causes").items()[1].need("title")
    problem = second.error("is bad")
    assert (problem.file, problem.line, problem.field) == ("rules/memory/a.yaml", 7, "causes.1.title")


@pytest.mark.parametrize(
    "text, line, problem",
    [
        ("id: a\ntitle: [x\n", 3, "is not YAML"),
        ("id: a\n\ttitle: x\n", 2, "is not YAML"),
        ("- a\n", 1, "is not a mapping"),
        ("", 1, "is not a mapping"),
        ("title: x\n", 1, "`id` is missing"),
        ("id: a\ntitle: x\ntitle: y\n", 3, "given twice"),
        ("id: a\nbase: &b {x: 1}\nmore: *b\n", 2, "aliases"),
        ("id: a\nwhen: 2024-01-01\n", 2, "timestamp"),
        ("id: a\n[1, 2]: x\n", 2, "key"),
        ("id: length-too-long\n", 1, "already used"),
        ("id: a\n'x': \x00\n", 0, "is not YAML"),
    ],
)
def test_bad_files(folder: Folder, text: str, line: int, problem: str) -> None:
    error = error_of(folder, "memory/zzz.yaml", text)
    assert error.file == "rules/memory/zzz.yaml"
    assert error.line == line
    assert problem in str(error)


def test_nesting_bombs_are_refused(folder: Folder) -> None:
    assert "zzz.yaml" in str(error_of(folder, "memory/zzz.yaml", "id: " + "[" * 20000))


def test_alias_bombs_are_refused(folder: Folder) -> None:
    lines = ["id: a", "x0: &x0 [1, 1]"]
    lines += [f"x{n}: &x{n} [*x{n - 1}, *x{n - 1}, *x{n - 1}]" for n in range(1, 40)]
    assert "aliases" in str(error_of(folder, "memory/zzz.yaml", "\n".join(lines)))


def test_not_utf8(folder: Folder) -> None:
    path = folder.write() / "memory" / "zzz.yaml"
    path.write_bytes(b"id: a\ntitle: \xff\xfe\n")
    with pytest.raises(RuleError, match="not UTF-8"):
        read_rules_folder(folder.path)


def test_unknown_language(folder: Folder) -> None:
    assert "no language 'xx'" in str(error_of(folder, "memory/length-too-long.xx.yaml", "title: x\n"))


def test_a_folder_without_rules(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="no rule files"):
        read_rules_folder(tmp_path)


def test_problems_can_be_collected(folder: Folder) -> None:
    folder.files["memory/one.yaml"] = "- a\n"
    folder.files["memory/two.yaml"] = "id: [\n"
    problems: list[RuleError] = []
    documents = read_rules_folder(folder.write(), problems.append)
    assert [problem.file for problem in problems] == ["rules/memory/one.yaml", "rules/memory/two.yaml"]
    assert list(documents.rules) == ["length-too-long"]
