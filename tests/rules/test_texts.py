"""Texts with placeholders: wordings for known and unknown facts, fallbacks, formats."""

from __future__ import annotations

import pytest

from tests.rules.helpers import lookup_of
from vllmdoctor.errors import ExpressionError
from vllmdoctor.rules.texts import EMPTY, format_value, parse_template, parse_text

UNITS = {"free": "GiB", "length": "tokens", "small": "MiB", "name": "", "share": ""}


def rendered(text: object, **facts: object) -> str:
    return parse_text(text).render(lookup_of(facts), lambda name: UNITS.get(name, ""))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("{free|?}", "2.50 GiB"),  # by the fact's unit
        ("{length|?}", "32,768"),
        ("{small|?}", "300 MiB"),
        ("{name|?}", "Llama"),
        ("{length:raw|?}", "32768"),
        ("{share:pct|?}", "92 %"),
        ("{share:raw|?}", "0.92"),
        ("{free * 2:gib|?}", "5.00 GiB"),
        ("{length / 2|?}", "16,384"),  # computed, so of no unit
        ("{share / 3|?}", "0.31"),
        ("{{literal}} {name|?}", "{literal} Llama"),
        ("{missing|the model}", "the model"),
        ("{missing|}", ""),
    ],
)
def test_placeholders(text: str, expected: str) -> None:
    assert rendered(text, free=2.5, length=32768, small=300.2, name="Llama", share=0.92) == expected


def test_the_known_wording_needs_all_its_facts() -> None:
    text = {"known": "{length} of {free}", "unknown": "some of {free|it}"}
    assert rendered(text, length=16, free=1.0) == "16 of 1.00 GiB"
    assert rendered(text, free=1.0) == "some of 1.00 GiB"
    assert rendered(text) == "some of it"


@pytest.mark.parametrize("text", ["needs {length}", {"known": "{a}", "unknown": "{a}"}])
def test_a_text_that_may_have_no_wording_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="fallback"):
        parse_text(text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", [{"known": "a"}, {"known": "a", "unknown": "b", "more": "c"}, {"known": 5, "unknown": "b"}]
)
def test_a_pair_is_two_texts(text: object) -> None:
    with pytest.raises(ValueError, match="pair"):
        parse_text(text)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["a { b", "a } b", "{a:nonsense|x}", "{a +|x}", "{|x}", "{}"])
def test_bad_placeholders(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse_template(text)


def test_a_template_names_its_facts() -> None:
    assert parse_template("{a} and {b + c:gib|x} and {{d}}").facts() == {"a", "b", "c"}


@pytest.mark.parametrize(
    "value, form, expected",
    [
        (True, "raw", "true"),
        ((0, 9, 1), "raw", "0.9.1"),
        (12.0, "num", "12"),
        (1234567, "num", "1,234,567"),
        (0.5, "raw", "0.5"),
        (1.0, "raw", "1"),
        ("text", "gib", "text"),
        (-1.05, "gib", "-1.05 GiB"),
    ],
)
def test_formats(value: object, form: str, expected: str) -> None:
    assert format_value(value, form) == expected  # type: ignore[arg-type]


def test_an_absent_text_is_empty() -> None:
    assert EMPTY.render(lookup_of({}), lambda name: "") == ""
