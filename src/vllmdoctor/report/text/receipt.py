"""A memory receipt in, a stacked bar with a legend on the terminal out; letters, not colours, tell the parts apart."""

from __future__ import annotations

from collections.abc import Mapping

from rich.cells import cell_len
from rich.text import Text

from vllmdoctor.memory.advice import Advice
from vllmdoctor.memory.picture import Picture, cells, picture_of
from vllmdoctor.memory.receipt import (
    ACTIVATION,
    CUDA_GRAPHS,
    DEFICIT,
    KV_AVAILABLE,
    NON_TORCH,
    OTHERS,
    TOTAL,
    WEIGHTS,
    Receipt,
)
from vllmdoctor.report import words as w
from vllmdoctor.report.receipt_rows import (
    LETTERS,
    Place,
    Row,
    missing_rows,
    part_rows,
    shown_gib,
    utilization_words,
)
from vllmdoctor.report.text.page import Page
from vllmdoctor.report.words import Words

_STYLES: Mapping[str, str] = {
    WEIGHTS: "blue",
    ACTIVATION: "magenta",
    NON_TORCH: "cyan",
    CUDA_GRAPHS: "yellow",
    KV_AVAILABLE: "green",
    OTHERS: "red",
}
_WIDEST_BAR = 72
_INDENT = 2
_LABEL_WIDTH = 26


def write_receipt(page: Page, words: Words, receipt: Receipt, place: Place, advice: Advice | None = None) -> None:
    """The bar, the end of the budget below it, a row for each part; nothing when too little is known.

    `place` tells where a line was read, "" when it was not.
    """
    picture = picture_of(receipt)
    if picture is None:
        return
    width = min(page.width - 2 * _INDENT, _WIDEST_BAR)
    total = words(w.RECEIPT_OF_GPU, total=shown_gib(receipt.gib(TOTAL) or 0.0))
    page.line(Text("  ").append(words(w.RECEIPT), "bold").append(f"  {total}"))
    page.line(Text(" " * _INDENT).append_text(bar(picture, width)))
    if picture.budget_gib is not None:
        page.line(Text(" " * _INDENT).append_text(budget_mark(picture, width, words)))
    for row in part_rows(picture, receipt, words, place):
        letter = Text("  ").append(LETTERS[row.name], _STYLES.get(row.name, "bold")).append("  ")
        page.cut_line(_columns(letter, row, row.note(words)))
    for row in missing_rows(receipt, words, place):
        page.cut_line(_columns(Text("     "), row, row.note(words), "bold" if row.name == DEFICIT else ""))
    if advice and receipt.line(DEFICIT).known:
        for text in utilization_words(advice.utilization, words):
            page.hanging(Text("     "), Text(text), 5)
    page.line()


def bar(picture: Picture, width: int) -> Text:
    """Exactly `width` letters."""
    drawn = Text()
    for segment, count in zip(picture.segments, cells(picture, width), strict=True):
        drawn.append(LETTERS[segment.name] * count, _STYLES.get(segment.name, ""))
    return drawn


def budget_mark(picture: Picture, width: int, words: Words) -> Text:
    """A mark under the last cell of the budget, with its size on the side that has room."""
    budget = picture.budget_gib or 0.0
    label = words(w.RECEIPT_BUDGET, gib=shown_gib(budget))
    column = max(0, min(width, round(budget / picture.length_gib * width)) - 1)
    room = column - cell_len(label) - 1
    if room >= 0:
        return Text(" " * room + f"{label} ^")
    return Text(" " * column + f"^ {label}")


def _columns(start: Text, row: Row, note: str, style: str = "") -> Text:
    label = Text(row.label, style)
    start.append_text(label).append(" " * max(1, _LABEL_WIDTH - label.cell_len))
    start.append(f"{row.gib:8.2f} GiB", style)
    return start.append(f"  {note}") if note else start
