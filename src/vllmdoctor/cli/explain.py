"""`vllmdoctor explain`: a rule's id, an error message or a few words in, the rule's page or the nearest rules out."""

from __future__ import annotations

import difflib
import io
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from vllmdoctor.cli.output import flush_quietly, open_console
from vllmdoctor.cli.search import Hit, clear_answer, rules_about
from vllmdoctor.diagnosis.model import EXIT_CODES, FAILURE, UNRECOGNIZED
from vllmdoctor.errors import InputError, UsageError
from vllmdoctor.languages import Message
from vllmdoctor.report import words as w
from vllmdoctor.report.untrusted import neutral, shortened
from vllmdoctor.report.words import Words
from vllmdoctor.rules.model import Catalogue, Rule

_ID = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9.]+)*", re.IGNORECASE)
_ERROR = re.compile(r"(?:Error|Exception)\b:?|Traceback|\.py\b")
_WORD = re.compile(r"[A-Za-z_]{3,}")
_NEAREST = 5
_SHORTEST_EXCERPT = 12


def explain_and_print(what: str, *, language: str, rules_folders: Sequence[Path]) -> int:
    """0 when something was explained. Raises UsageError for an id that does not exist."""
    from vllmdoctor.rules.load import load_catalogue

    catalogue = load_catalogue(language, rules_folders)
    rule = catalogue.rule(what.strip())
    if (
        rule is None
        and _ID.fullmatch(what.strip())
        and (nearest_ids(what, catalogue) or not _search(what, rules_folders))
    ):
        raise unknown_rule(what.strip(), catalogue)
    try:
        code = _print_rule(rule, catalogue) if rule else _print_message(what, catalogue, rules_folders)
    except BrokenPipeError:
        code = 0
    flush_quietly()
    return code


def unknown_rule(name: str, catalogue: Catalogue) -> UsageError:
    """The error for an id that does not exist, with the ids that come near."""
    near = nearest_ids(name, catalogue)
    hint = (
        Message("did you mean {names}?", names=", ".join(near))
        if near
        else Message("`vllmdoctor rules list` lists all ids")
    )
    return UsageError(Message("no rule {name!r}; {hint}", name=name, hint=hint))


def nearest_ids(name: str, catalogue: Catalogue) -> list[str]:
    """Ids that are spelled alike, then those that share most words with the name."""
    wanted = name.lower().replace("_", "-")
    alike = difflib.get_close_matches(wanted, list(catalogue.rules), n=_NEAREST, cutoff=0.6)
    words = {word for word in wanted.split("-") if len(word) > 2}
    shared = {rule_id: len(words & set(rule_id.split("-"))) for rule_id in catalogue.rules}
    by_words = sorted((i for i, count in shared.items() if count), key=lambda i: (-shared[i], i))
    return list(dict.fromkeys([*alike, *by_words]))[:_NEAREST]


def matching_rules(message: str, catalogue: Catalogue) -> list[Rule]:
    """Rules whose signature matches the message, else those of whose samples it is a part."""
    text = " ".join(message.split())
    rules = catalogue.rules.values()
    matched = [rule for rule in rules if any(re.search(s.pattern, text) for s in rule.signatures)]
    if matched or len(text) < _SHORTEST_EXCERPT:
        return matched
    low = text.lower()
    return [r for r in rules if any(low in sample.lower() for s in r.signatures for sample in s.samples)]


def nearest_rules(message: str, catalogue: Catalogue) -> list[str]:
    """Ids of the rules whose samples share most words with the message."""
    words = {word.lower() for word in _WORD.findall(message)}
    scores = {rule.id: _overlap(words, rule) for rule in catalogue.rules.values()}
    near = [rule_id for rule_id, score in scores.items() if score >= 0.4]
    return sorted(near, key=lambda rule_id: (-scores[rule_id], rule_id))[:_NEAREST]


def _overlap(words: set[str], rule: Rule) -> float:
    samples = (sample for signature in rule.signatures for sample in signature.samples)
    parts = [{word.lower() for word in _WORD.findall(sample)} for sample in samples]
    return max((len(words & part) / len(words) for part in parts if words and part), default=0.0)


def _print_rule(rule: Rule, catalogue: Catalogue) -> int:
    from vllmdoctor.report.text import write_rule

    write_rule(rule, catalogue, open_console())
    return 0


def _print_message(message: str, catalogue: Catalogue, rules_folders: Sequence[Path]) -> int:
    """A message is a small log: its numbers then fill the page. Wrappers and warnings get their rule's page."""
    from vllmdoctor.analysis import analyze_inputs
    from vllmdoctor.report.text import write_text

    try:
        stdin = io.BytesIO(message.encode("utf-8", "replace") + b"\n")
        report = analyze_inputs(["-"], stdin=stdin, language=catalogue.language, rules_folders=rules_folders)
    except InputError:
        report = None
    if report and report.status == FAILURE:
        inputs = tuple(replace(one, name="message") for one in report.inputs)
        write_text(replace(report, inputs=inputs), open_console(), show_all=True)
        return 0
    found = [rule for f in report.findings if (rule := catalogue.rule(f.rule))] if report else []
    found = found or matching_rules(message, catalogue)
    if found:
        return _print_rule(found[0], catalogue)
    hits = _search(message, rules_folders)
    if meant := clear_answer(message, hits):
        return _print_rule(catalogue.rules[meant], catalogue)
    if hits:
        _print_hits([catalogue.rules[hit.rule] for hit in hits], catalogue)
        return 0
    near = nearest_rules(message, catalogue)
    _print_unknown(shortened(neutral(" ".join(message.split())), 200), near, Words(catalogue.language))
    return EXIT_CODES[UNRECOGNIZED]


def _search(text: str, rules_folders: Sequence[Path]) -> list[Hit]:
    """Rules by the words of their texts; what looks like an error's own line is no question."""
    return [] if _ERROR.search(text) else rules_about(text, rules_folders)


def _print_hits(rules: Sequence[Rule], catalogue: Catalogue) -> None:
    from rich.text import Text

    from vllmdoctor.report.rendering import nothing_known
    from vllmdoctor.report.text.inline import inline_text
    from vllmdoctor.report.text.page import Page

    words = Words(catalogue.language)
    rendering, page = nothing_known(catalogue, words), Page(open_console())
    page.line(Text(words(w.SEVERAL_RULES), "bold"))
    for rule in rules:
        page.line(f"  {rule.id}")
        page.hanging(Text("    "), inline_text(rendering.text(rule.title)), 4)


def _print_unknown(message: str, near: Sequence[str], words: Words) -> None:
    from rich.cells import cell_len
    from rich.text import Text

    from vllmdoctor.report.text.page import Page

    page = Page(open_console(), label_width=2 + cell_len(words(w.NEAREST)))
    page.hanging(Text(), Text(words(w.NO_RULE_KNOWS, message=message)), 0)
    if near:
        page.labelled(words(w.NEAREST), Text(", ".join(near)))
    page.paragraph(words(w.GIVE_WHOLE_LOG), 0)
