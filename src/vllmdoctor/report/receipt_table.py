"""A memory receipt in, a Markdown table of it out, for places that show no picture (GitHub takes inline SVG out)."""

from __future__ import annotations

from vllmdoctor.memory.advice import Advice
from vllmdoctor.memory.picture import picture_of
from vllmdoctor.memory.receipt import BUDGET, DEFICIT, TOTAL, Receipt
from vllmdoctor.report import words as w
from vllmdoctor.report.receipt_rows import Place, Row, line_row, missing_rows, part_rows, shown_gib, utilization_words
from vllmdoctor.report.safe_markdown import at_line_start, cell_code, prose, table
from vllmdoctor.report.words import Words


def receipt_table(receipt: Receipt, words: Words, place: Place, advice: Advice | None = None) -> list[str]:
    """The lines of the title, the table and what can work, ended by an empty line; nothing when too little is known.

    `place` tells where a line was read, "" when it was not.
    """
    picture = picture_of(receipt)
    if picture is None:
        return []
    total = words(w.RECEIPT_OF_GPU, total=shown_gib(receipt.gib(TOTAL) or 0.0))
    header = [prose(words(title)) for title in (w.RECEIPT_PART, w.RECEIPT_SIZE, w.SOURCE)]
    rows = [*part_rows(picture, receipt, words, place)]
    rows += [*_budget(receipt, words, place), *missing_rows(receipt, words, place)]
    lines = [
        f"**{prose(words(w.RECEIPT))}** {prose(total)}",
        "",
        *table(header, [_cells(row, words) for row in rows]),
        "",
    ]
    if advice and receipt.line(DEFICIT).known:
        lines += [line for text in utilization_words(advice.utilization, words) for line in (_sentence(text), "")]
    return lines


def _budget(receipt: Receipt, words: Words, place: Place) -> list[Row]:
    line = receipt.line(BUDGET)
    return [line_row(line, words(w.RECEIPT_BUDGET_ROW), words, place)] if line.known else []


def _cells(row: Row, words: Words) -> tuple[str, str, str]:
    """What is missing stands out. A place in a file is code, since its name is the user's."""
    label, size = prose(row.label), prose(shown_gib(row.gib))
    source = cell_code(row.source) if row.placed else prose(row.source)
    note = words(w.CAUSE_NOTE, state=prose(row.remark), because=source) if row.remark and source else row.remark
    strong = "**" if row.name == DEFICIT else ""
    return f"{strong}{label}{strong}", f"{strong}{size}{strong}", note or source


def _sentence(text: str) -> str:
    return at_line_start(prose(text))
