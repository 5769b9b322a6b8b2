"""Check `fact`: samples of fact lines, marks and noise match, and give values of the declared type."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vllmdoctor.languages import Message
from vllmdoctor.rules.build_facts import fact_groups
from vllmdoctor.rules.check.folder import RuleFolder, at, issue
from vllmdoctor.rules.check.issue import Issue
from vllmdoctor.rules.check.samples import folded, sample_places, seen_text
from vllmdoctor.rules.fields import Field

_SHAPES = {
    "integer": re.compile(r"-?\d{1,3}(?:,\d{3})+|-?\d+"),
    "number": re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?"),
    "flag": re.compile(r"true|false|yes|no|on|off|1|0", re.IGNORECASE),
    "text": re.compile(r".+"),
    "list": re.compile(r".+"),
}


def has_type(value: str, kind: str) -> bool:
    """True when a text that a pattern took out of a line reads as a value of a fact's type, or as none at all."""
    return value.strip() in ("", "None") or bool(_SHAPES[kind].fullmatch(value.strip().rstrip(".,;")))


class FactLineCheck:
    name = "fact"

    def issues(self, folder: RuleFolder) -> Iterator[Issue]:
        for item in folder.fact_entries("lines"):
            yield from self._samples(item)
            yield from self._values(folder, item)
        for item in folder.fact_entries("noise"):
            yield from self._samples(item)
        for item in folder.fact_entries("marks"):
            if item.value.get("where") != "frame":
                yield from self._samples(item)
        yield from self._signature_values(folder)

    def _samples(self, item: Field) -> Iterator[Issue]:
        pattern = _compiled(item)
        if pattern is None:
            return
        samples = sample_places(item)
        if not samples:
            yield issue(at(item, "samples"), self.name, Message("has no sample line"))
        for sample in samples:
            if not _match(pattern, sample.value):
                yield issue(sample, self.name, Message("the pattern does not match this sample"))
            for group in item.value.get("literals") or ():
                if not any(literal in sample.value for literal in group):
                    problem = Message("none of its literals is in this sample: {literals}", literals=", ".join(group))
                    yield issue(sample, self.name, problem)

    def _values(self, folder: RuleFolder, item: Field) -> Iterator[Issue]:
        pattern = _compiled(item)
        if pattern is None:
            return
        given: dict[str, str] = {}
        for sample in sample_places(item):
            found = _match(pattern, sample.value)
            values = {name: text for name, text in (found.groupdict() if found else {}).items() if text is not None}
            yield from self._typed(folder, sample, values)
            given |= values
        for name in fact_groups(pattern.pattern):
            if name not in given and sample_places(item):
                yield issue(at(item, "samples"), self.name, Message("no sample gives the fact {name!r}", name=name))
        constants = item.value.get("constants") or {}
        yield from self._typed(folder, at(item, "constants"), {name: str(text) for name, text in constants.items()})

    def _signature_values(self, folder: RuleFolder) -> Iterator[Issue]:
        for _, signature, place in folder.signatures():
            pattern = re.compile(signature.pattern)
            for sample in sample_places(place):
                found = pattern.search(seen_text(sample.value, signature))
                values = {name: text for name, text in (found.groupdict() if found else {}).items() if text is not None}
                yield from self._typed(folder, sample, values)

    def _typed(self, folder: RuleFolder, place: Field, values: dict[str, str]) -> Iterator[Issue]:
        names = folder.fact_names()
        for name, text in values.items():
            kind = names[name].type if name in names else "text"
            if not has_type(text, kind):
                problem = Message("gives {name} = {text!r}, which is no {kind}", name=name, text=text, kind=kind)
                yield issue(place, self.name, problem)


def _compiled(item: Field) -> re.Pattern[str] | None:
    """None when it does not compile, which the check `pattern` reports."""
    try:
        return re.compile(item.value["pattern"])
    except (KeyError, TypeError, re.error):
        return None


def _match(pattern: re.Pattern[str], sample: str) -> re.Match[str] | None:
    return pattern.search(folded(sample)) or pattern.search(sample)
