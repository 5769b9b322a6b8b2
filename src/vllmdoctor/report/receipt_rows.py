"""A memory receipt in, its rows in words out, in one order for every form: the bar's parts, then what is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from vllmdoctor.memory.advice import UtilizationInterval
from vllmdoctor.memory.picture import OUTSIDE, UNTOLD, Picture
from vllmdoctor.memory.receipt import (
    ACTIVATION,
    CUDA_GRAPHS,
    DEFICIT,
    KV_AVAILABLE,
    KV_NEEDED,
    NON_TORCH,
    OTHERS,
    WEIGHTS,
    Receipt,
    ReceiptLine,
)
from vllmdoctor.report import words as w
from vllmdoctor.report.words import Words

LETTERS: Mapping[str, str] = {
    WEIGHTS: "W",
    ACTIVATION: "A",
    NON_TORCH: "N",
    CUDA_GRAPHS: "G",
    UNTOLD: "?",
    KV_AVAILABLE: "K",
    OTHERS: "O",
    OUTSIDE: ".",
}
_LEAST_MISSING_GIB = 0.005  # what two decimals show

Place = Callable[[ReceiptLine], str]


@dataclass(frozen=True, slots=True)
class Row:
    """`name` is the receipt's. `source` tells where the number is from: a place in an input (`placed`), or in words
    what kind of number it is, "" when nothing tells it. `remark` is "" for most."""

    name: str
    label: str
    gib: float
    source: str = ""
    placed: bool = False
    remark: str = ""

    def note(self, words: Words) -> str:
        if self.remark and self.source:
            return words(w.CAUSE_NOTE, state=self.remark, because=self.source)
        return self.remark or self.source


def part_rows(picture: Picture, receipt: Receipt, words: Words, place: Place) -> list[Row]:
    """One row for each part of the bar. `place` tells where a line was read, "" when it was not."""
    lines = {line.name: line for line in receipt.lines}
    rows = []
    for segment in picture.segments:
        source, placed = source_of(lines[segment.name], words, place) if segment.name in lines else ("", False)
        remark = ""
        if segment.name == CUDA_GRAPHS and receipt.graphs_inside is not None:
            remark = words(w.RECEIPT_INSIDE if receipt.graphs_inside else w.RECEIPT_BESIDE)
        label = words(w.RECEIPT_PARTS[segment.name])
        rows.append(Row(segment.name, label, segment.gib, source, placed, remark))
    return rows


def missing_rows(receipt: Receipt, words: Words, place: Place) -> list[Row]:
    """A KV cache below zero, what one request needs, and what is missing."""
    rows = []
    available, needed, missing = (receipt.line(name) for name in (KV_AVAILABLE, KV_NEEDED, DEFICIT))
    if available.gib is not None and available.gib <= 0:
        rows.append(line_row(available, words(w.RECEIPT_PARTS[KV_AVAILABLE]), words, place))
    if needed.gib is not None:
        rows.append(line_row(needed, words(w.RECEIPT_NEEDED), words, place))
    if missing.gib is not None and missing.gib >= _LEAST_MISSING_GIB:
        rows.append(Row(DEFICIT, words(w.RECEIPT_MISSING), missing.gib))
    return rows


def line_row(line: ReceiptLine, label: str, words: Words, place: Place) -> Row:
    """The row of a line whose amount is known."""
    return Row(line.name, label, line.gib or 0.0, *source_of(line, words, place))


def source_of(line: ReceiptLine, words: Words, place: Place) -> tuple[str, bool]:
    """Where the number is from, and whether that is a place."""
    if line.kind == "read" and (where := place(line)):
        return where, True
    return (words(w.KINDS[line.kind]) if line.kind in w.KINDS else ""), False


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


def shown_gib(gib: float) -> str:
    return f"{gib:.2f} GiB"
