"""Check `title`: a rule's title, with the facts filled in, fits on one line beside the rule's id."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vllmdoctor.languages import Message
from vllmdoctor.rules.check.folder import RuleFolder, issue
from vllmdoctor.rules.check.issue import Issue
from vllmdoctor.rules.check.prose import Wording, wordings
from vllmdoctor.rules.expressions import Unknown
from vllmdoctor.rules.model import Rule
from vllmdoctor.rules.texts import Template

MAX_TITLE = 72
_TYPICAL = {"GiB": 22.53, "MiB": 22500, "tokens": 131072, "bytes": 23068672, "count": 128, "s": 12.5}
_BY_TYPE: dict[str, bool | int | float | str] = {"integer": 128, "number": 22.53, "flag": True, "text": "x" * 20}


class TitleCheck:
    name = "title"

    def issues(self, folder: RuleFolder) -> Iterator[Issue]:
        for rule, document in folder.built_rules():
            for wording in wordings(document, "title"):
                template = wording.template()
                if template is not None:
                    yield from self._wording(folder, rule, wording, template)

    def _wording(self, folder: RuleFolder, rule: Rule, wording: Wording, template: Template) -> Iterator[Issue]:
        facts = {**_typical_values(folder), **_sample_values(rule)}
        names = folder.fact_names()
        text = template.render(
            lambda name: facts.get(name, Unknown.UNKNOWN), lambda name: names[name].unit if name in names else ""
        )
        rendered = (text or "").replace("`", "")
        if len(rendered) > MAX_TITLE:
            problem = Message(
                "{count} characters when rendered, {most} fit: {title}",
                count=len(rendered),
                most=MAX_TITLE,
                title=rendered,
            )
            yield issue(wording.place, self.name, problem)
        if rendered.endswith("."):
            yield issue(wording.place, self.name, Message("ends with a full stop"))


def _typical_values(folder: RuleFolder) -> dict[str, bool | int | float | str]:
    facts = folder.fact_names().items()
    return {name: _TYPICAL.get(fact.unit, _BY_TYPE.get(fact.type, "x" * 20)) for name, fact in facts}


def _sample_values(rule: Rule) -> dict[str, int | float | str]:
    """What the rule's own samples say: the last value of each named group."""
    values: dict[str, int | float | str] = {}
    for signature in rule.signatures:
        for sample in signature.samples:
            found = re.search(signature.pattern, sample)
            for name, text in (found.groupdict() if found else {}).items():
                if text is not None:
                    values[name] = _number_or_text(text)
    return values


def _number_or_text(text: str) -> int | float | str:
    bare = text.replace(",", "")
    try:
        return int(bare) if bare.isdigit() else float(bare)
    except ValueError:
        return text
