"""A paragraph and a width in terminal cells in, its lines out: at spaces, and between the characters of Japanese.

Kept together: a number with its unit, inline code that is not long, a word in katakana, the end of a sentence. By the
rules of Japanese typesetting (kinsoku) some characters begin no line (、。） and small kana), some end none (（「).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from vllmdoctor.report.text.inline import CODE_STYLE

_NOT_FIRST = frozenset(
    "、。，．・：；？！）］｝〉》」』】〕〗〙ー～…‥％%ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ々ゝゞヽヾ)]}>,.:;?!"
)
_NOT_LAST = frozenset("（［｛〈《「『【〔〖〘([{<")
# Japanese has no space between a word and a number, so only Latin letters belong to a word here.
_MEASURE = re.compile(r"(?<![\w.])[\d.,]*\d (?:[KMGT]i?B|B|%|ms|s)(?!\w)", re.ASCII)
_TICKED = re.compile(r"`[^`]+`")
_WORD = re.compile(r"[A-Za-z]*[ァ-ヶー]{2,9}|[ぁ-ん]{1,4}。")

Stretch = tuple[int, int]


def wrapped(text: Text, width: int) -> list[Text]:
    """The lines of a styled text; those of a text with line ends one after the other."""
    rows: list[Text] = []
    for line in text.split("\n", allow_blank=True) if "\n" in text.plain else [text]:
        if "\t" in line.plain:
            line.expand_tabs(8)
        code = [(span.start, span.end) for span in line.spans if span.style == CODE_STYLE]
        rows += [line[start:end] for start, end in stretches(line.plain, width, code)] or [Text()]
    return rows


def wrapped_plain(text: str, width: int) -> list[str]:
    return [text[start:end] for start, end in stretches(text, width)]


def stretches(text: str, width: int, code: Sequence[Stretch] = ()) -> list[Stretch]:
    """The beginning and the end of each line. `code` are the places of inline code besides what stands in ticks."""
    cells = [cell_len(character) for character in text]
    lines: list[Stretch] = []
    start = end = 0
    for piece_start, piece_end in _pieces(text, _kept(text, width, code)):
        if sum(cells[start:piece_end]) <= width:
            end = piece_end
            continue
        if end > start:
            lines.append((start, end))
        start = piece_start
        for cut in _cuts(cells, piece_start, piece_end, width):
            lines.append((start, cut))
            start = cut
        end = piece_end
    return [*lines, (start, end)] if end > start else lines


def _cuts(cells: Sequence[int], start: int, end: int, width: int) -> Iterator[int]:
    """Where a piece that is wider than a line is cut."""
    filled = 0
    for place in range(start, end):
        if filled + cells[place] > width and filled:
            yield place
            filled = 0
        filled += cells[place]


def _kept(text: str, width: int, code: Sequence[Stretch]) -> list[Stretch]:
    measures = [found.span() for found in _MEASURE.finditer(text)]
    spans = [found.span() for pattern in (_TICKED, _WORD) for found in pattern.finditer(text)]
    return measures + [(start, end) for start, end in (*spans, *code) if cell_len(text[start:end]) <= width // 2]


def _pieces(text: str, kept: Sequence[Stretch]) -> Iterator[Stretch]:
    """What is never broken, without the spaces between; those before the first piece belong to it."""
    inside = {place for start, end in kept for place in range(start + 1, end)}
    begin, last = 0, 1
    for place in range(1, len(text)):
        if text[place] == " ":
            continue
        if place not in inside and text[begin:last].strip(" ") and _may_part(text[place - 1], text[place]):
            yield begin, last
            begin = place
        last = place + 1
    if text[begin:last].strip(" "):
        yield begin, last


def _may_part(before: str, after: str) -> bool:
    """Whether a line may end between two characters."""
    if before == " ":
        return True
    if after in _NOT_FIRST or before in _NOT_LAST:
        return False
    wide_before, wide_after = cell_len(before) == 2, cell_len(after) == 2
    return wide_before or wide_after and not before.isdigit()
