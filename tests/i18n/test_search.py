"""`explain` with words of a language: accents, composition and width make no difference."""

from __future__ import annotations

import unicodedata

import pytest

from vllmdoctor.cli.app import run
from vllmdoctor.cli.search import clear_answer, folded, rules_about, terms

RULE = "shm-too-small"
VIETNAMESE = "bộ nhớ chia sẻ của container quá nhỏ"
UNACCENTED = "bo nho chia se cua container qua nho"


@pytest.mark.parametrize(
    "query",
    [
        VIETNAMESE,
        UNACCENTED,
        UNACCENTED.upper(),
        unicodedata.normalize("NFD", VIETNAMESE),
        "共有メモリが小さすぎる",
        "共有ﾒﾓﾘが小さすぎる",
        unicodedata.normalize("NFD", "共有メモリが小さすぎる"),
        "shared memory is too small",
        "ｓｈａｒｅｄ　ｍｅｍｏｒｙ too small",
    ],
)
def test_a_rule_is_found_by_its_words(query: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert rules_about(query, [])[0].rule == RULE
    assert run(["explain", query, "--lang", "en"]) == 0
    assert RULE in capsys.readouterr().out


def test_folding() -> None:
    assert folded("Đường dẫn KHÔNG ghi được") == "duong dan khong ghi duoc"
    assert folded("ｷｬｯｼｭ") == folded("キャッシュ") == "キャッシュ"
    assert folded("が") != folded("か")


def test_terms() -> None:
    assert terms("KV cache đầy") == {"kv", "cache", "day", "kv cache", "cache day"}
    assert terms("共有メモリ") == {"共有", "有メ", "メモ", "モリ"}
    assert terms("。、!") == set()


def test_what_nobody_wrote_finds_nothing() -> None:
    assert rules_about("the quick brown fox jumps over the lazy dog", []) == []
    assert rules_about("", []) == []


def test_one_word_is_no_clear_question(capsys: pytest.CaptureFixture[str]) -> None:
    hits = rules_about("driver", [])
    assert clear_answer("driver", hits) is None


def test_several_rules_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "hết bộ nhớ GPU", "--lang", "vi"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Nhiều quy tắc liên quan đến nội dung này")
    assert "cuda-oom" in shown


def test_an_error_is_no_question(capsys: pytest.CaptureFixture[str]) -> None:
    """What looks like an error's line is not answered with a rule that shares its words."""
    assert run(["explain", "FrobnicateError: shared memory container too small", "--lang", "en"]) == 3
    assert "No rule knows" in capsys.readouterr().out
