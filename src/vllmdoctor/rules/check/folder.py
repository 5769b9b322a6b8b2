"""A folder of rule files in, everything that checks look at out: documents, what builds of them, and what does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from vllmdoctor.errors import RuleError
from vllmdoctor.languages import Message
from vllmdoctor.rules.build import build_remedy, build_rule
from vllmdoctor.rules.build_facts import build_fact_book, build_fact_name
from vllmdoctor.rules.check.issue import ERROR, Issue
from vllmdoctor.rules.fields import Field
from vllmdoctor.rules.model import Catalogue, FactBook, FactName, Remedy, Rule, Signature
from vllmdoctor.rules.yaml_source import Documents, read_rules_folder

TAXONOMY = "taxonomy.tsv"


@dataclass(slots=True)
class RuleFolder:
    """The checked folder. `rules`, `remedies` and `facts` hold only what builds; `base` the shipped rules it adds to.

    `base` is None when the folder is the shipped one; then the house rules for shipped rules apply.
    """

    path: Path
    documents: Documents
    rules: dict[str, Rule] = field(default_factory=dict)
    remedies: dict[str, Remedy] = field(default_factory=dict)
    facts: FactBook = field(default_factory=FactBook)
    base: Catalogue | None = None
    unreadable: list[RuleError] = field(default_factory=list)
    unbuildable: list[RuleError] = field(default_factory=list)

    def all_remedies(self) -> dict[str, Remedy]:
        """Its own remedies and those of the shipped rules."""
        return {**(self.base.remedies if self.base else {}), **self.remedies}

    def all_rules(self) -> dict[str, Rule]:
        return {**(self.base.rules if self.base else {}), **self.rules}

    def fact_names(self) -> Mapping[str, FactName]:
        """All declared facts, the shipped ones too."""
        return self.facts.names or (self.base.facts.names if self.base else {})

    def built_rules(self) -> Iterator[tuple[Rule, Field]]:
        """Every rule that builds, with its document."""
        return ((rule, self.documents.rules[name]) for name, rule in self.rules.items())

    def built_remedies(self) -> Iterator[tuple[Remedy, Field]]:
        return ((remedy, self.documents.remedies[name]) for name, remedy in self.remedies.items())

    def signatures(self) -> Iterator[tuple[Rule, Signature, Field]]:
        """Every signature of every rule that builds, with its place."""
        for rule, document in self.built_rules():
            for signature, place in zip(rule.signatures, entries(document, "signatures"), strict=True):
                yield rule, signature, place

    def fact_entries(self, group: str) -> Iterator[Field]:
        """Every entry of `facts`, `lines`, `derived`, `marks` or `noise` in the fact files."""
        items = (item for document in self.documents.facts for item in entries(document, group))
        return (item for item in items if isinstance(item.value, dict))


class Check(Protocol):
    """One check over a whole folder."""

    name: str

    def issues(self, folder: RuleFolder) -> Iterator[Issue]: ...


def entries(document: Field, group: str) -> list[Field]:
    """The entries of a list in a document; none when it is absent or no list."""
    found = document.get(group) if isinstance(document.value, dict) else None
    return found.items() if found and isinstance(found.value, list) else []


def at(place: Field, key: str) -> Field:
    """The place of a key, also when it is absent (then errors show the line of what should hold it)."""
    found = place.get(key) if isinstance(place.value, dict) else None
    return found or Field(place.file, f"{place.path}.{key}".lstrip("."), None, place.lines)


def issue(place: Field, check: str, text: str, severity: str = ERROR) -> Issue:
    return Issue.of(place.error(text), check, severity)


def open_rule_folder(path: Path, base: Catalogue | None = None) -> RuleFolder:
    """Raises RuleError when the folder holds no rule file at all; problems of single files are kept."""
    if not path.is_dir():
        raise RuleError(str(path), Message("is not a folder"))
    unreadable: list[RuleError] = []
    folder = RuleFolder(path, read_rules_folder(path, unreadable.append), base=base, unreadable=unreadable)
    for name, document in folder.documents.remedies.items():
        try:
            folder.remedies[name] = build_remedy(document)
        except RuleError as problem:
            folder.unbuildable.append(problem)
    for name, document in folder.documents.rules.items():
        try:
            folder.rules[name] = build_rule(document, folder.all_remedies())
        except RuleError as problem:
            folder.unbuildable.append(problem)
    try:
        folder.facts = build_fact_book(folder.documents.facts, base.facts.names if base else None)
    except RuleError as problem:
        folder.unbuildable.append(problem)
        folder.facts = FactBook(names=_declared_names(folder))
    return folder


def _declared_names(folder: RuleFolder) -> dict[str, FactName]:
    """The declarations alone: one bad line must not make every rule look wrong."""
    names = dict(folder.base.facts.names if folder.base else {})
    for place in folder.fact_entries("facts"):
        try:
            name = build_fact_name(place)
        except RuleError:
            continue  # `build_fact_book` has reported it, or will when the first problem is solved
        names[name.name] = name
    return names
