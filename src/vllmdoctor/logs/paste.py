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
# What stands before an exception in a title, a list, a sentence in Chinese, Japanese or Korean, or a typeset quote.
_EXCEPTION = r"(?:[A-Za-z_]\w*\.){0,6}[A-Z]\w{2,60}(?:Error|Exception): \S"
_TAG_OF_TITLE = (
    r"\[(?i:bug|usage|installation|feature|misc|question|help|doc|performance|new model|error|issue)[^][]{0,40}\]:?"
)
_TITLE = re.compile(rf"(?:#{{1,6}} |{_TAG_OF_TITLE}).{{0,300}}?(?={_EXCEPTION})")
_ITEM = re.compile(
    rf"(?:(?:[-*•·] |\d{{1,2}}[.)、] )\s{{0,4}})?[*_`\"“]{{1,4}}\s?(?={_EXCEPTION})|[-•·] {{1,4}}(?={_EXCEPTION})"
)
_SENTENCE = re.compile(
    r"[^\n]{0,300}?(?:[\u3001-\u30ff\u4e00-\u9fff\uac00-\ud7af\uff0c\uff1a]['\"`“「]?\s?['\"`]?|[“「『]\s?)"
    rf"(?={_EXCEPTION})"
)
_PYTEST = re.compile(rf"(?:E {{3,8}}|FAILED \S{{1,300}}::\S{{1,300}} - )(?={_EXCEPTION})")
_TYPOGRAPHIC = str.maketrans("‘’“”", "''\"\"")
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
    """Fences and HTML block tags vanish, links around file names keep their text, exceptions lose their lead."""
    if "```" in text or "~~~" in text:
        return "" if _FENCE.match(text) else text
    if "<" in text and (text.lstrip().startswith("<") or text.rstrip().endswith(">")):
        text = _TAG.sub("", text)
    if "](http" in text:
        text = _LINK.sub(_link_text, text)
    span = _CODE_SPAN.fullmatch(text)
    if span:
        text = span.group(1)
    return _from_exception(text) if "Error: " in text or "Exception: " in text else text


def _from_exception(text: str) -> str:
    """The text from its exception on, when what stands before is a title's, a list's or a sentence's."""
    first = text[:1]
    if first in "#[":
        found = _TITLE.match(text)
    elif first in '-*•·_`"“' or first.isdigit():
        found = _ITEM.match(text)
        text = text.rstrip("*_` ") if found else text
    elif first in "EF":
        found = _PYTEST.match(text)
    else:
        found = None if text[:300].isascii() else _SENTENCE.match(text)
    return (text[found.end() :] if found else text).translate(_TYPOGRAPHIC)


def _link_text(found: re.Match[str]) -> str:
    return found.group(1) if _PATH.search(found.group(1)) else found.group()
