"""Texts and rule Markdown in, escaped HTML out. Everything that is printed goes through `escaped`."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from vllmdoctor.report.inline import CODE, EMPHASIS, LINK, STRONG, SourceBlock, source_blocks, spans_of
from vllmdoctor.report.untrusted import neutral

_TAGS = {CODE: "code", STRONG: "strong", EMPHASIS: "em"}
_WEB = re.compile(r"https?://[^\s<>\"'\\]+")
_VOID = frozenset({"wbr", "br"})


def escaped(text: str) -> str:
    """The text as HTML shows it, in an element or an attribute's value."""
    return html.escape(neutral(text), quote=True)


def element(tag: str, content: str = "", **attributes: str | int | bool | None) -> str:
    """An element around HTML. `class_` is class, `data_line` is data-line; None and False leave an attribute out."""
    shown = ""
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        name = name.rstrip("_").replace("_", "-")
        shown += f" {name}" if value is True else f' {name}="{escaped(str(value))}"'
    return f"<{tag}{shown}>" if tag in _VOID else f"<{tag}{shown}>{content}</{tag}>"


def link(label: str, url: str) -> str:
    """A link to a page of the web; any other address is shown as text."""
    if not _WEB.fullmatch(url):
        return f"{label} {element('code', escaped(url))}"
    return element("a", label, href=url, rel="noopener noreferrer")


def inline(source: str, links: Iterable[str] = ()) -> str:
    """One run of rule Markdown, in which values from the log may stand: of its links those to `links` are made."""
    trusted = frozenset(links)
    return "".join(_span(span.kind, span.text, span.url, trusted) for span in spans_of(" ".join(source.split())))


def _span(kind: str, text: str, url: str, trusted: frozenset[str]) -> str:
    if kind == LINK:
        if url in trusted:
            return link(escaped(text or url), url)
        return (escaped(text) + " " if text else "") + element("code", escaped(url))
    if kind == CODE:
        return element("code", escaped(text))
    return element(_TAGS[kind], inline(text)) if kind in _TAGS else escaped(text)


def paragraphs(source: str, links: Iterable[str] = ()) -> str:
    """Rule Markdown of several blocks: paragraphs, lists, code."""
    trusted = frozenset(links)
    parts: list[str] = []
    items: list[SourceBlock] = []
    for block in source_blocks(source):
        if block.marker:
            if items and block.depth <= items[0].depth and (block.marker == "-") != (items[0].marker == "-"):
                parts += _flushed(items, trusted)  # bullets and numbers are two lists
            items.append(block)
            continue
        parts += _flushed(items, trusted)
        parts.append(code_block(block.source) if block.code else element("p", inline(block.source, trusted)))
    return "".join([*parts, *_flushed(items, trusted)])


def _flushed(items: list[SourceBlock], trusted: frozenset[str]) -> list[str]:
    if not items:
        return []
    shown = _items(items, trusted, items[0].depth)
    items.clear()
    return [shown]


def _items(items: Sequence[SourceBlock], trusted: frozenset[str], depth: int) -> str:
    """A list of the items at a depth; deeper ones stand within the item before them."""
    rows: list[str] = []
    place = 0
    while place < len(items):
        following = place + 1
        while following < len(items) and items[following].depth > depth:
            following += 1
        inner = items[place + 1 : following]
        nested = _items(inner, trusted, inner[0].depth) if inner else ""
        rows.append(element("li", inline(items[place].source, trusted) + nested))
        place = following
    return element("ul" if items[0].marker == "-" else "ol", "".join(rows))


def code_block(text: str, copy: str = "") -> str:
    """Code to read or paste. `copy` is the label of a button that copies it, "" for none."""
    block = element("pre", element("code", escaped(text)), tabindex=0)
    if not copy:
        return block
    button = element("button", escaped(copy), type="button", class_="vd-copy", data_copy=True)
    return element("div", block + button, class_="vd-code")
