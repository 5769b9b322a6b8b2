"""Literals of a pattern: whatever it matches holds one of each set."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vllmdoctor.rules.literals import MIN_LENGTH, LiteralSets, raw_literals, required_literals


@pytest.mark.parametrize(
    "pattern, expected",
    [
        ("No available memory", (("No available memory",),)),
        (r"max seq len \((\d+)\) is larger", (("max seq len (",), (") is larger",))),
        ("(?:total|free) memory", (("memory",), ("free", "total"))),
        ("(?:alpha|bravo)", (("alpha", "bravo"),)),
        ("begin(?:ning)? x", (("begin",),)),
        ("(?:word ){2}", (("word",),)),
        ("(?:word )*", ()),
        (r"a\d+b", ()),
        ("(?:long text|ab)", ()),  # ab is too short to look for
        ("dot[.]join", (("dot.join",),)),
        ("(?=lookahead)x", ()),
        ("(?i)letters", ()),  # LETTERS would match too
        ("(?i:letters) exact", (("exact",),)),
        ("keep (?P<name>this) together", (("keep this together",),)),
        (r"first part\d+second\d+third one", (("first part",), ("third one",))),  # the two longest
    ],
)
def test_required_literals(pattern: str, expected: object) -> None:
    assert required_literals(pattern) == expected


_ATOMS = st.sampled_from(["abcd", "wxyz ", "e", "[fg]", r"\d", ".", "(?:hijk|lmno)", "(?:pqrs)?", "t+", "(?P<n>uvwx)?"])
_SEQUENCES = st.lists(_ATOMS, min_size=1, max_size=5).map("".join).filter(lambda p: p.count("?P<n>") < 2)
PATTERNS = st.one_of(_SEQUENCES, st.tuples(_SEQUENCES, _SEQUENCES).map("|".join)).filter(lambda p: p.count("?P<n>") < 2)


@settings(max_examples=150)
@given(st.data())
def test_a_matching_text_has_one_literal_of_each_set(data: st.DataObject) -> None:
    pattern = data.draw(PATTERNS)
    text = data.draw(st.from_regex(re.compile(pattern)))
    for group in required_literals(pattern):
        assert any(literal in text for literal in group)
        assert all(len(literal) >= MIN_LENGTH for literal in group)


@settings(max_examples=150)
@given(st.data())
def test_a_matching_text_has_one_raw_literal(data: st.DataObject) -> None:
    pattern = data.draw(PATTERNS)
    text = data.draw(st.from_regex(re.compile(pattern)))
    literals = raw_literals(required_literals(pattern), common="the fghi of a healthy wxyz line")
    assert not literals or any(literal in text for literal in literals)
    assert "wxyz" not in literals


@pytest.mark.parametrize(
    "sets, expected",
    [
        ((("plain words",),), ("plain words",)),
        ((('model "name" missing',),), ("missing",)),  # JSON escapes quotes
        ((("a < b in html",),), ("b in html",)),
        ((("short",), ("the longer one",)), ("the longer one",)),  # one set is enough
        ((("don't",),), ()),
        ((("whole text", "it's"),), ()),  # a set is of use only with all its members
        ((("GET /health",), ("broken",)), ("broken",)),  # healthy servers print the first
        ((), ()),
    ],
)
def test_raw_literals_survive_escaping_and_are_rare(sets: LiteralSets, expected: tuple[str, ...]) -> None:
    assert raw_literals(sets, common='"GET /health HTTP/1.1" 200 OK') == expected
