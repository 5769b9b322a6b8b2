"""The files of docs/guide in, guides with their texts and whether a translation is fresh out.

A translation says in its front matter from which English text it was made (`source_digest`); after the English has
changed it is stale until someone has read it again and stamped it: `python -m vllmdoctor.site.guides stamp NAME vi`.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import yaml

from vllmdoctor.errors import InputError
from vllmdoctor.languages import ENGLISH, LANGUAGES
from vllmdoctor.site.context import checkout_root

# In the order in which a reader needs them.
GUIDES = (
    "getting-started",
    "read-a-log",
    "memory",
    "plan",
    "compare",
    "nvidia-smi",
    "ci",
    "write-a-rule",
    "privacy",
    "about",
)
MISSING, STALE = "missing", "stale"
# Made from a file of the checkout; only its translations are guides.
_SOURCES: Mapping[str, str] = {"changelog": "CHANGELOG.md"}
_FRONT = re.compile(r"---\n(?P<fields>.*?)\n---\n+", re.DOTALL)
_FIELDS = {"title", "description", "source_digest"}
_DIGEST_LINE = re.compile(r"^source_digest:.*$", re.MULTILINE)
_USAGE = "python -m vllmdoctor.site.guides check | stamp NAME LANGUAGE"


@dataclass(frozen=True, slots=True)
class Guide:
    """`language` is that of its texts: English where there is no translation. `body` still has its markers.

    Empty lines stand in `body` for the front matter, so that its lines have the numbers that they have in the file.
    """

    name: str
    language: str
    title: str
    description: str
    body: str
    source_digest: str
    file: str


def read_guide(name: str, language: str) -> Guide:
    """Raises InputError when the file is missing in English or has no front matter."""
    path = guide_path(name, language)
    if language != ENGLISH and not path.is_file():
        return read_guide(name, ENGLISH)
    file = path.relative_to(checkout_root()).as_posix()
    if not path.is_file():
        raise InputError(file, "there is no such guide")
    text = path.read_text(encoding="utf-8")
    front = _FRONT.match(text)
    if not front:
        raise InputError(file, "has no front matter", "Begin it with title and description between lines of ---")
    fields = yaml.safe_load(front["fields"])
    if not isinstance(fields, dict) or set(fields) - _FIELDS or not {"title", "description"} <= set(fields):
        raise InputError(file, "its front matter must have title and description, a translation source_digest")
    digest = str(fields.get("source_digest", ""))
    body = "\n" * front[0].count("\n") + text[front.end() :]
    return Guide(name, language, str(fields["title"]), str(fields["description"]), body, digest, file)


def guide_notice(name: str, language: str) -> str:
    """ "missing" when the guide is not translated, "stale" when its English has changed since, else ""."""
    if language == ENGLISH:
        return ""
    if not guide_path(name, language).is_file():
        return MISSING
    return "" if read_guide(name, language).source_digest == source_digest(name) else STALE


def guide_path(name: str, language: str) -> Path:
    return checkout_root() / "docs" / "guide" / language / f"{name}.md"


def source_path(name: str) -> Path:
    return checkout_root() / _SOURCES[name] if name in _SOURCES else guide_path(name, ENGLISH)


def source_digest(name: str) -> str:
    """Of the English text; line ends and blanks at them do not count."""
    text = unicodedata.normalize("NFC", source_path(name).read_text(encoding="utf-8"))
    return sha256("\n".join(line.rstrip() for line in text.strip().splitlines()).encode()).hexdigest()[:12]


def check_guides() -> list[str]:
    """What is missing or stale, one line each."""
    names = (*GUIDES, *_SOURCES)
    found = [(name, language, guide_notice(name, language)) for language in LANGUAGES for name in names]
    return [f"docs/guide/{language}/{name}.md: {notice}" for name, language, notice in found if notice]


def stamp_guide(name: str, language: str) -> None:
    """States that the translation says what the English says now."""
    path = guide_path(name, language)
    if language == ENGLISH or not path.is_file():
        raise InputError(str(path), "there is no such translation yet; write it first")
    text = path.read_text(encoding="utf-8")
    front = _FRONT.match(text)
    if not front:
        raise InputError(str(path), "has no front matter")
    line = f'source_digest: "{source_digest(name)}"'
    fields = front["fields"]
    stamped = _DIGEST_LINE.sub(line, fields) if _DIGEST_LINE.search(fields) else f"{fields}\n{line}"
    path.write_text(text[: front.start("fields")] + stamped + text[front.end("fields") :], encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    if arguments == ["check"]:
        problems = check_guides()
        print("\n".join(problems))
        return bool(problems)
    if len(arguments) == 3 and arguments[0] == "stamp":
        stamp_guide(arguments[1], arguments[2])
        return 0
    print(_USAGE, file=sys.stderr)
    return 2


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
