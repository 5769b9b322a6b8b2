"""Every rule in three languages, with all facts known and with none: the same numbers, commands and directions."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache

import pytest

from tests.i18n.rendering import CODE, NUMBER, Shown, catalogue_in, commands_of, prose, renderings, texts_of
from vllmdoctor.report.rendering import Rendering
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


ENGLISH_WORDS = frozenset(
    "the a an of is are was were be been to and or with without for that this these those not no from in on at by it "
    "its has have had does do can cannot may must should when which what where how if then than more less most only "
    "into out up down all any each every other another use uses used set give gives".split()
)
# Runs of English words that are names, not sentences.
NAMES = ("out of memory", "is too old")


def english_runs(text: str) -> list[str]:
    """Four English words or more in a row, two of which are no names."""
    plain = re.sub(r"“[^”]*”|\"[^\"]*\"|「[^」]*」|\([^()]*\)|<[^<>]*>", " | ", prose(text))
    runs = re.findall(r"[A-Za-z'-]+(?: [A-Za-z'-]+){3,}", plain)
    return [run for run in runs if sum(word.lower() in ENGLISH_WORDS for word in run.split()) >= 2 and run not in NAMES]


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_no_english_sentence_is_left(language: str) -> None:
    found = {place: runs for place, text in all_texts(language, UNKNOWN).items() if (runs := english_runs(text))}
    assert not found


def test_english_sentences_are_noticed() -> None:
    texts = all_texts("en", UNKNOWN).values()
    long = [text for text in texts if len(prose(text).split()) >= 12]
    assert sum(bool(english_runs(text)) for text in long) > 0.9 * len(long)


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


UP = {
    "en": r"\b(?:rais\w+|increas\w+|enlarg\w+|lengthen\w*|longer|larger|higher|bigger)\b",
    "vi": r"\btăng\b|nâng|\bnới\b|dài hơn|lớn hơn|cao hơn|kéo dài|mở rộng",
    "ja": r"上げ|増や|増え|増加|大き|高[くめい]|延ば|伸ば|長[くい]|引き上げ|広げ|拡大|延長",
}
DOWN = {
    "en": r"\b(?:lower\w*|reduc\w+|decreas\w+|shrink\w*|shorten\w*|shorter|smaller|fewer)\b",
    "vi": r"giảm|\bhạ\b|\bbớt\b|thu nhỏ|nhỏ hơn|ngắn hơn|thấp hơn|ít hơn|rút ngắn",
    "ja": r"下げ|減ら|減る|減り|減少|小さ|低[くめい]|短[くい]|短縮|少な|縮|下が",
}


def direction(text: str, language: str) -> set[str]:
    low = unicodedata.normalize("NFC", text).lower()
    found = {name for name, words in (("up", UP), ("down", DOWN)) if re.search(words[language], low)}
    return found


@pytest.mark.parametrize("language", ["en", *TRANSLATIONS])
def test_remedies_say_the_direction_in_which_they_turn(language: str) -> None:
    remedies = catalogue_in(language).remedies
    both = _setting(language)[1]
    turned = [remedy for remedy in remedies.values() if remedy.direction]
    assert len(turned) > 10
    for remedy in turned:
        other = {"up": "down", "down": "up"}[remedy.direction]
        for rendering in both:
            said = direction(rendering.text(remedy.title), language)
            assert other not in said, f"{remedy.id}: {rendering.text(remedy.title)}"


@STATES
@pytest.mark.parametrize("language", TRANSLATIONS)
def test_titles_turn_the_same_way_as_in_english(language: str, state: int) -> None:
    """Of titles with one direction in them; a longer text may name several."""
    english = all_texts("en", state)
    texts = all_texts(language, state)
    titles = [place for place in english if place[1].endswith("title")]
    swapped = {}
    for place in titles:
        wanted, said = direction(english[place], "en"), direction(texts[place], language)
        if len(wanted) == 1 and said and not wanted & said:
            swapped[place] = (english[place], texts[place])
    assert not swapped


def test_a_swapped_direction_is_noticed() -> None:
    assert direction("Raise `--max-model-len`", "en") == {"up"}
    assert direction("Giảm --max-model-len", "vi") == {"down"}
    assert direction("コンテキスト長を下げる", "ja") == {"down"}
    assert Shown("title", "x").place == "title"
