"""A rule, remedy or translation document in, its texts out: each with its place, prose apart from commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vllmdoctor.errors import ExpressionError
from vllmdoctor.rules.check.folder import entries
from vllmdoctor.rules.fields import Field
from vllmdoctor.rules.texts import Template, parse_template
from vllmdoctor.rules.translate import GROUPS, TEXTS

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class Wording:
    """One wording (a text has one or two) and its place. `key` is the field's name, such as title."""

    key: str
    source: str
    place: Field

    def template(self) -> Template | None:
        """None when a placeholder does not parse, which the check `build` reports."""
        try:
            return parse_template(self.source)
        except ExpressionError:
            return None

    def without_placeholders(self) -> str:
        """The text with a plain word for every placeholder."""
        return _PLACEHOLDER.sub(lambda found: found[0][0] if found[0] in ("{{", "}}") else "0", self.source)


def prose_of(document: Field) -> Iterator[Wording]:
    """Every text for the reader: of the document itself and of the entries in its lists (or maps, in translations)."""
    yield from own_prose(document)
    for group in GROUPS:
        yield from (wording for item in _items(document, group) for wording in own_prose(item))


def own_prose(place: Field) -> Iterator[Wording]:
    """The texts of one entry (or of a document without its lists)."""
    for key in TEXTS:
        yield from wordings(place, key)


def commands_of(place: Field) -> Iterator[Wording]:
    """Every text of an entry that is not prose: log lines and commands to verify, and what a fix changes."""
    for key in ("log", "command"):
        yield from wordings(place, key)
    changes = place.get("changes") if isinstance(place.value, dict) else None
    if changes is None or not isinstance(changes.value, dict):
        return
    for key in ("compose", "kubernetes", "python"):
        yield from wordings(changes, key)
    for key in ("shell", "docker"):
        yield from (wording for item in entries(changes, key) for wording in _of(key, item))
    for key in ("arguments", "environment"):
        found = changes.get(key)
        if found is not None and isinstance(found.value, dict):
            yield from (wording for name, item in found.entries() for wording in _of(name, item))


def wordings(place: Field, key: str) -> Iterator[Wording]:
    """The one or two wordings of a text."""
    found = place.get(key) if isinstance(place.value, dict) else None
    if found is not None:
        yield from _of(key, found)


def _of(key: str, found: Field) -> Iterator[Wording]:
    if isinstance(found.value, str):
        yield Wording(key, found.value, found)
    elif isinstance(found.value, dict):
        yield from (Wording(key, item.value, item) for _, item in found.entries() if isinstance(item.value, str))


def _items(document: Field, group: str) -> list[Field]:
    found = document.get(group) if isinstance(document.value, dict) else None
    if found is not None and isinstance(found.value, dict):
        return [item for _, item in found.entries()]
    return entries(document, group)
