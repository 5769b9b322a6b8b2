"""Translations: texts replaced, English kept where there are none, and a digest that notices changes of English."""

from __future__ import annotations

from tests.rules.helpers import RULE
from vllmdoctor.rules.translate import digest_of, english_texts, translated


def test_english_texts_hold_all_that_readers_see() -> None:
    texts = english_texts(RULE)
    assert set(texts) == {"title", "summary", "first_check", "causes", "does_not_help", "verify"}
    assert texts["causes"] == {"default-length": {"title": "The default length"}}
    assert "log" not in texts["verify"]["size"]  # log lines are the same in every language


def test_the_digest_follows_texts_only() -> None:
    digest = digest_of(RULE)
    assert len(digest) == 12
    assert digest_of({**RULE, "severity": "degraded", "related": ["x"]}) == digest
    assert digest_of({**RULE, "summary": "Another text."}) != digest
    assert digest_of({**RULE, "causes": [{**RULE["causes"][0], "title": "Other"}]}) != digest


def test_the_digest_ignores_the_order_of_keys() -> None:
    assert digest_of(dict(reversed(list(RULE.items())))) == digest_of(RULE)


def test_translated_texts_replace_english_ones() -> None:
    words = {"title": "Không đủ chỗ", "causes": {"default-length": {"title": "Mặc định"}}, "fixes": {}}
    result = translated(RULE, words)
    assert result["title"] == "Không đủ chỗ"
    assert result["causes"][0] == {"id": "default-length", "title": "Mặc định", "when": "max_model_len > 1024"}
    assert result["summary"] == RULE["summary"]
    assert result["signatures"] == RULE["signatures"]
    assert RULE["title"] != "Không đủ chỗ"
