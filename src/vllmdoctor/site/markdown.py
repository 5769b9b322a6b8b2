"""Texts of rules and values in, Markdown for the site out: every character of a text stays what it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TypeAlias

from vllmdoctor.report.inline import CODE, EMPHASIS, LINK, STRONG, spans_of
from vllmdoctor.report.safe_markdown import block_lines, cell_code, code, fenced, table

_SPECIAL = re.compile(r"[\\`*_{}\[\]()<>#+!|~$&^=]")
_AT_LINE_START = re.compile(r"(\s*)(\d+(?=[.)])|[-:>/?])")

INDENT = "    "
FrontMatter: TypeAlias = "str | Sequence[str] | Mapping[str, object]"


def escaped(text: str) -> str:
    """Plain text as Markdown that shows exactly this text."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))


def inline(source: str) -> str:
    """One line of a rule's text: its code, emphasis and links stay, nothing else in it is Markdown or HTML."""
    shown = []
    for span in spans_of(" ".join(source.split())):
        if span.kind == CODE:
            shown.append(code(span.text))
        elif span.kind == STRONG:
            shown.append(f"**{inline(span.text)}**")
        elif span.kind == EMPHASIS:
            shown.append(f"*{inline(span.text)}*")
        elif span.kind == LINK:
            shown.append(link(span.text or span.url, span.url))
        else:
            shown.append(_SPECIAL.sub(r"\\\g<0>", span.text))
    return "".join(shown)


def paragraphs(source: str) -> list[str]:
    """The lines of a rule's text of several blocks, an empty line after each block."""
    return block_lines(source, lambda text: at_line_start(inline(text)), nested=INDENT)


def at_line_start(text: str) -> str:
    """Escaped Markdown made safe to begin a line: no list, quote, definition or tab."""
    found = _AT_LINE_START.match(text)
    if not found:
        return text
    return f"{found[2]}\\{text[found.end() :]}" if found[2].isdigit() else f"\\{text.lstrip()}"


def link(text: str, target: str) -> str:
    return f"[{escaped(text)}]({target})"


def heading(level: int, text: str, anchor: str) -> list[str]:
    """A heading of Markdown text; its id is English in every language."""
    return [f"{'#' * level} {text} {{ #{anchor} }}", ""]


def indented(lines: Iterable[str]) -> list[str]:
    return [INDENT + line if line else "" for line in lines]


def tabs(named: Mapping[str, Sequence[str]]) -> list[str]:
    """Content tabs, in order; one alone needs none."""
    if len(named) == 1:
        return [*next(iter(named.values())), ""]
    lines: list[str] = []
    for name, content in named.items():
        lines += [f'=== "{name}"', "", *indented(content), ""]
    return lines


def admonition(kind: str, title: str, content: Iterable[str]) -> list[str]:
    return [f"!!! {kind} {_quoted(title)}", "", *indented(content), ""]


def folded(kind: str, title: str, content: Iterable[str], *, opened: bool = False) -> list[str]:
    """A block that the reader unfolds; print shows it open."""
    return [f"{'???+' if opened else '???'} {kind} {_quoted(title)}", "", *indented(content), ""]


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of HTML cells. Hundreds of rows cost MkDocs no time this way: it takes HTML as it is."""
    head = "".join(f"<th>{cell}</th>" for cell in header)
    body = [f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows]
    return ["<table>", f"<thead><tr>{head}</tr></thead>", "<tbody>", *body, "</tbody>", "</table>"]


def html_code(text: str) -> str:
    return f"<code>{escape(text, quote=False)}</code>" if text else ""


def _quoted(title: str) -> str:
    return '"' + title.replace('"', "”") + '"'


def page(meta: Mapping[str, FrontMatter], lines: Iterable[str]) -> str:
    """A page with its front matter (JSON is YAML, too)."""
    front = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in meta.items()]
    body = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
    return "\n".join(["---", *front, "---", "", body, ""])


__all__ = [
    "admonition",
    "at_line_start",
    "cell_code",
    "code",
    "escaped",
    "fenced",
    "folded",
    "heading",
    "html_code",
    "html_table",
    "indented",
    "inline",
    "link",
    "page",
    "paragraphs",
    "table",
    "tabs",
]
