"""Check `overlap`: over all rules, a sample is matched by its own rule only, or by a declared relative too."""

from __future__ import annotations

from collections.abc import Iterator

from vllmdoctor.languages import Message
from vllmdoctor.rules import model
from vllmdoctor.rules.check.completeness import is_follow_up
from vllmdoctor.rules.check.folder import RuleFolder, issue
from vllmdoctor.rules.check.issue import Issue
from vllmdoctor.rules.check.samples import sample_places, seen_text
from vllmdoctor.rules.prefilter import candidates, compiled

_LOUDNESS = {"any": 0, "warning": 1, "error": 2, "traceback": 2}


class OverlapCheck:
    name = "overlap"

    def issues(self, folder: RuleFolder) -> Iterator[Issue]:
        samples = [
            (rule, own, sample, seen_text(sample.value, own))
            for rule, own, place in folder.signatures()
            for sample in sample_places(place)
        ]
        texts = [text for *_, text in samples]
        others: dict[int, set[str]] = {}
        signatures = [(rule, signature) for rule in folder.all_rules().values() for signature in rule.signatures]
        for item, index in candidates([signature.literals for _, signature in signatures], texts):
            (other, signature), (rule, own, _, text) = signatures[item], samples[index]
            if (
                other.id != rule.id
                and _meet(own, signature)
                and not _related(rule, other)
                and _matches(signature, text)
            ):
                others.setdefault(index, set()).add(other.id)
        for index, names in others.items():
            yield from (issue(samples[index][2], self.name, _also_matches(name)) for name in sorted(names))
        for entry in _noise(folder):
            for index in (index for _, index in candidates([entry.literals], texts)):
                if compiled(entry.pattern).search(texts[index]):
                    problem = Message("the noise {id!r} matches this sample, so it would never count", id=entry.id)
                    yield issue(samples[index][2], self.name, problem)


def _also_matches(rule_id: str) -> Message:
    return Message("the rule {id!r} matches this sample too; make one of them narrower, or relate them", id=rule_id)


def _matches(signature: model.Signature, text: str) -> bool:
    if not compiled(signature.pattern).search(text):
        return False
    return not (signature.unless and compiled(signature.unless).search(text))


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
