"""Check `markdown`: texts keep to inline code, emphasis, lists and links, and write flags as vLLM does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from vllmdoctor.languages import Message
from vllmdoctor.rules.check.folder import RuleFolder, issue
from vllmdoctor.rules.check.issue import Issue
from vllmdoctor.rules.check.prose import Wording, prose_of

_ALLOWED_LEAVES = frozenset(("inline", "text", "softbreak", "hardbreak", "code_inline"))
_ALLOWED_PAIRS = frozenset(("em", "strong", "link", "paragraph", "bullet_list", "ordered_list", "list_item"))
_PARTS_OF_TABLES = frozenset(("thead", "tbody", "tr", "th", "td"))
_LISTS = frozenset(("bullet_list_open", "ordered_list_open"))
_UNDERSCORE_FLAG = re.compile(r"(?<![\w-])--[a-z0-9]+(?:-[a-z0-9]+)*_[a-z0-9_-]+")
_PARSER = MarkdownIt("commonmark").enable("table")
_NAMES = {
    "html_inline": Message("HTML (write <…> in backticks)"),
    "html_block": Message("HTML (write <…> in backticks)"),
    "image": Message("an image"),
    "heading": Message("a heading"),
    "table": Message("a table"),
    "fence": Message("a code block"),
    "code_block": Message("an indented block"),
    "hr": Message("a horizontal line"),
    "blockquote": Message("a quotation"),
}


class MarkdownCheck:
    name = "markdown"

    def issues(self, folder: RuleFolder) -> Iterator[Issue]:
        documents = folder.documents
        translations = [field for files in documents.translations.values() for field in files.values()]
        for document in (*documents.rules.values(), *documents.remedies.values(), *translations):
            for wording in prose_of(document):
                for problem in text_problems(wording):
                    yield issue(wording.place, self.name, problem)


def text_problems(wording: Wording) -> Iterator[Message]:
    """What a text has that reports cannot show, or shows wrong."""
    text = wording.without_placeholders()
    tokens = _PARSER.parse(text)
    kinds = {token.type for token in _flat(tokens)}
    pairs = {kind.removesuffix("_open") for kind in kinds if kind.endswith("_open")}
    leaves = {kind for kind in kinds if not kind.endswith(("_open", "_close"))}
    for kind in sorted((pairs - _ALLOWED_PAIRS - _PARTS_OF_TABLES) | (leaves - _ALLOWED_LEAVES)):
        yield Message("has {element}; texts are inline code, emphasis, lists and links", element=_NAMES.get(kind, kind))
    if wording.key == "title" and kinds & _LISTS:
        yield Message("a title cannot be a list")
    for link in (token for token in _flat(tokens) if token.type == "link_open"):
        if not str(link.attrs.get("href", "")).startswith("https://"):
            yield Message("links to {url!r}, which is not an https:// address", url=link.attrs.get("href"))
    for flag in _UNDERSCORE_FLAG.findall(text):
        yield Message("write {right} instead of {flag}", right=flag.replace("_", "-"), flag=flag)


def _flat(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _flat(token.children or ())
