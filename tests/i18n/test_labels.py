"""Labels that stand in columns: short enough in every language, measured in cells."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from vllmdoctor.languages import LANGUAGES
from vllmdoctor.report import words as w
from vllmdoctor.report.text.layout import label_width
from vllmdoctor.report.text.receipt import _LABEL_WIDTH
from vllmdoctor.report.words import Words

PLAN_ROWS = (w.KV_TOKENS, w.LONGEST_CONTEXT, w.KV_PER_TOKEN, w.ESTIMATE_OF)
PLAN_ROW_CELLS, BOUND_CELLS = 32, 12


@pytest.mark.parametrize("language", LANGUAGES)
def test_labels_beside_texts_leave_room(language: str) -> None:
    assert label_width(Words(language)) <= 20


@pytest.mark.parametrize("language", LANGUAGES)
def test_rows_of_the_receipt(language: str) -> None:
    words = Words(language)
    labels = [*w.RECEIPT_PARTS.values(), w.RECEIPT_NEEDED, w.RECEIPT_MISSING]
    assert not [label for label in map(words, labels) if cell_len(label) >= _LABEL_WIDTH]


@pytest.mark.parametrize("language", LANGUAGES)
def test_rows_of_a_plan(language: str) -> None:
    words = Words(language)
    rows = [*map(words, PLAN_ROWS), words(w.CONCURRENCY, tokens="1,048,576")]
    assert not [row for row in rows if cell_len(row) >= PLAN_ROW_CELLS]
    assert not [word for word in map(words, (w.LOW, w.BEST, w.HIGH)) if cell_len(word) >= BOUND_CELLS]
