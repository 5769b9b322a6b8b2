"""`vllmdoctor rules`: the catalogue in; a list, the technical side of a rule, or the problems of rule files out."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from vllmdoctor.cli.explain import unknown_rule
from vllmdoctor.cli.language import current_words
from vllmdoctor.cli.output import flush_quietly, open_console, write_json
from vllmdoctor.errors import UsageError
from vllmdoctor.languages import Message
from vllmdoctor.languages import marked as _
from vllmdoctor.report.words import Words
from vllmdoctor.rules.load import checkout_rules, load_catalogue
from vllmdoctor.rules.model import CATEGORIES, Rule, Signature

_CONDITION_CELLS = 31


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
    from rich.text import Text

    from vllmdoctor.report.text.inline import inline_text
    from vllmdoctor.report.text.page import Page

    page = Page(open_console())
    widest = max((len(rule.id) for rule in rules), default=0)
    for rule in rules:
        first, title = Text(f"{rule.category:<12} {rule.id:<{widest}}  "), inline_text(titles[rule.id])
        if page.console.is_terminal:
            page.hanging(first, title, first.cell_len)
        else:  # one line for each, whatever reads it
            page.line(first.append_text(title))


def print_rule(rule_id: str, *, rules_folders: Sequence[Path]) -> None:
    catalogue = load_catalogue("en", rules_folders)
    rule = catalogue.rule(rule_id)
    if rule is None:
        raise unknown_rule(rule_id, catalogue)
    with suppress(BrokenPipeError):
        _write_rule(rule, current_words())
    flush_quietly()


def _write_rule(rule: Rule, words: Words) -> None:
    """What decides: the rule's place among the others, then each signature with its limits."""
    from vllmdoctor.cli.columns import LabelledPage

    page = LabelledPage(open_console(), words)
    place = {_("id"): rule.id, _("category"): rule.category, _("role"): rule.role}
    place |= {_("severity"): rule.severity, _("phase"): rule.phase}
    if rule.user_supplied:
        place["id"] = words.said(Message("{id} (your rule)", id=rule.id))
    lists = {_("explained by"): rule.explained_by, _("related"): rule.related, _("old ids"): rule.aliases}
    page.rows(place | {label: ", ".join(ids) for label, ids in lists.items()})
    for number, signature in enumerate(rule.signatures, 1):
        page.heading(Message("signature {number}", number=number))
        page.rows(signature_fields(signature), indent=2, kept=True)
    conditions = [*((c.id, c.when) for c in rule.causes), *((fix.id, fix.when) for fix in rule.fixes)]
    conditions += [(c.id, c.when) for c in rule.does_not_help] + [(v.id, v.when) for v in rule.verify]
    shown = [(name, when.source) for name, when in conditions if when]
    if shown:
        page.heading(Message("conditions"))
        for name, source in shown:
            page.beside(f"  {name}", source, _CONDITION_CELLS)


def signature_fields(signature: Signature) -> dict[str, str]:
    """Label → value; a signature with several samples has them on a line each."""
    return {
        _("pattern"): signature.pattern,
        _("scope"): signature.scope,
        _("unless"): signature.unless,
        _("frames"): signature.frames,
        _("when"): signature.when.source if signature.when else "",
        _("phases"): ", ".join(signature.phases),
        _("versions"): signature.versions.text,
        _("raised in"): ", ".join(signature.raised),
        _("sample"): "\n".join(" ".join(sample.split()) for sample in signature.samples),
    }


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
    from rich.text import Text

    from vllmdoctor.report.text.page import Page

    page, words = Page(open_console()), current_words()

    def show(line: Message) -> None:
        if page.console.is_terminal:
            page.hanging(Text(), Text(words.said(line)), 0)
        else:  # one line for each, whatever reads it
            page.line(words.said(line))

    try:
        code = main_check(chosen, show, language=language, clean_corpus=clean_corpus)
    except BrokenPipeError:
        code = 1
    flush_quietly()
    return code
