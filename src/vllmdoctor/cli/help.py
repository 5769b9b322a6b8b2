"""The texts of a help page in, the page in the user's language, wrapped in terminal cells, out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import typer
from rich.cells import cell_len

from vllmdoctor.languages import Message
from vllmdoctor.languages import marked as _
from vllmdoctor.report.text.wrapping import wrapped_plain
from vllmdoctor.report.words import Words

# What Typer writes into its pages itself.
_USAGE = _("Usage: ")
_TYPERS_OWN = (
    _("Arguments"),
    _("Options"),
    _("Commands"),
    _("required"),
    _("Show this message and exit."),
    _("Install completion for the current shell."),
    _("Show completion for the current shell, to copy it or customize the installation."),
)
_EXTRAS = re.compile(r"(?:(?P<help>.*)  )?\[(?P<extras>(?:default: |required)[^\[\]]*)\]", re.DOTALL)
_MOST_LABEL_CELLS = 30
_GAP = 2


def help_page(words: Words, **sizes: Any) -> Any:
    """A formatter for Typer."""
    return type("Page", (_HelpPage, typer.Context.formatter_class), {"words": words})(**sizes)


class _HelpPage:
    """Goes before Typer's formatter: the same layout, measured in cells and with translated texts."""

    words: Words
    width: int
    current_indent: int
    write: Any

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        first = (self.words.said(_USAGE) if prefix is None else prefix) + f"{prog} "
        rows = wrapped_plain(args, max(20, self.width - cell_len(first))) or [""]
        gap = " " * cell_len(first)
        self.write("\n".join((first if number == 0 else gap) + row for number, row in enumerate(rows)).rstrip() + "\n")

    def write_heading(self, heading: str) -> None:
        self.write(f"{' ' * self.current_indent}{self.words.said(heading)}:\n")

    def write_text(self, text: str) -> None:
        indent = " " * self.current_indent
        blocks = []
        for paragraph in text.split("\n\n"):
            rows = wrapped_plain(self.words.said(" ".join(paragraph.split())), self.width - self.current_indent)
            blocks.append("\n".join(indent + row for row in rows))
        self.write("\n\n".join(blocks) + "\n")

    def write_dl(
        self, rows: Sequence[tuple[str, str]], col_max: int = _MOST_LABEL_CELLS, col_spacing: int = _GAP
    ) -> None:
        indent = " " * self.current_indent
        column = min(max(cell_len(first) for first, _second in rows), col_max) + col_spacing
        for first, second in rows:
            lines = wrapped_plain(self.row_text(second), max(10, self.width - column - 2)) or [""]
            beside = cell_len(first) <= column - col_spacing
            head = first + " " * (column - cell_len(first)) if beside else f"{first}\n{indent}{' ' * column}"
            gap = "\n" + indent + " " * column
            self.write(f"{indent}{head}{gap.join(lines)}".rstrip() + "\n")

    def row_text(self, text: str) -> str:
        """The help of an option; Typer has added its default, or that it is required."""
        found = _EXTRAS.fullmatch(text)
        if not found:
            return self.words.said(text)
        extras = "; ".join(self.extra(extra) for extra in found["extras"].split("; "))
        return "  ".join(filter(None, (self.words.said(found["help"] or ""), f"[{extras}]")))

    def extra(self, text: str) -> str:
        name, colon, value = text.partition(": ")
        if colon and name == "default":
            return self.words.said(Message("default: {value}", value=value))
        return self.words.said(text)
