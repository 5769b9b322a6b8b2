"""Markdown of rule texts in, styled rich texts out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.text import Text

from vllmdoctor.report.inline import CODE, EMPHASIS, LINK, STRONG, source_blocks, spans_of

CODE_STYLE = "cyan"
_STYLES = {STRONG: "bold", EMPHASIS: "italic"}


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, list item or code block. `marker` is the item's bullet or number, `depth` its nesting."""

    text: Text
    marker: str = ""
    depth: int = 0
    code: bool = False


def inline_text(source: str, style: str = "") -> Text:
    """One run of Markdown as styled text. A code span with spaces keeps its ticks, since colour may be off."""
    result = Text(style=style)
    for span in spans_of(source):
        if span.kind == CODE:
            result.append(f"`{span.text}`" if " " in span.text else span.text, CODE_STYLE)
        elif span.kind == LINK:
            result.append(f"{span.text} ({span.url})" if span.text else span.url)
        else:
            result.append(span.text, _STYLES.get(span.kind))
    return result


def blocks_of(source: str) -> Iterator[Block]:
    """The blocks of a Markdown text in order."""
    for block in source_blocks(source):
        text = Text(block.source) if block.code else inline_text(block.source)
        yield Block(text, block.marker, block.depth, block.code)
