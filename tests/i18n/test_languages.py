"""Which language is spoken: option, variables, English; and that help and errors are in it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.i18n.rendering import without_comments
from vllmdoctor.cli.app import run
from vllmdoctor.errors import ExpressionError, InputError, RuleError, UsageError
from vllmdoctor.languages import Message, language_from, language_of
from vllmdoctor.report.words import Words

VARIABLES = ("VLLMDOCTOR_LANG", "LC_ALL", "LC_MESSAGES", "LANG")


@pytest.fixture(autouse=True)
def no_language(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    "environment, language",
    [
        ({}, "en"),
        ({"LANG": "vi_VN.UTF-8"}, "vi"),
        ({"LANG": "ja_JP.eucJP", "LC_MESSAGES": "vi_VN"}, "vi"),
        ({"LC_ALL": "ja_JP.UTF-8", "LC_MESSAGES": "vi_VN", "LANG": "en_US.UTF-8"}, "ja"),
        ({"VLLMDOCTOR_LANG": "vi", "LC_ALL": "ja_JP.UTF-8"}, "vi"),
        ({"VLLMDOCTOR_LANG": "klingon", "LANG": "ja_JP.UTF-8"}, "ja"),
        ({"VLLMDOCTOR_LANG": "", "LANG": "de_DE.UTF-8"}, "en"),
        ({"LC_ALL": "C.UTF-8", "LANG": "ja_JP.UTF-8"}, "en"),
        ({"LC_ALL": "POSIX", "LANG": "ja_JP.UTF-8"}, "en"),
    ],
)
def test_order_of_the_variables(environment: dict[str, str], language: str) -> None:
    assert language_from(environment) == language


@pytest.mark.parametrize(
    "name, language",
    [
        ("vi", "vi"),
        ("ja-JP", "ja"),
        ("JA", "ja"),
        ("en_GB@euro", "en"),
        ("C", "en"),
        ("fr_FR", None),
        ("", None),
        ("vietnam", None),
    ],
)
def test_names_of_languages(name: str, language: str | None) -> None:
    assert language_of(name) == language


def test_help_is_in_the_language_of_the_variables(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LANG", "vi_VN.UTF-8")
    assert run(["analyze", "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Cách dùng: vllmdoctor analyze")
    monkeypatch.setenv("VLLMDOCTOR_LANG", "ja")
    assert run(["--help"]) == 0
    assert "コマンド:" in capsys.readouterr().out


COMMANDS = ("", "analyze", "compare", "explain", "gpus", "plan", "rules", "rules list", "rules show", "rules check", "rules stamp", "rules drift", "rules new", "rules stats")  # fmt: skip


@pytest.mark.parametrize("language", ["vi", "ja"])
@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_translated_and_lines_up(
    command: str, language: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rich.cells import cell_len

    monkeypatch.setenv("VLLMDOCTOR_LANG", language)
    assert run([*command.split(), "--help"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert not [row for row in rows if cell_len(row) > 80]
    assert not [row for row in rows if re.search(r"\b(?:the|Show|Usage|Options|default:|required)\b", row)]
    texts = [
        re.split(r" {2,}", row.strip(), maxsplit=1)[1]
        for row in rows
        if re.match(r"  (?:-|[a-z]+  )", row) and "  " in row.strip()
    ]
    assert (
        len(
            {
                cell_len(row) - cell_len(re.split(r" {2,}", row.strip(), maxsplit=1)[1])
                for row in rows
                if re.match(r"  -\S* ?\S*  ", row)
            }
        )
        <= 1
    )
    assert texts


def test_option_goes_before_the_variables(
    example: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VLLMDOCTOR_LANG", "vi")
    assert run(["analyze", example]) == 1
    assert "Cách khắc phục" in capsys.readouterr().out
    assert run(["analyze", example, "--lang", "ja"]) == 1
    assert "対処法" in capsys.readouterr().out
    assert run(["analyze", example, "--lang", "en"]) == 1
    assert "  Fixes" in capsys.readouterr().out


@pytest.fixture
def example(checkout: Path) -> str:
    return str(checkout / "examples" / "startup.log")


def test_an_unknown_language_is_an_error_of_the_option_only(
    example: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["analyze", example, "--lang", "xx"]) == 2
    assert "'en', 'vi', 'ja'" in capsys.readouterr().err
    monkeypatch.setenv("VLLMDOCTOR_LANG", "xx")
    assert run(["analyze", example]) == 1
    assert "  Fixes" in capsys.readouterr().out


def test_a_language_that_cannot_be_printed(example: str, checkout: Path) -> None:
    """Asked for by a variable it gives way to English; asked for by option Vietnamese is at least read without accents."""

    def printed(*options: str, **variables: str) -> str:
        env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(checkout / "src"),
            "PYTHONIOENCODING": "ascii",
            **variables,
        }
        command = [sys.executable, "-m", "vllmdoctor", "analyze", example, *options]
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False).stdout

    assert "  Fixes" in printed(VLLMDOCTOR_LANG="ja")
    assert "  Cach khac phuc" in printed("--lang", "vi")


def test_errors_are_in_the_language_of_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", "no-such.log", "--lang", "ja"]) == 2
    assert (
        capsys.readouterr().err
        == "エラー: no-such.log: ファイルがありません\nヒント: パスを確認してください。パイプから読むには - を使います。\n"
    )
    assert run(["analyze", "no-such.log"]) == 2
    assert capsys.readouterr().err.startswith("error: no-such.log: no such file")


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["analyze", "--no-such-option"], "Không có tham số: --no-such-option"),
        (["no-such-command"], "Không có lệnh: no-such-command"),
        (["explain"], "Thiếu: 'ID|MESSAGE'"),
        (["gpus", "a", "b"], "Quá nhiều đối số: b"),
        (["plan", "x", "--gpus", "two"], "'--gpus': two không phải là số nguyên"),
        (["plan", "x", "--gpu-memory-utilization", "all"], "'--gpu-memory-utilization': all không phải là số"),
        (["analyze", "--format", "xml"], "'--format': xml không thuộc 'text', 'json', 'markdown', 'github'"),
        (["analyze", "--format"], "Tham số --format cần một giá trị"),
    ],
)
def test_wrong_usage_in_vietnamese(
    arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VLLMDOCTOR_LANG", "vi")
    assert run(arguments) == 2
    shown = capsys.readouterr().err
    assert f"Lỗi: {said}" in shown
    assert "Error" not in shown


def test_json_has_the_same_names_in_every_language(example: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    documents = {}
    for language in ("en", "vi", "ja"):
        assert run(["analyze", example, "--format", "json", "--lang", language]) == 1
        documents[language] = json.loads(capfdbinary.readouterr().out)
    english = documents.pop("en")
    for language, document in documents.items():
        assert document["language"] == language
        assert document.keys() == english.keys()
        assert document["facts"] == english["facts"]
        for here, there in zip(document["findings"], english["findings"], strict=True):
            assert here["title"] != there["title"]
            assert (here["rule"], here["role"], here["phase"]) == (there["rule"], there["role"], there["phase"])
            assert here["evidence"] == there["evidence"]
            assert [_typed(fix) for fix in here["fixes"]] == [_typed(fix) for fix in there["fixes"]]


def _typed(fix: dict[str, Any]) -> dict[str, Any]:
    """A fix's commands without comments."""
    return {name: without_comments(form) if isinstance(form, str) else form for name, form in fix["commands"].items()}


