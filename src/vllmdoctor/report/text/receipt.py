"""A memory receipt in, a stacked bar with a legend on the terminal out; letters, not colours, tell the parts apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rich.cells import cell_len
from rich.text import Text

from vllmdoctor.memory.advice import Advice, UtilizationInterval
from vllmdoctor.memory.picture import OUTSIDE, UNTOLD, Picture, Segment, cells, picture_of
from vllmdoctor.memory.receipt import (
    ACTIVATION,
    CUDA_GRAPHS,
    DEFICIT,
    KV_AVAILABLE,
    KV_NEEDED,
    NON_TORCH,
    OTHERS,
    TOTAL,
    WEIGHTS,
    Receipt,
    ReceiptLine,
)
from vllmdoctor.report import words as w
from vllmdoctor.report.text.page import Page
from vllmdoctor.report.words import Words

# letter, style
_LOOK: Mapping[str, tuple[str, str]] = {
    WEIGHTS: ("W", "blue"),
    ACTIVATION: ("A", "magenta"),
    NON_TORCH: ("N", "cyan"),
    CUDA_GRAPHS: ("G", "yellow"),
    UNTOLD: ("?", ""),
    KV_AVAILABLE: ("K", "green"),
    OTHERS: ("O", "red"),
    OUTSIDE: (".", ""),
}
_WIDEST_BAR = 72
_INDENT = 2
_LABEL_WIDTH = 26

Place = Callable[[ReceiptLine], str]


def write_receipt(page: Page, words: Words, receipt: Receipt, place: Place, advice: Advice | None = None) -> None:
    """The bar, the end of the budget below it, a row for each part; nothing when too little is known.

    `place` tells where a line was read, "" when it was not.
    """
    picture = picture_of(receipt)
    if picture is None:
        return
    width = min(page.width - 2 * _INDENT, _WIDEST_BAR)
    total = receipt.gib(TOTAL) or 0.0
    page.line(Text("  ").append(words(w.RECEIPT), "bold").append(f"  {words(w.RECEIPT_OF_GPU, total=_gib(total))}"))
    page.line(Text(" " * _INDENT).append_text(bar(picture, width)))
    if picture.budget_gib is not None:
        page.line(Text(" " * _INDENT).append_text(budget_mark(picture, width, words)))
    for segment in picture.segments:
        page.cut_line(_row(segment, receipt, words, place))
    for row in _missing(receipt, words, place):
        page.cut_line(row)
    if advice and receipt.line(DEFICIT).known:
        for text in utilization_words(advice.utilization, words):
            page.hanging(Text("     "), Text(text), 5)
    page.line()


def bar(picture: Picture, width: int) -> Text:
    """Exactly `width` letters."""
    drawn = Text()
    for segment, count in zip(picture.segments, cells(picture, width), strict=True):
        letter, style = _LOOK[segment.name]
        drawn.append(letter * count, style)
    return drawn


def budget_mark(picture: Picture, width: int, words: Words) -> Text:
    """A mark under the last cell of the budget, with its size on the side that has room."""
    budget = picture.budget_gib or 0.0
    label = words(w.RECEIPT_BUDGET, gib=_gib(budget))
    column = max(0, min(width, round(budget / picture.length_gib * width)) - 1)
    room = column - cell_len(label) - 1
    if room >= 0:
        return Text(" " * room + f"{label} ^")
    return Text(" " * column + f"^ {label}")


def utilization_words(interval: UtilizationInterval, words: Words) -> list[str]:
    """Which utilizations can work; nothing when the lower bound is not known."""
    if interval.low is None:
        return []
    if interval.low >= 1:
        return [words(w.UTILIZATION_BEYOND)]
    needed = f"{interval.low:.2f}"
    if interval.high is None:
        return [words(w.UTILIZATION_ABOVE, low=needed)]
    if interval.empty:
        return [words(w.UTILIZATION_NONE, low=needed, high=f"{interval.high:.2f}")]
    return [words(w.UTILIZATION_BETWEEN, low=needed, high=f"{interval.high:.2f}")]


def _row(segment: Segment, receipt: Receipt, words: Words, place: Place) -> Text:
    letter, style = _LOOK[segment.name]
    row = Text("  ").append(letter, style or "bold").append("  ")
    line = next((line for line in receipt.lines if line.name == segment.name), None)
    note = _note(line, words, place) if line is not None else ""
    if segment.name == CUDA_GRAPHS and receipt.graphs_inside is not None:
        where = words(w.RECEIPT_INSIDE if receipt.graphs_inside else w.RECEIPT_BESIDE)
        note = words(w.CAUSE_NOTE, state=where, because=note) if note else where
    return _columns(row, words(w.RECEIPT_PARTS[segment.name]), segment.gib, note)


def _missing(receipt: Receipt, words: Words, place: Place) -> list[Text]:
    """What one request needs, a KV cache below zero, and what is missing."""
    rows = []
    available, needed = receipt.line(KV_AVAILABLE), receipt.line(KV_NEEDED)
    if available.gib is not None and available.gib <= 0:
        rows.append(
            _columns(Text("     "), words(w.RECEIPT_PARTS[KV_AVAILABLE]), available.gib, _note(available, words, place))
        )
    if needed.gib is not None:
        rows.append(_columns(Text("     "), words(w.RECEIPT_NEEDED), needed.gib, _note(needed, words, place)))
    missing = receipt.line(DEFICIT)
    if missing.gib is not None and missing.gib >= 0.005:
        rows.append(_columns(Text("     "), words(w.RECEIPT_MISSING), missing.gib, "", "bold"))
    return rows


def _columns(row: Text, label: str, gib: float, note: str, style: str = "") -> Text:
    text = Text(label, style)
    row.append_text(text).append(" " * max(1, _LABEL_WIDTH - text.cell_len))
    row.append(f"{gib:8.2f} GiB", style)
    return row.append(f"  {note}") if note else row


def _note(line: ReceiptLine, words: Words, place: Place) -> str:
    if line.kind == "read":
        return place(line)
    return words(w.KINDS[line.kind]) if line.kind in w.KINDS else ""


def _gib(gib: float) -> str:
    return f"{gib:.2f} GiB"
