"""Check `complete`: a rule has what its reader needs: samples, source, causes, fixes with cost, how to verify."""

from __future__ import annotations

from collections.abc import Iterator

from vllmdoctor.languages import Message
from vllmdoctor.rules import model
from vllmdoctor.rules.check.folder import RuleFolder, at, entries, issue
from vllmdoctor.rules.check.issue import Issue
from vllmdoctor.rules.fields import Field


def is_follow_up(rule: model.Rule) -> bool:
    """True for rules that only ever point to another failure."""
    return rule.role == model.CONSEQUENCE or rule.category == "wrapper"


class CompletenessCheck:
    name = "complete"

    def issues(self, folder: RuleFolder) -> Iterator[Issue]:
        for rule, document in folder.built_rules():
            yield from self._parts(rule, document)
            yield from self._fix_costs(rule, document)
        for _, signature, place in folder.signatures():
            yield from self._signature(signature, place, shipped=folder.base is None)

    def _parts(self, rule: model.Rule, document: Field) -> Iterator[Issue]:
        needed = ["signatures", "causes", "fixes", "verify"]
        if not is_follow_up(rule):
            needed.append("does_not_help")
        if rule.role == model.CAUSE and rule.category != "wrapper":
            needed.append("first_check")
        for key in needed:
            if not document.value.get(key):
                yield issue(at(document, key), self.name, Message("`{key}` is missing or empty", key=key))

    def _fix_costs(self, rule: model.Rule, document: Field) -> Iterator[Issue]:
        for fix, place in zip(rule.fixes, entries(document, "fixes"), strict=True):
            cost = fix.cost or fix.remedy.cost
            if not cost.unknown.source.strip():
                yield issue(
                    at(place, "cost"), self.name, Message("the fix has no `cost`; say so when it costs nothing")
                )

    def _signature(self, signature: model.Signature, place: Field, *, shipped: bool) -> Iterator[Issue]:
        if not signature.samples:
            yield issue(at(place, "samples"), self.name, Message("has no sample line"))
        if not shipped or signature.origin != "vllm":
            return
        if not signature.raised:
            yield issue(
                at(place, "raised"),
                self.name,
                Message("`raised` is missing: the vLLM file; or set `origin` to who prints it"),
            )
        if not signature.versions.text:
            problem = Message("`versions` is missing: the vLLM releases with this wording")
            yield issue(at(place, "versions"), self.name, problem)
