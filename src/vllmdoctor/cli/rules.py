"""`vllmdoctor rules`: the catalogue in; a list, the technical side of a rule, or the problems of rule files out."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from vllmdoctor.cli.explain import unknown_rule
from vllmdoctor.cli.output import flush_quietly, open_console, write_json
from vllmdoctor.errors import UsageError
from vllmdoctor.languages import Message
from vllmdoctor.rules.load import checkout_rules, load_catalogue
from vllmdoctor.rules.model import CATEGORIES, Rule, Signature


def print_rules(category: str | None, *, as_json: bool, language: str, rules_folders: Sequence[Path]) -> None:
    from vllmdoctor.report.rendering import nothing_known
    from vllmdoctor.report.words import Words

    if category is not None and category not in CATEGORIES:
        raise UsageError(
            Message("no category {category!r}; there are {names}", category=category, names=", ".join(CATEGORIES))
        )
    catalogue = load_catalogue(language, rules_folders)
    rules = [rule for rule in catalogue.rules.values() if category in (None, rule.category)]
    rules.sort(key=lambda rule: (CATEGORIES.index(rule.category), rule.id))
    rendering = nothing_known(catalogue, Words(language))
    titles = {rule.id: rendering.text(rule.title) for rule in rules}
    with suppress(BrokenPipeError):  # a reader that has seen enough
        _write_list(rules, titles, as_json)
    flush_quietly()


def _write_list(rules: Sequence[Rule], titles: dict[str, str], as_json: bool) -> None:
    if as_json:
        from vllmdoctor.report.json import json_text

        fields = ("id", "category", "role", "severity", "phase")
        write_json(json_text([{**{f: getattr(r, f) for f in fields}, "title": titles[r.id]} for r in rules]))
        return
    from vllmdoctor.report.text.inline import inline_text

    console = open_console()
    widest = max((len(rule.id) for rule in rules), default=0)
    for rule in rules:
        row = inline_text(f"{rule.category:<12} {rule.id:<{widest}}  ").append_text(inline_text(titles[rule.id]))
        console.print(row, soft_wrap=True)


def print_rule(rule_id: str, *, rules_folders: Sequence[Path]) -> None:
    catalogue = load_catalogue("en", rules_folders)
    rule = catalogue.rule(rule_id)
    if rule is None:
        raise unknown_rule(rule_id, catalogue)
    console = open_console()
    with suppress(BrokenPipeError):
        for line in rule_lines(rule):
            console.print(line, soft_wrap=True)
    flush_quietly()


def rule_lines(rule: Rule) -> list[str]:
    """What decides: the rule's place among the others, then each signature with its limits."""
    lines = [
        f"id            {rule.id}" + (" (your rule)" if rule.user_supplied else ""),
        f"category      {rule.category}",
        f"role          {rule.role}",
        f"severity      {rule.severity}",
        f"phase         {rule.phase}",
    ]
    lists = {"explained by": rule.explained_by, "related": rule.related, "old ids": rule.aliases}
    lines += [f"{label:<13} {', '.join(values)}" for label, values in lists.items() if values]
    for number, signature in enumerate(rule.signatures, 1):
        lines += ["", f"signature {number}", *signature_lines(signature)]
    conditions = [*((c.id, c.when) for c in rule.causes), *((fix.id, fix.when) for fix in rule.fixes)]
    conditions += [(c.id, c.when) for c in rule.does_not_help] + [(v.id, v.when) for v in rule.verify]
    if any(when for _, when in conditions):
        lines += ["", "conditions"]
        lines += [f"  {name:<28} {when.source}" for name, when in conditions if when]
    return lines


def signature_lines(signature: Signature) -> list[str]:
    fields = {
        "pattern": signature.pattern,
        "scope": signature.scope,
        "unless": signature.unless,
        "frames": signature.frames,
        "when": signature.when.source if signature.when else "",
        "phases": ", ".join(signature.phases),
        "versions": signature.versions.text,
        "raised in": ", ".join(signature.raised),
    }
    lines = [f"  {label:<11} {value}" for label, value in fields.items() if value]
    return [*lines, *(f"  sample      {' '.join(sample.split())}" for sample in signature.samples)]


def stamp(rule_id: str, language: str, folder: Path | None) -> None:
    """Raises RuleError when there is no such rule, remedy or translation."""
    from vllmdoctor.rules.check import stamp_translation

    chosen = folder or checkout_rules()
    if chosen is None:
        raise UsageError(Message("name the rules folder: --dir my-rules"))
    digest = stamp_translation(chosen, rule_id, language)
    open_console().print(f"{rule_id}.{language}.yaml: {digest}", soft_wrap=True)
    flush_quietly()


def check_folder(folder: Path | None, language: str | None, clean_corpus: Path | None) -> int:
    """0 when there is no error, else 1."""
    from vllmdoctor.rules.check import main_check

    chosen = folder or checkout_rules()
    if chosen is None:
        raise UsageError(Message("name the rules folder to check: `vllmdoctor rules check my-rules/`"))
    console = open_console()
    try:
        code = main_check(
            chosen, lambda line: console.print(line, soft_wrap=True), language=language, clean_corpus=clean_corpus
        )
    except BrokenPipeError:
        code = 1
    flush_quietly()
    return code