def test_messages_know_their_values() -> None:
    inner = Message("cannot be read ({reason})", reason="EIO")
    outer = Message("{name}: skipped, {problem}", name="a.log", problem=inner)
    assert outer == "a.log: skipped, cannot be read (EIO)"
    assert Words("ja").said(outer) == "a.log: 飛ばしました（読めません（EIO））"
    assert Words("vi").said("no words of ours") == "no words of ours"
    assert Words("en").said(outer) == outer


def test_values_are_never_read_as_wordings() -> None:
    message = Message("{name}: skipped, {problem}", name="{problem} {0}", problem="no such file")
    assert message == "{problem} {0}: skipped, no such file"
    assert Words("vi").said(message) == "{problem} {0}: bỏ qua, no such file"


def test_errors_of_every_kind() -> None:
    words = Words("vi")
    problem, hint = Message("no such file"), Message("Unpack it first.")
    assert words.error(InputError("a.gz", problem, hint)) == ("a.gz: không có tệp này", "Hãy giải nén trước.")
    assert words.error(UsageError(Message("--{option} must be at least 1", option="gpus"))) == (
        "--gpus phải ít nhất là 1",
        "",
    )
    assert words.error(RuleError("a.yaml", Message("is not a list"), line=3, field="fixes")) == (
        "a.yaml:3 [fixes]: không phải là danh sách",
        "",
    )
    expression = ExpressionError("1 +", 4, Message("expected a value"))
    assert words.error(expression) == ("cột 4 của '1 +': cần một giá trị", "")
    assert str(expression) == "column 4 of '1 +': expected a value"
