"""A memory receipt in, one inline SVG out: the stacked bar of the GPU's memory, its budget, a legend with all numbers.

Parts are told apart by letters and patterns, not by colour alone. Text has the page's own colour (`currentColor`), so
that the picture reads on light and dark pages; every colour is a class (`vd-…`) that a page may set anew. No script,
no font of its own, nothing from elsewhere.
"""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from vllmdoctor.memory.picture import OUTSIDE, UNTOLD, Picture, picture_of
from vllmdoctor.memory.receipt import (
    ACTIVATION,
    BUDGET,
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
from vllmdoctor.report.receipt_rows import LETTERS, Row, missing_rows, part_rows, shown_gib
from vllmdoctor.report.words import Words

# Of middle lightness: 3:1 against white and against a dark page.
_COLOURS: Mapping[str, str] = {
    WEIGHTS: "#4a7fb5",
    ACTIVATION: "#a8659c",
    NON_TORCH: "#2f8f8f",
    CUDA_GRAPHS: "#a8792a",
    UNTOLD: "#80868d",
    KV_AVAILABLE: "#3f8f54",
    OTHERS: "#c4574e",
    OUTSIDE: "none",
}
# Lines drawn in an 8 × 8 tile over the colour.
_PATTERNS: Mapping[str, str] = {
    ACTIVATION: "M-2 2l4-4M0 8l8-8M6 10l4-4",
    NON_TORCH: "M4 3.2v1.6",
    CUDA_GRAPHS: "M4 0v8",
    UNTOLD: "M0 4h8M4 0v8",
    KV_AVAILABLE: "M0 4h8",
    OTHERS: "M-2 6l4 4M0 0l8 8M6-2l4 4",
}
_NARROWEST_PX = 280
_EDGE, _BAR_TOP, _BAR_HEIGHT, _ROW_HEIGHT = 8, 34, 34, 22
_CHARACTER = 7.4  # of a 13 px font, wide enough for the common ones; East Asian ones are twice as wide
_LETTER_ROOM = 14
_FONT_PX = 13


def receipt_svg(receipt: Receipt, language: str = "en", *, width_px: int = 640) -> str:
    """The picture, "" when too little is known. It shrinks with its container but grows no wider than `width_px`."""
    picture = picture_of(receipt)
    if picture is None:
        return ""
    words = Words(language)
    rows = part_rows(picture, receipt, words, lambda line: "")
    facts = missing_rows(receipt, words, lambda line: "")
    drawing = _Drawing(picture, receipt, words, max(width_px, _NARROWEST_PX))
    return drawing.svg(rows, facts)


@dataclass(frozen=True, slots=True)
class _Drawing:
    picture: Picture
    receipt: Receipt
    words: Words
    width: int

    def svg(self, rows: Sequence[Row], facts: Sequence[Row]) -> str:
        total = self.receipt.gib(TOTAL) or 0.0
        title = f"{self.words(w.RECEIPT)} {self.words(w.RECEIPT_OF_GPU, total=shown_gib(total))}"
        description = self.words.listed(self.told(rows, facts))
        mark = f"vd{zlib.crc32(f'{title} {description} {self.width}'.encode()):08x}"  # one page may hold several
        legend, height = self.legend(rows, facts, mark)
        return "".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" class="vd-receipt" role="img" lang="{self.words.language}"'
                f' aria-labelledby="{mark}-t {mark}-d" viewBox="0 0 {self.width} {height}" width="{self.width}"'
                f' height="{height}" style="max-width:100%;height:auto">',
                f'<title id="{mark}-t">{escape(title)}</title><desc id="{mark}-d">{escape(description)}</desc>',
                _style(),
                self.patterns(rows, mark),
                _text(_EDGE, 20, title, "vd-head"),
                self.bar(mark),
                self.ends(total),
                legend,
                "</svg>",
            )
        )

    def told(self, rows: Sequence[Row], facts: Sequence[Row]) -> list[str]:
        budget = self.receipt.gib(BUDGET)
        texts = [f"{row.label} {shown_gib(row.gib)}" for row in (*rows, *facts)]
        return texts if budget is None else [*texts, self.words(w.RECEIPT_BUDGET, gib=shown_gib(budget))]

    def patterns(self, rows: Sequence[Row], mark: str) -> str:
        tiles = (
            f'<pattern id="{mark}-{row.name}" width="8" height="8" patternUnits="userSpaceOnUse">'
            f'<path class="vd-lines" d="{_PATTERNS[row.name]}"/></pattern>'
            for row in rows
            if row.name in _PATTERNS
        )
        return f"<defs>{''.join(tiles)}</defs>"

    def x(self, gib: float) -> float:
        return _EDGE + gib / self.picture.length_gib * (self.width - 2 * _EDGE)

    def bar(self, mark: str) -> str:
        shapes, start = [], 0.0
        for segment in self.picture.segments:
            left, right = self.x(start), self.x(start + segment.gib)
            shapes.append(_box(segment.name, mark, left, _BAR_TOP, right - left, _BAR_HEIGHT))
            if right - left >= _LETTER_ROOM and segment.name != OUTSIDE:
                shapes.append(_letter(segment.name, (left + right) / 2, _BAR_TOP + _BAR_HEIGHT / 2))
            start += segment.gib
        return "".join(shapes)

    def ends(self, total: float) -> str:
        """The lines where the budget and, when more than the GPU has is needed, the GPU end."""
        lines = ""
        below = _BAR_TOP + _BAR_HEIGHT + 20
        if self.picture.budget_gib is not None:
            label = self.words(w.RECEIPT_BUDGET, gib=shown_gib(self.picture.budget_gib))
            lines += self.end(self.picture.budget_gib, label, below)
        if total < self.picture.length_gib:
            lines += self.end(total, f"{self.words(w.GPU)} {shown_gib(total)}", below + _ROW_HEIGHT)
        return lines

    def end(self, gib: float, label: str, baseline: float) -> str:
        x = self.x(min(gib, self.picture.length_gib))
        line = f'<path class="vd-end" d="M{x:.1f} {_BAR_TOP - 6}V{baseline - 12:.0f}"/>'
        if x - _EDGE > _text_width(label):
            return line + _text(x, baseline, label, "vd-right")
        return line + _text(x, baseline, label)

    def legend(self, rows: Sequence[Row], facts: Sequence[Row], mark: str) -> tuple[str, int]:
        """The rows below the bar, and the height of the whole."""
        labels = max((_text_width(row.label) for row in (*rows, *facts)), default=0.0)
        sizes = min(_EDGE + 30 + labels + 90, self.width - _EDGE)
        past_gpu = (self.receipt.gib(TOTAL) or 0.0) < self.picture.length_gib
        top = _BAR_TOP + _BAR_HEIGHT + 26 + (_ROW_HEIGHT if past_gpu else 0)
        shapes = []
        for row in (*rows, *facts):
            baseline = top + 16
            if row in rows:
                shapes.append(_box(row.name, mark, _EDGE, top + 3, 20, 16))
                shapes.append(_letter(row.name, _EDGE + 10, top + 11))
            style = " vd-strong" if row.name == DEFICIT else ""
            shapes.append(_text(_EDGE + 30, baseline, row.label, style.strip()))
            shapes.append(_text(sizes, baseline, shown_gib(row.gib), f"vd-right{style}"))
            note = row.note(self.words)
            if note and sizes + 12 + _text_width(note) <= self.width:
                shapes.append(_text(sizes + 12, baseline, note, "vd-note"))
            top += _ROW_HEIGHT
        return "".join(shapes), top + _EDGE


