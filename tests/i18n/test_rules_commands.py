"""`rules check`, `list`, `show`, `stats` and `drift` in three languages: words and plurals in the language, names as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.i18n.english import english_runs
from tests.i18n.test_catalogues import wordings
from tests.rules.helpers import Folder
from tests.upstream.trees import row, table
from vllmdoctor.cli.app import run
from vllmdoctor.languages import LANGUAGES, Counted, Message
from vllmdoctor.report.words import Words
from vllmdoctor.rules.check.change_comments import extracted
from vllmdoctor.rules.check.issue import ERROR, NOTE, WARNING, Issue

TRANSLATIONS = LANGUAGES[1:]
each_translation = pytest.mark.parametrize("language", TRANSLATIONS)


def printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, language: str, *arguments: str
) -> list[str]:
    monkeypatch.setenv("VLLMDOCTOR_LANG", language)
    run(arguments)
    return capsys.readouterr().out.splitlines()


@pytest.fixture
def wrong_rules(tmp_path: Path) -> Path:
    """One rule with a fault for many of the checks."""
    folder = Folder(tmp_path)
    folder.rule["title"] = "A title. With {nobody_knows_this}"
    folder.rule["related"] = ["no-such-rule", "no-such-rule"]
    folder.rule["signatures"][0]["pattern"] = "the  length .* does not fit"
    folder.rule["references"] = [{"url": "http://example.org", "title": ""}]
    folder.rule["surprise"] = 1
    del folder.rule["verify"]
    return folder.write()


@each_translation
def test_findings_of_the_check_are_translated(
    language: str, wrong_rules: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    english = printed(capsys, monkeypatch, "en", "rules", "check", str(wrong_rules))
    here = printed(capsys, monkeypatch, language, "rules", "check", str(wrong_rules))
    assert len(english) == len(here) > 6
    for line, there in zip(here, english, strict=True):
        assert line != there
        assert not english_runs(line)
        # The place and the name of the check stay.
        assert line.split(" ")[0] == there.split(" ")[0] or not there.startswith(wrong_rules.name)


@each_translation
def test_every_problem_has_its_own_wording(language: str) -> None:
    place = Issue("a.yaml", 3, "title", "markdown", ERROR, Message("has {element}; texts are inline code, emphasis, lists and links", element=Message("a table")))  # fmt: skip
    shown = Words(language).said(place.sentence())
    assert shown.startswith("a.yaml:3 [title] ")
    assert {"vi": "có bảng", "ja": "表があります"}[language] in shown
    for severity, word in ((WARNING, {"vi": "cảnh báo", "ja": "警告"}), (NOTE, {"vi": "lưu ý", "ja": "注記"})):
        remark = Issue("a.yaml", 0, "", "link", severity, Message("no rule uses this remedy")).sentence()
        assert f" {word[language]}: " in Words(language).said(remark)


def test_numbers_of_things_have_plurals() -> None:
    one, many = (Counted("{count} rule", "{count} rules", number) for number in (1, 1200))
    assert (one, many) == ("1 rule", "1,200 rules")
    assert [Words("vi").said(text) for text in (one, many)] == ["1 quy tắc", "1,200 quy tắc"]
    assert [Words("ja").said(text) for text in (one, many)] == ["ルール1件", "ルール1,200件"]
    inside = Message("{errors}, {remarks}", errors=one, remarks=many)
    assert inside == "1 rule, 1,200 rules"
    assert Words("ja").said(inside) == "ルール1件、ルール1,200件"


@each_translation
@pytest.mark.parametrize("command", ["show bfloat16-unsupported", "stats", "list --category wrapper"])
def test_labels_are_translated_and_line_up(
    command: str, language: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    english = printed(capsys, monkeypatch, "en", "rules", *command.split())
    here = printed(capsys, monkeypatch, language, "rules", *command.split())
    labels = re.compile(r"^(?:id|category|role|severity|phase|related|conditions|printed by|languages|fixtures)\b")
    assert not [row for row in here if labels.search(row) and row.split()[0] not in wordings(language).values()]
    assert not [row for row in here if re.match(r"  (?:scope|versions|raised in|sample) ", row)]
    if command != "list --category wrapper":
        assert sum(row in here for row in english) < len(english) / 2
    columns = {_column(row) for row in here if re.match(r"\S.*  \S", row)}
    assert len(columns) <= 1


def _column(row: str) -> int:
    """The cell at which the value begins."""
    found = re.match(r"(.*?\S {2,})\S", row)
    return cell_len(found[1]) if found else 0


@each_translation
def test_drift_is_translated_and_fits(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Folder(tmp_path).write()
    for unwanted in (folder / "taxonomy.tsv", folder / "facts" / "names.yaml"):
        unwanted.unlink()
    path = table(tmp_path, row("the length ({n}) does not fit", "0.6.0", "0.7.0", "vllm/config.py"))
    rows = printed(capsys, monkeypatch, language, "rules", "drift", "--vllm", str(path), "--rules", str(folder))
    assert not [row for row in rows if english_runs(row)]
    assert not [row for row in rows if cell_len(row) > 80]
    table_rows = [row for row in rows if len(re.split(r" {2,}", row.strip())) == 5]
    assert len(table_rows) > 10
    assert len({cell_len(row) for row in table_rows}) == 1


@each_translation
def test_a_language_can_be_asked_for(language: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rules", "show", "bfloat16-unsupported", "--lang", language]) == 0
    assert {"vi": "mức độ", "ja": "重大度"}[language] in capsys.readouterr().out


def test_comments_of_changes_are_read_from_the_rules(tmp_path: Path) -> None:
    text = "fixes:\n  - changes:\n      python: |-\n        a()  # first this\n        # then that\n        b('# no')\n      shell: ['x  # of a shell']\n    text: '# not of changes'\n"
    path = tmp_path / "rule.yaml"
    path.write_text(text, encoding="utf-8")
    with path.open("rb") as file:
        assert [found for _, _, found, _ in extracted(file, (), (), {})] == ["first this", "then that"]
