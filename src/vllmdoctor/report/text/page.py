"""Texts in, lines on a terminal out: hanging indents, labels, commands, all measured in terminal cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from vllmdoctor.report.shell import wrapped_command
from vllmdoctor.report.text.inline import CODE_STYLE, blocks_of
from vllmdoctor.report.text.wrapping import wrapped

_WIDEST = 100
_NARROWEST = 24
_COMMAND_WIDTH = 76


@dataclass(slots=True)
class Page:
    """A terminal page. Text is wrapped at `width` cells; commands only where a shell allows a line break."""

    console: Console
    label_width: int = 16

    @property
    def width(self) -> int:
        return max(_NARROWEST, min(self.console.width, _WIDEST))

    def line(self, text: Text | str = "") -> None:
        """One line as it is, never wrapped."""
        shown = Text(text) if isinstance(text, str) else text
        shown.rstrip()
        self.console.print(shown, soft_wrap=True)

    def hanging(self, first: Text, text: Text, indent: int) -> None:
        """`first`, then the text wrapped beside it; `indent` is the column at which its lines begin."""
        rows = _wrapped(text, self.width - indent)
        if cell_len(first.plain) > indent:
            self.line(first)
            first = Text()
        for row in rows or [Text()]:
            first.append(" " * (indent - cell_len(first.plain)))
            self.line(first.append_text(row))
            first = Text()

    def paragraph(self, markdown: str, indent: int = 2) -> None:
        for number, block in enumerate(blocks_of(markdown)):
            if number and not block.marker:
                self.line()
            if block.code:
                self.command(block.text.plain, indent + 2)
                continue
            mark = Text(" " * (indent + 2 * block.depth) + (f"{block.marker} " if block.marker else ""))
            self.hanging(mark, block.text, cell_len(mark.plain))

    def labelled(self, label: str, value: Text | str) -> None:
        """A bold label and its value beside it. A string is Markdown."""
        indent = 2 + self.label_width
        first = Text("  ").append(label, "bold")
        if first.cell_len >= indent:
            first.append(" ")
        values = [value] if isinstance(value, Text) else [block.text for block in blocks_of(value)]
        for text in values or [Text()]:
            self.hanging(first, text, indent)
            first = Text()

    def labelled_all(self, label: str, values: Iterable[Text | str]) -> None:
        """Several values under one label."""
        for value in values:
            self.labelled(label, value)
            label = ""

    def labelled_command(self, label: str, command: str) -> None:
        """A bold label and a command beside it, broken only where a shell allows it."""
        indent = 2 + self.label_width
        first = Text("  ").append(label, "bold")
        for row in wrapped_command(command, max(_NARROWEST, self.width - indent)).split("\n"):
            self.line(first.append(" " * max(1, indent - first.cell_len)).append(row, CODE_STYLE))
            first = Text()

    def command(self, command: str, indent: int, changed: Sequence[str] = ()) -> None:
        """A command broken where a shell allows it, with the pieces that are changed in bold."""
        width = max(_NARROWEST, min(_COMMAND_WIDTH, self.width) - indent)
        for row in wrapped_command(command, width).split("\n"):
            line = Text(" " * indent).append(row, CODE_STYLE)
            for piece in changed:
                line.highlight_regex(rf"(?<![\w-]){re.escape(piece)}(?![\w-])", "bold")
            self.line(line)

    def cut_line(self, text: Text) -> None:
        """One line, cut at the terminal's edge."""
        text.truncate(max(_NARROWEST, self.console.width), overflow="ellipsis")
        self.line(text)

    def with_right(self, left: Text, right: str) -> bool:
        """`left` with `right` at the page's right edge; False (and nothing printed) when both do not fit."""
        gap = self.width - left.cell_len - cell_len(right)
        if gap < 2 or not right:
            return False
        self.line(left.append(" " * gap).append(right))
        return True


def filled(label: str, width: int) -> str:
    """The label with spaces behind it up to `width` cells."""
    return label + " " * (width - cell_len(label))


def _wrapped(text: Text, width: int) -> list[Text]:
    return wrapped(text, max(_NARROWEST // 2, width))
