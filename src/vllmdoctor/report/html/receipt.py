"""A memory receipt in, its picture and its table as HTML out."""

from __future__ import annotations

from collections.abc import Callable

from vllmdoctor.facts.model import Origin
from vllmdoctor.memory.advice import Advice
from vllmdoctor.memory.picture import Picture, picture_of
from vllmdoctor.memory.receipt import BUDGET, DEFICIT, TOTAL, Receipt, ReceiptLine
from vllmdoctor.report import words as w
from vllmdoctor.report.html import labels
from vllmdoctor.report.html.markup import element, escaped
from vllmdoctor.report.receipt_rows import Row, line_row, missing_rows, part_rows, shown_gib, utilization_words
from vllmdoctor.report.receipt_svg import receipt_svg
from vllmdoctor.report.words import Words

PICTURE_WIDTH_PX = 640
Place = Callable[[Origin], str]


def receipt_figure(receipt: Receipt, advice: Advice | None, words: Words, place: Place | None = None) -> str:
    """Empty when too little is known. `place` makes HTML that leads to where a line was read."""
    picture = picture_of(receipt)
    if picture is None:
        return ""
    total = words(w.RECEIPT_OF_GPU, total=shown_gib(receipt.gib(TOTAL) or 0.0))
    drawn = element("div", receipt_svg(receipt, words.language, width_px=PICTURE_WIDTH_PX), class_="vd-picture")
    summary = element("summary", escaped(words(labels.NUMBERS)))
    table = element("details", summary + _table(receipt, picture, words, place))
    sentences = ""
    if advice and receipt.line(DEFICIT).known:
        sentences = "".join(element("p", escaped(text)) for text in utilization_words(advice.utilization, words))
    label = f"{words(w.RECEIPT)} {total}"
    return element("figure", drawn + sentences + table, class_="vd-receipt", aria_label=label)


def _table(receipt: Receipt, picture: Picture, words: Words, place: Place | None) -> str:
    def placed(line: ReceiptLine) -> str:
        return place(line.origin) if place and line.origin else ""

    rows = part_rows(picture, receipt, words, placed)
    budget = receipt.line(BUDGET)
    rows += [line_row(budget, words(w.RECEIPT_BUDGET_ROW), words, placed)] if budget.known else []
    rows += missing_rows(receipt, words, placed)
    titles = (w.RECEIPT_PART, w.RECEIPT_SIZE, w.SOURCE)
    header = "".join(element("th", escaped(words(title)), scope="col") for title in titles)
    body = "".join(_row(row, words) for row in rows)
    table = element("table", element("thead", element("tr", header)) + element("tbody", body))
    return element("div", table, class_="vd-scroll", tabindex=0, role="region", aria_label=words(labels.MEMORY_TABLE))


def _row(row: Row, words: Words) -> str:
    """A source that is a place is HTML already."""
    label, size = escaped(row.label), escaped(shown_gib(row.gib))
    if row.name == DEFICIT:
        label, size = element("strong", label), element("strong", size)
    source = row.source if row.placed else escaped(row.source)
    note = escaped(row.remark) or source
    if row.remark and source:
        note = words(w.CAUSE_NOTE, state=escaped(row.remark), because=source)
    return element("tr", f"{element('th', label, scope='row')}<td>{size}</td><td>{note}</td>")
