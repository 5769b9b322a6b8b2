"""A built page in, what tests ask of it out: ids, links, title, description, prose."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

_ID = re.compile(r'<[^>]*?\s(?:id|name)="([^"]*)"')
_LINK = re.compile(r'<(?:a|link|script|img|form|iframe|source)\b[^>]*?\s(?:href|src|action)="([^"]*)"')
_DATA_LINK = re.compile(r'<[^>]*?\sdata-analyze="([^"]*)"')
_HEADING = re.compile(r'<h([1-3]) id="([^"]*)"')
_NOT_PROSE = re.compile(r"<(pre|code|script|svg|textarea|option)\b.*?</\1>|<div hidden[^>]*>.*?</div>", re.DOTALL)
_BLOCK = re.compile(r"</?(?:p|li|h\d|td|th|tr|div|summary|ul|ol|a|button|label|dt|dd|span)\b[^>]*>")


@dataclass(frozen=True)
class BuiltPage:
    path: Path
    text: str

    @property
    def head(self) -> str:
        return self.text[: self.text.index("<body")]

    @property
    def ids(self) -> set[str]:
        return {unescape(one) for one in _ID.findall(self.text)}

    @property
    def links(self) -> list[str]:
        """Of elements with an address, also in HTML that no Markdown check sees."""
        return [unescape(one) for one in (*_LINK.findall(self.text), *_DATA_LINK.findall(self.text))]

    @property
    def headings(self) -> list[str]:
        """`2 fixes`: level and id, in order."""
        return [f"{level} {anchor}" for level, anchor in _HEADING.findall(self.text)]

    @property
    def title(self) -> str:
        found = re.search(r"<title>([^<>]*)</title>", self.head)
        return unescape(found[1]).strip() if found else ""

    def meta(self, name: str) -> list[str]:
        return [unescape(one) for one in re.findall(rf'<meta (?:name|property)="{name}" content="([^"]*)">', self.head)]

    def rel(self, name: str) -> list[str]:
        return [unescape(one) for one in re.findall(rf'<link rel="{name}" href="([^"]*)">', self.head)]

    @property
    def alternates(self) -> dict[str, str]:
        return dict(re.findall(r'<link rel="alternate" hreflang="([^"]*)" href="([^"]*)">', self.head))

    @property
    def article(self) -> str:
        return self.text[self.text.index("<article") : self.text.index("</article>")]

    @property
    def prose(self) -> list[str]:
        """Runs of text of the article without code."""
        text = _BLOCK.sub("\n", _NOT_PROSE.sub("\n", self.article))
        return [" ".join(unescape(line).split()) for line in re.sub(r"<[^>]*>", " ", text).split("\n") if line.strip()]


@cache
def page_at(path: Path) -> BuiltPage:
    return BuiltPage(path, path.read_text(encoding="utf-8"))


def pages_of(folder: Path) -> list[BuiltPage]:
    return [page_at(path) for path in sorted(folder.rglob("*.html"))]


def broken_links(folder: Path, address: str, page: BuiltPage) -> list[str]:
    """Links of a page to files or anchors of the site that do not exist. `address` is where the folder is served."""
    own = address + page.path.relative_to(folder).as_posix().removesuffix("index.html")
    ids: dict[Path, set[str]] = {}
    broken = []
    for link in sorted(set(page.links)):
        target = urljoin(own, link)
        if not target.startswith(address):
            continue
        parts = urlsplit(target)
        path = folder / unquote(parts.path).removeprefix(urlsplit(address).path)
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            broken.append(link)
        elif parts.fragment and path.suffix == ".html":
            known = ids.setdefault(path, page_at(path).ids)
            if unquote(parts.fragment) not in known and not parts.fragment.startswith("__"):
                broken.append(link)
    return broken
