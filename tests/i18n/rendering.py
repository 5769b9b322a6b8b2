"""All texts of a rule in a language, with everything known or nothing; and what is told apart in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vllmdoctor.facts.model import READ, Fact
from vllmdoctor.report.build_fixes import fix_report
from vllmdoctor.report.model import FixReport
from vllmdoctor.report.rendering import Rendering, nothing_known
from vllmdoctor.report.words import Words
from vllmdoctor.rules.comments import COMMENT
from vllmdoctor.rules.load import load_catalogue
from vllmdoctor.rules.model import Catalogue, Rule

CODE = re.compile(r"`[^`]*`")
NUMBER = re.compile(r"(?<![A-Za-z_0-9.,-])\d[\d,.]*")


@dataclass(frozen=True)
class Shown:
    """One text: where it stands in the rule, as it is shown."""

    place: str
    text: str


class _Everything(dict[str, Fact]):
    """Facts of which every one is known, those of a rule's own groups too."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__()
        values: dict[str, object] = {"number": 12.25, "integer": 7777, "flag": True}
        for number, name in enumerate(sorted(catalogue.facts.names)):
            declared = catalogue.facts.names[name]
            value = values.get(declared.type, f"value-of-{name.replace('_', '-')}")
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                value += number
            self[name] = Fact(name, value, declared.unit, READ)  # type: ignore[arg-type]

    def lookup(self, name: str) -> bool | int | float | str:
        return self[name].value if name in self else f"value-of-{name.replace('_', '-')}"


def catalogue_in(language: str) -> Catalogue:
    return load_catalogue(language)


def renderings(catalogue: Catalogue) -> tuple[Rendering, Rendering]:
    """With everything known, and with nothing."""
    words, everything = Words(catalogue.language), _Everything(catalogue)
    return Rendering(everything.lookup, catalogue.facts, words, everything), nothing_known(catalogue, words)


def texts_of(rule: Rule, rendering: Rendering) -> Iterator[Shown]:
    """Every text of the rule and its remedies, without commands and log lines."""
    text = rendering.text
    yield Shown("title", text(rule.title))
    yield Shown("summary", text(rule.summary))
    yield Shown("first_check", text(rule.first_check))
    for cause in rule.causes:
        yield Shown(f"causes.{cause.id}.title", text(cause.title))
        yield Shown(f"causes.{cause.id}.text", text(cause.text))
    for number, fix in enumerate(rule.fixes):
        report = fix_report(fix, 1, rendering)
        for part in ("title", "why", "cost"):
            yield Shown(f"fixes.{number}.{fix.id}.{part}", getattr(report, part))
        yield Shown(f"fixes.{number}.{fix.id}.effect", text(fix.remedy.effect))
    for caution in rule.does_not_help:
        yield Shown(f"does_not_help.{caution.id}.title", text(caution.title))
        yield Shown(f"does_not_help.{caution.id}.text", text(caution.text))
    for check in rule.verify:
        yield Shown(f"verify.{check.id}.text", text(check.text))


def commands_of(rule: Rule, rendering: Rendering) -> list[object]:
    """What is to be typed: the fixes' commands in all forms, the checks' commands and expected log lines.

    Without the comments, which are in the reader's language (see `comments_of`).
    """
    fixes = [fix_report(fix, 1, rendering) for fix in rule.fixes]
    checks = [
        (rendering.text(check.log) if check.log else "", rendering.machine(check.command) if check.command else "")
        for check in rule.verify
    ]
    return [
        *((fix.id, [without_comments(form) for form in _forms(fix)], dict(fix.arguments)) for fix in fixes),
        *checks,
    ]


def comments_of(rule: Rule, rendering: Rendering) -> list[str]:
    """The comments in all forms of the fixes' commands, in order."""
    forms = [form for fix in rule.fixes for form in _forms(fix_report(fix, 1, rendering))]
    return [found["comment"] for form in forms for found in COMMENT.finditer(form)]


def without_comments(command: str) -> str:
    return COMMENT.sub("", command)


def _forms(fix: FixReport) -> list[str]:
    return [fix.commands.cli, fix.commands.python, fix.commands.compose, fix.commands.kubernetes]


def prose(text: str) -> str:
    """The text without inline code and links."""
    return re.sub(r"\]\([^)]*\)|https?://\S+", "] ", CODE.sub(" ` ", text))
