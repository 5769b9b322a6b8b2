"""Labels and values in, rows with the values in a column out, measured in terminal cells."""

from __future__ import annotations

from collections.abc import Mapping

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from vllmdoctor.report.text.page import Page, filled
from vllmdoctor.report.words import Words

_GAP = 2


class LabelledPage:
    """A page of labels in the user's language with what files say, as they say it."""

    def __init__(self, console: Console, words: Words) -> None:
        self.page = Page(console)
        self.words = words

    def heading(self, text: str) -> None:
        """After an empty line."""
        self.page.line()
        self.page.line(self.words.said(text))

    def rows(self, values: Mapping[str, str], indent: int = 0, kept: bool = False) -> None:
        """A row for every value that is not empty. `kept` leaves long ones on their line, to be copied."""
        labels = {label: self.words.said(label) for label in values}
        column = indent + _GAP + max(map(cell_len, labels.values()), default=0)
        for label, value in values.items():
            for line in value.split("\n") if value else ():
                first = " " * indent + labels[label]
                if kept:
                    self.page.line(filled(first, column) + line)
                else:
                    self.beside(first, line, column)

    def beside(self, first: str, text: str, column: int) -> None:
        """The text wrapped at a column, and at least a space behind what stands before it."""
        self.page.hanging(Text(filled(first, column - 1) + " "), Text(text), column)

    def paragraph(self, text: str, indent: int = 0) -> None:
        """A sentence or a value with its lines after the first indented."""
        self.page.hanging(Text(" " * indent), Text(self.words.said(text)), indent)
