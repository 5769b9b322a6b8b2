"""Check `identity`: ids fit their file, folder and the taxonomy, and are used once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from vllmdoctor.languages import Message
from vllmdoctor.rules.check.folder import TAXONOMY, RuleFolder, at, entries, issue
from vllmdoctor.rules.check.issue import ERROR, Issue
from vllmdoctor.rules.fields import Field

_LISTS = ("causes", "fixes", "does_not_help", "verify")


def read_taxonomy(path: Path) -> dict[str, str]:
    """Category by rule id, from a table of id, category, description with a heading line."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:] if line.strip()]
    return {row[0]: row[1] for row in rows if len(row) >= 2}


class IdentityCheck:
    name = "identity"

    def issues(self, folder: RuleFolder) -> Iterator[Issue]:
        documents = folder.documents
        for document in (*documents.rules.values(), *documents.remedies.values()):
            yield from self._file_name(document)
            yield from self._repeated_entries(document)
        for name in documents.rules.keys() & documents.remedies.keys():
            yield issue(
                at(documents.remedies[name], "id"), self.name, Message("a rule has the id {name!r} too", name=name)
            )
        yield from self._aliases(folder)
        if folder.base is None:
            yield from self._places(folder)
            yield from self._taxonomy(folder)

    def _file_name(self, document: Field) -> Iterator[Issue]:
        stem = PurePosixPath(document.file.replace("\\", "/")).stem
        if document.value.get("id") != stem:
            yield issue(
                at(document, "id"), self.name, Message("the id differs from the file's name {stem!r}", stem=stem)
            )

    def _repeated_entries(self, document: Field) -> Iterator[Issue]:
        for group in _LISTS:
            seen = set()
            for item in entries(document, group):
                value = item.value if isinstance(item.value, dict) else {}
                name = value.get("id") or value.get("remedy")
                if name in seen:
                    yield issue(item, self.name, _used_twice(name, group))
                seen.add(name)

    def _aliases(self, folder: RuleFolder) -> Iterator[Issue]:
        names = set(folder.all_rules())
        for rule, document in folder.built_rules():
            for alias in rule.aliases:
                if alias in names:
                    problem = Message("{alias!r} is the id or old id of another rule", alias=alias)
                    yield issue(at(document, "aliases"), self.name, problem)
                names.add(alias)

    def _places(self, folder: RuleFolder) -> Iterator[Issue]:
        for document in folder.documents.rules.values():
            category = document.value.get("category")
            if PurePosixPath(document.file.replace("\\", "/")).parent.name != category:
                problem = Message("the file is not in the folder {category}/", category=category)
                yield issue(at(document, "category"), self.name, problem)

    def _taxonomy(self, folder: RuleFolder) -> Iterator[Issue]:
        path = folder.path / TAXONOMY
        file = str(path.relative_to(folder.path.parent))
        if not path.is_file():
            problem = Message("is missing: the list of rule ids with their categories")
            yield Issue(file, 0, "", self.name, ERROR, problem)
            return
        taxonomy = read_taxonomy(path)
        for name, document in folder.documents.rules.items():
            if name not in taxonomy:
                yield issue(at(document, "id"), self.name, _unlisted(name, file))
            elif taxonomy[name] != document.value.get("category"):
                problem = Message("{file} has it under {category!r}", file=file, category=taxonomy[name])
                yield issue(at(document, "category"), self.name, problem)
        for line, name in enumerate(taxonomy, start=2):
            if name not in folder.documents.rules:
                yield Issue(file, line, name, self.name, ERROR, Message("has no rule file"))


def _used_twice(name: object, group: str) -> Message:
    return Message("{name!r} is used twice in `{group}`; give this one its own `id`", name=name, group=group)


def _unlisted(name: str, file: str) -> Message:
    return Message("{name!r} is not in {file}; add a line for it", name=name, file=file)
