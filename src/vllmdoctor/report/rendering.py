"""Texts of rules and the facts in force in, wordings out; and what the facts say about a cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vllmdoctor.facts.command import UserCommand
from vllmdoctor.facts.model import COMPUTED, Fact
from vllmdoctor.report import words as w
from vllmdoctor.report.commands import machine_text
from vllmdoctor.report.words import Words
from vllmdoctor.rules.expressions import UNKNOWN, Lookup, Unknown
from vllmdoctor.rules.model import Catalogue, Cause, FactBook
from vllmdoctor.rules.texts import Text, format_value

_FORMS = {"GiB": "gib", "MiB": "mib", "tokens": "int", "count": "int"}


@dataclass(frozen=True, slots=True)
class Rendering:
    """Everything needed to put a finding's texts into words."""

    lookup: Lookup
    book: FactBook
    words: Words
    facts: Mapping[str, Fact]
    command: UserCommand | None = None  # the user's own, which fixes are applied to

    def text(self, text: Text) -> str:
        return text.render(self.lookup, self.book.unit_of).strip()

    def machine(self, text: Text) -> str:
        """As a program reads it: plain numbers."""
        return machine_text(text, self.lookup).strip()

    def title_of(self, fact_name: str) -> str:
        declared = self.book.names.get(fact_name)
        return self.words.said(declared.title) if declared else fact_name.replace("_", " ")

    def uses_computed(self, text: Text) -> bool:
        """True when the wording in force shows a number that was computed, not read."""
        if text.known.render(self.lookup, self.book.unit_of) is None:
            return False
        return any(name in self.facts and self.facts[name].kind == COMPUTED for name in text.known.facts())


def fact_lookup(facts: Mapping[str, Fact]) -> Lookup:
    def lookup(name: str) -> bool | int | float | str | Unknown:
        return facts[name].value if name in facts else UNKNOWN

    return lookup


def nothing_known(catalogue: Catalogue, words: Words) -> Rendering:
    """For texts outside of a log: every fact is unknown."""
    return Rendering(lambda name: UNKNOWN, catalogue.facts, words, {})


def shown_fact(fact: Fact, words: Words) -> str:
    """Value with unit: 2.50 GiB, 32,768 tokens, fp8."""
    shown = format_value(fact.value, _FORMS.get(fact.unit, "raw"))
    if fact.unit == "tokens":
        return words(w.TOKENS, count=shown)
    return shown if fact.unit in ("", "GiB", "MiB", "count") else f"{shown} {fact.unit}"


def cause_reason(cause: Cause, deciding: Iterable[str], rendering: Rendering) -> str:
    """The facts that decide about a cause with their values, or the ones that would."""
    if names := rendering.words.listed(rendering.title_of(name) for name in deciding):
        return rendering.words(w.WOULD_DECIDE, facts=names)
    used = sorted(cause.when.facts()) if cause.when else []
    known = [rendering.facts[name] for name in used if name in rendering.facts]
    return rendering.words.listed(
        f"{rendering.title_of(fact.name)}: {shown_fact(fact, rendering.words)}" for fact in known
    )
