"""Check `link`: what files say about each other exists: remedies, related rules, causes that are cured, references."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vllmdoctor.languages import Message
from vllmdoctor.rules.check.folder import RuleFolder, at, entries, issue
from vllmdoctor.rules.check.issue import WARNING, Issue
from vllmdoctor.rules.fields import Field

_URL = re.compile(r"https://[A-Za-z0-9.-]+\.[a-z]{2,}(?:[/?#]\S*)?")


class LinkCheck:
    name = "link"

    def issues(self, folder: RuleFolder) -> Iterator[Issue]:
        ids = frozenset((*folder.all_rules(), *folder.documents.rules))
        for document in folder.documents.rules.values():
            yield from self._rules(document, ids)
            yield from self._cures(document)
        for document in (*folder.documents.rules.values(), *folder.documents.remedies.values()):
            yield from self._references(document)
        yield from self._unused_remedies(folder)

    def _rules(self, document: Field, ids: frozenset[str]) -> Iterator[Issue]:
        for key in ("explained_by", "related"):
            seen = set()
            for item in entries(document, key):
                if item.value == document.value.get("id"):
                    yield issue(item, self.name, Message("the rule names itself"))
                elif item.value not in ids:
                    yield issue(item, self.name, Message("there is no rule {id!r}", id=item.value))
                elif item.value in seen:
                    yield issue(item, self.name, Message("{id!r} is named twice", id=item.value))
                seen.add(item.value)

    def _cures(self, document: Field) -> Iterator[Issue]:
        causes = {item.value.get("id") for item in entries(document, "causes")}
        for fix in entries(document, "fixes"):
            for item in entries(fix, "cures"):
                if item.value not in causes:
                    yield issue(item, self.name, Message("the rule has no cause {id!r}", id=item.value))

    def _references(self, document: Field) -> Iterator[Issue]:
        for item in entries(document, "references"):
            value = item.value if isinstance(item.value, dict) else {}
            if not _URL.fullmatch(str(value.get("url", ""))):
                yield issue(at(item, "url"), self.name, Message("is not an https:// address"))
            if not str(value.get("title", "")).strip():
                yield issue(at(item, "title"), self.name, Message("the reference has no title"))

    def _unused_remedies(self, folder: RuleFolder) -> Iterator[Issue]:
        used = {
            item.value.get("remedy")
            for document in folder.documents.rules.values()
            for item in entries(document, "fixes")
            if isinstance(item.value, dict)
        }
        for name, document in folder.documents.remedies.items():
            if name not in used:
                yield issue(at(document, "id"), self.name, Message("no rule uses this remedy"), WARNING)
