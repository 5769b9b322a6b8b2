"""Both searches for literals give every occurrence, and the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vllmdoctor.intake.literals import LiteralFinder, accelerator_wanted

pytest.importorskip("ahocorasick_rs")

# A small alphabet makes literals overlap and contain each other.
few_bytes = st.text(alphabet="ab\n", max_size=300).map(str.encode)
few_literals = st.lists(st.text(alphabet="ab", min_size=1, max_size=5).map(str.encode), max_size=8)


def occurrences(block: bytes, literals: list[bytes]) -> set[tuple[int, int]]:
    return {
        (index, match.start())
        for index, literal in enumerate(literals)
        for match in re.finditer(b"(?=" + re.escape(literal) + b")", block)
    }


@settings(max_examples=150, deadline=None)
@given(few_bytes, few_literals)
def test_both_searches_find_every_occurrence_in_order(block: bytes, literals: list[bytes]) -> None:
    fast = list(LiteralFinder(literals, use_accelerator=True).find(block))
    slow = list(LiteralFinder(literals, use_accelerator=False).find(block))
    assert fast == slow
    assert set(slow) == occurrences(block, literals)
    assert len(slow) == len(set(slow))
    assert [offset for _, offset in slow] == sorted(offset for _, offset in slow)


@pytest.mark.parametrize("use_accelerator", [True, False])
@pytest.mark.parametrize("shift", [-9, -8, -5, -1, 0, 1])
def test_a_literal_across_the_border_of_two_slices_is_found_once(use_accelerator: bool, shift: int) -> None:
    place = (1 << 16) + shift
    block = b"." * place + b"CUDA OOM" + b"." * 70_000
    finder = LiteralFinder([b"CUDA OOM", b"OOM."], use_accelerator=use_accelerator)
    assert list(finder.find(block)) == [(0, place), (1, place + 5)]


def test_the_answers_stay_the_same_when_the_automaton_is_rebuilt_for_large_inputs() -> None:
    finder = LiteralFinder([b"needle"], use_accelerator=True)
    block = b"needle" + b"x" * (1 << 20)
    assert [list(finder.find(block)) for _ in range(6)] == [[(0, 0)]] * 6


def test_an_empty_literal_is_refused() -> None:
    with pytest.raises(ValueError, match="empty literal"):
        LiteralFinder([b"good", b""])


def test_the_environment_switches_the_accelerator_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLMDOCTOR_PURE", raising=False)
    assert accelerator_wanted()
    monkeypatch.setenv("VLLMDOCTOR_PURE", "1")
    assert not accelerator_wanted()
    assert not LiteralFinder([b"abcd"]).accelerated


def test_no_literals_find_nothing() -> None:
    assert list(LiteralFinder([]).find(b"text")) == []
