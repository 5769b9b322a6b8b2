"""Check `overlap`: over all rules, a sample is matched by its own rule only, or by a declared relative too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vllmdoctor.rules import model
from vllmdoctor.rules.check.completeness import is_follow_up
from vllmdoctor.rules.check.folder import RuleFolder, issue
from vllmdoctor.rules.check.issue import Issue
from vllmdoctor.rules.check.samples import sample_places, seen_text

_LOUDNESS = {"any": 0, "warning": 1, "error": 2, "traceback": 2}


@dataclass(frozen=True, slots=True)
class _Matcher:
    rule: model.Rule
    signature: model.Signature
    search: re.Pattern[str]

    def matches(self, text: str) -> bool:
        literals = self.signature.literals
        if not all(any(literal in text for literal in group) for group in literals) or not self.search.search(text):
            return False
        return not (self.signature.unless and re.search(self.signature.unless, text))


class OverlapCheck:
    name = "overlap"

    def issues(self, folder: RuleFolder) -> Iterator[Issue]:
        matchers = [
            _Matcher(rule, signature, re.compile(signature.pattern))
            for rule in folder.all_rules().values()
            for signature in rule.signatures
        ]
        noise = [(entry.id, re.compile(entry.pattern)) for entry in _noise(folder)]
        for rule, own, place in folder.signatures():
            for sample in sample_places(place):
                text = seen_text(sample.value, own)
                for other in _others(rule, own, text, matchers):
                    problem = f"the rule {other!r} matches this sample too; make one of them narrower, or relate them"
                    yield issue(sample, self.name, problem)
                for name in (name for name, pattern in noise if pattern.search(text)):
                    yield issue(sample, self.name, f"the noise {name!r} matches this sample, so it would never count")


def _others(rule: model.Rule, own: model.Signature, text: str, matchers: list[_Matcher]) -> list[str]:
    """Ids of the rules that would match the text beside the rule itself, without a reason to."""
    found = {
        matcher.rule.id
        for matcher in matchers
        if matcher.rule.id != rule.id
        and not _related(rule, matcher.rule)
        and _meet(own, matcher.signature)
        and matcher.matches(text)
    }
    return sorted(found)


def _related(one: model.Rule, other: model.Rule) -> bool:
    return (
        is_follow_up(one)
        or is_follow_up(other)
        or other.id in (*one.explained_by, *one.related)
        or one.id in (*other.explained_by, *other.related)
    )


def _meet(own: model.Signature, other: model.Signature) -> bool:
    """False when something besides the text tells them apart: scope, phase, frames, or a condition.

    A sample may be as quiet as its own scope allows; the other signature only looks at records that are loud enough.
    """
    if any(signature.phases or signature.frames or signature.when for signature in (own, other)):
        return False
    if "end" in (own.scope, other.scope) or "gpus" in (own.scope, other.scope):
        return own.scope == other.scope
    return own.scope == "any" or _LOUDNESS[own.scope] >= _LOUDNESS[other.scope]


def _noise(folder: RuleFolder) -> tuple[model.Noise, ...]:
    return (*folder.facts.noise, *(folder.base.facts.noise if folder.base else ()))
