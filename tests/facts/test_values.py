"""Texts become typed values in the declared unit, or nothing; never a wrong number."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllmdoctor.facts.model import Scalar
from vllmdoctor.facts.values import typed_value

from .helpers import name


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        ("integer", "75,152", 75152),
        ("integer", "2,097,152", 2097152),
        ("integer", "131_072", 131072),
        ("integer", "-344", -344),
        ("number", "-1.05", -1.05),
        ("number", "0.9", 0.9),
        ("number", "79.19.", 79.19),  # the full stop of the sentence
        ("number", "3;", 3.0),
        ("text", " Tesla T4 ", "Tesla T4"),
        ("list", "['a', 'b']", "['a', 'b']"),
        ("flag", "True", True),
        ("flag", "on", True),
        ("flag", "0", False),
        ("flag", "no", False),
    ],
)
def test_a_text_of_its_type(type_: str, text: str, value: Scalar) -> None:
    found = typed_value(name(type_), text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        ("integer", ""),
        ("integer", "None"),
        ("integer", "many"),
        ("integer", "0x10"),
        ("number", "1.2.3"),
        ("number", "--1"),
        ("flag", "maybe"),
        ("flag", "2"),
        ("text", "None"),
        ("text", "   "),
    ],
)
def test_a_text_that_holds_no_value(type_: str, text: str) -> None:
    assert typed_value(name(type_), text) is None


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e400", "Infinity"])
@pytest.mark.parametrize("type_", ["number", "integer"])
def test_what_python_calls_a_float_but_no_log_means(type_: str, text: str) -> None:
    assert typed_value(name(type_), text) is None


@pytest.mark.parametrize(
    ("text", "unit", "into", "value"),
    [
        ("512", "MiB", "GiB", 0.5),
        ("512", "MB", "GiB", 0.5),  # torch and vLLM print binary sizes under both names
        ("755.50", "KiB", "GiB", 0.0007),
        ("1.5", "TiB", "GiB", 1536.0),
        ("1073741824", "bytes", "GiB", 1.0),
        ("1073741824", "B", "GiB", 1.0),
        ("64", "M", "MiB", 64.0),
        ("2", "G", "MiB", 2048.0),
        ("2", "GiB", "bytes", 2147483648.0),
        ("7", "G", "tokens", 7.0),  # only sizes are scaled
    ],
)
def test_sizes_are_scaled_to_the_declared_unit(text: str, unit: str, into: str, value: float) -> None:
    assert typed_value(name("number", into), text, unit) == pytest.approx(value, abs=5e-5)


@given(st.integers(-(10**15), 10**15))
def test_thousands_commas_change_nothing(number: int) -> None:
    assert typed_value(name("integer"), f"{number:,}") == number


@given(st.text(max_size=40), st.text(max_size=8), st.sampled_from(["number", "integer", "flag", "text", "list"]))
def test_no_text_breaks_it(text: str, unit: str, type_: str) -> None:
    value = typed_value(name(type_, "GiB"), text, unit)
    assert value is None or isinstance(value, str | bool | int) or math.isfinite(value)