def _style() -> str:
    colours = "".join(f".vd-{name}{{fill:{colour}}}" for name, colour in _COLOURS.items())
    return (
        f"<style>.vd-receipt text{{fill:currentColor;font:{_FONT_PX}px system-ui,sans-serif}}"
        ".vd-receipt .vd-head,.vd-receipt .vd-strong{font-weight:bold}.vd-receipt .vd-right{text-anchor:end}"
        ".vd-receipt .vd-note{opacity:.8}.vd-receipt .vd-letter{fill:#fff;stroke:#222;stroke-width:3px;"
        "paint-order:stroke;font-weight:bold;text-anchor:middle;dominant-baseline:central}"
        f".vd-part{{stroke:currentColor;stroke-width:1}}.vd-outside{{stroke-dasharray:4 3}}{colours}"
        ".vd-lines{fill:none;stroke:#fff;stroke-opacity:.55;stroke-width:1.6;stroke-linecap:square}"
        ".vd-end{fill:none;stroke:currentColor;stroke-width:2}</style>"
    )


def _box(name: str, mark: str, x: float, y: float, width: float, height: float) -> str:
    place = f'x="{x:.1f}" y="{y}" width="{max(width, 0.5):.1f}" height="{height}"'
    box = f'<rect class="vd-part vd-{name}" {place}/>'
    return box + (f'<rect fill="url(#{mark}-{name})" {place}/>' if name in _PATTERNS else "")


def _letter(name: str, x: float, y: float) -> str:
    return "" if name == OUTSIDE else _text(x, y, LETTERS[name], "vd-letter", hidden=True)


def _text(x: float, y: float, text: str, style: str = "", *, hidden: bool = False) -> str:
    named = (f' class="{style}"' if style else "") + (' aria-hidden="true"' if hidden else "")
    return f'<text{named} x="{x:.1f}" y="{y:g}">{escape(text)}</text>'


def _text_width(text: str) -> float:
    return sum(_CHARACTER * (2 if unicodedata.east_asian_width(c) in "WF" else 1) for c in text)
