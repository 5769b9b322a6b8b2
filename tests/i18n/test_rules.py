"""Every rule in three languages, with all facts known and with none: the same numbers and commands, no English left."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache

import pytest

from tests.i18n.english import english_left, english_runs
from tests.i18n.rendering import CODE, NUMBER, catalogue_in, commands_of, comments_of, prose, renderings, texts_of
from vllmdoctor.report import words as w
from vllmdoctor.report.build_fixes import fix_report
from vllmdoctor.report.rendering import Rendering
from vllmdoctor.report.words import Words
from vllmdoctor.rules.model import Rule

TRANSLATIONS = ("vi", "ja")
KNOWN, UNKNOWN = 0, 1


@cache
def _setting(language: str) -> tuple[dict[str, Rule], tuple[Rendering, Rendering]]:
    catalogue = catalogue_in(language)
    return dict(catalogue.rules), renderings(catalogue)


@cache
def all_texts(language: str, state: int) -> dict[tuple[str, str], str]:
    """(rule, place) → text."""
    rules, both = _setting(language)
    return {(rule.id, one.place): one.text for rule in rules.values() for one in texts_of(rule, both[state])}


STATES = pytest.mark.parametrize("state", [KNOWN, UNKNOWN], ids=["all known", "nothing known"])


def test_languages_have_the_same_texts() -> None:
    english = all_texts("en", UNKNOWN)
    assert len(english) > 1000
    for language in TRANSLATIONS:
        assert all_texts(language, UNKNOWN).keys() == english.keys()


@STATES
@pytest.mark.parametrize("language", ["en", *TRANSLATIONS])
def test_no_placeholder_is_left(language: str, state: int) -> None:
    left = re.compile(r"\{[a-z_][a-z0-9_]*(?::\w+)?(?:\|[^{}]*)?\}|\bUNKNOWN\b|\{\{|\}\}")
    found = {place: text for place, text in all_texts(language, state).items() if left.search(prose(text))}
    assert not found


@STATES
@pytest.mark.parametrize("language", TRANSLATIONS)
def test_texts_are_composed(language: str, state: int) -> None:
    assert not [t for t in all_texts(language, state).values() if t != unicodedata.normalize("NFC", t)]


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_no_english_sentence_is_left(language: str) -> None:
    found = {place: runs for place, text in all_texts(language, UNKNOWN).items() if (runs := english_runs(text))}
    assert not found


@STATES
@pytest.mark.parametrize("language", TRANSLATIONS)
def test_no_sentence_of_the_english_text_is_left(language: str, state: int) -> None:
    english, texts = all_texts("en", state), all_texts(language, state)
    assert not {place: left for place in english if (left := english_left(texts[place], english[place]))}


def test_english_sentences_are_noticed() -> None:
    texts = all_texts("en", UNKNOWN).values()
    long = [text for text in texts if len(prose(text).split()) >= 12]
    assert sum(bool(english_runs(text)) for text in long) > 0.9 * len(long)
    assert all(english_left(text, text) for text in texts if re.search(r"[a-z]{2,}", prose(text)))
    assert english_left("値を下げます。 Then start again with it.", "Lower it. Then start again with it.")


# A count that English writes as a word: "one request" is 1件 in Japanese; "both ranks" 両方 or 2つ.
COUNT_WORDS = {
    "0": r"\b(?:zero|no|none|without)\b",
    "1": r"\b(?:one|once|a|an|single|each|every|per|first|the same|none)\b",
    "2": r"\b(?:two|twice|both|second|double|half|halves|pair|more than one)\b",
    "3": r"\b(?:three|third)\b",
    "4": r"\b(?:four|quarter|quarters)\b",
    "5": r"\bfive\b",
    "6": r"\bsix\b",
    "7": r"\bseven\b",
    "8": r"\beight\b",
    "10": r"\bbillion\b",
}
# Where a translator had to count what English does not.
COUNTED = {
    "bfloat16-unsupported fixes.1.use-float32.cost": "1",  # several times slower: 数分の1
    "model-dtype-unsupported fixes.2.use-float32.cost": "1",
    "cuda-oom-profiling causes.sampler-warm-up.text": "2",  # once before … and once after: 2回
    "max-num-batched-tokens-too-small causes.draft-tokens.title": "1",  # the step: 1ステップ
}


def numbers(text: str) -> Counter[str]:
    plain = CODE.sub(" ", text)
    return Counter(found.rstrip(".,").replace(",", "") for found in NUMBER.findall(plain))


def number_faults(text: str, english: str) -> list[str]:
    here, there = numbers(text), numbers(english)
    lost = list(there - here)
    added = [
        number
        for number in (here - there)
        if number not in there
        and not (number in COUNT_WORDS and re.search(COUNT_WORDS[number], english, re.IGNORECASE))
    ]
    return [f"lost {number}" for number in lost] + [f"added {number}" for number in added]


@STATES
@pytest.mark.parametrize("language", TRANSLATIONS)
def test_numbers_are_the_same(language: str, state: int) -> None:
    english = all_texts("en", state)
    texts = all_texts(language, state)
    found = {
        place: faults
        for place in english
        if (faults := number_faults(texts[place], english[place]))
        and faults != [f"added {COUNTED.get(' '.join(place))}"]
    }
    assert not found


def test_a_changed_number_is_noticed() -> None:
    assert number_faults("16.00 GiB のKVキャッシュ", "16.00 GiB of KV cache") == []
    assert number_faults("1件のリクエスト", "one request") == []
    assert number_faults("15.00 GiB", "16.00 GiB") == ["lost 16.00", "added 15.00"]
    assert number_faults("3つ", "two") == ["added 3"]


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_inline_code_is_the_same(language: str) -> None:
    """With all facts known: a fallback for an unknown one may stand in code, and is a word."""
    english, texts = all_texts("en", KNOWN), all_texts(language, KNOWN)
    assert not [p for p in english if Counter(CODE.findall(texts[p])) != Counter(CODE.findall(english[p]))]


@STATES
@pytest.mark.parametrize("language", TRANSLATIONS)
def test_commands_are_the_same(language: str, state: int) -> None:
    english, (english_rules, translated_rules) = _setting("en")[1][state], (_setting("en")[0], _setting(language)[0])
    rendering = _setting(language)[1][state]
    for name, rule in english_rules.items():
        assert commands_of(translated_rules[name], rendering) == commands_of(rule, english), name


@STATES
@pytest.mark.parametrize("language", TRANSLATIONS)
def test_comments_in_commands_are_translated(language: str, state: int) -> None:
    """`# without --dtype`: the same options, other words."""
    here, there = _setting(language), _setting("en")
    options = re.compile(r"--[a-z-]+|[a-z]+(?:_[a-z]+)+|`[^`]+`")
    seen = 0
    for name, rule in there[0].items():
        comments = zip(comments_of(here[0][name], here[1][state]), comments_of(rule, there[1][state]), strict=True)
        for comment, english in comments:
            seen += 1
            assert comment != english, name
            assert options.findall(comment) == options.findall(english), name
            assert not re.search(r"\b(?:without|plus|before|the|and|after)\b", comment), name
    assert seen > 50


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_estimates_are_called_so_in_every_language(language: str) -> None:
    """A computed number in an effect is marked, unless the text calls it an estimate in its own words."""
    marks = {name: Words(name)(w.ESTIMATE).strip() for name in ("en", language)}
    effects = [place for place in all_texts("en", KNOWN) if place[1].endswith(".effect")]
    marked = {place: [_effect(place, name).endswith(mark) for name, mark in marks.items()] for place in effects}
    assert sum(english for english, _ in marked.values()) > 5
    assert not [place for place, (english, here) in marked.items() if english != here]


def _effect(place: tuple[str, str], language: str) -> str:
    rules, both = _setting(language)
    number = int(place[1].split(".")[1])
    return fix_report(rules[place[0]].fixes[number], 1, both[KNOWN]).effect
