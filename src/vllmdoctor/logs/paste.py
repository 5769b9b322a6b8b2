"""A line as people paste it in, the same line without Markdown, quote marks and HTML entities out."""

from __future__ import annotations

import re

_ENTITY = re.compile(r"&(?:quot|lt|gt|amp|nbsp|apos|#x27|#39|#34|#x2F|#47);")
_ENTITIES = {
    "&quot;": '"',
    "&lt;": "<",
    "&gt;": ">",
    "&amp;": "&",
    "&nbsp;": " ",
    "&apos;": "'",
    "&#x27;": "'",
    "&#39;": "'",
    "&#34;": '"',
    "&#x2F;": "/",
    "&#47;": "/",
}
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})\s*[\w+.-]*\s*$")
_TAG = re.compile(r"\s*</?(?:details|summary|pre|code|blockquote|p)(?: [^<>]{0,80})?>\s*")
_LINK = re.compile(r"\[([^\[\]\s]{1,400})\]\(https?://[^()\s]{0,1000}(?:\([^()\s]{0,200}\)[^()\s]{0,400})?\)")
_CODE_SPAN = re.compile(r"\s*`(?!`)(.{8,}[^`])`\s*")  # a whole line as inline code; backticks inside stay
_PATH = re.compile(r"\.(?:py|pyx|cpp|cu|ipynb)\b|ipython-input")


def unescaped(text: str) -> str:
    """HTML entities as the characters they stand for; twice escaped text is taken back twice."""
    for _ in range(3):
        if "&" not in text or not _ENTITY.search(text):
            break
        text = _ENTITY.sub(lambda found: _ENTITIES[found.group()], text)
    return text


def unquoted(text: str) -> str:
    """The line without Markdown quote marks; a Python prompt (>>>) stays."""
    while text.startswith(">") and not text.startswith((">>>", ">=")):
        if text[1:2] not in ("", " ", ">"):
            break
        text = text[2:] if text[1:2] == " " else text[1:]
    return text


def without_markup(text: str) -> str:
    """Fences and HTML block tags vanish, links around file names keep their text."""
    if "```" in text or "~~~" in text:
        return "" if _FENCE.match(text) else text
    if "<" in text and (text.lstrip().startswith("<") or text.rstrip().endswith(">")):
        text = _TAG.sub("", text)
    if "](http" in text:
        text = _LINK.sub(_link_text, text)
    span = _CODE_SPAN.fullmatch(text)
    return span.group(1) if span else text


def _link_text(found: re.Match[str]) -> str:
    return found.group(1) if _PATH.search(found.group(1)) else found.group()
