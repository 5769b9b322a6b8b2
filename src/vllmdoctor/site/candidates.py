"""The catalogue in, a small table of literals out by which a script names likely rules before the engine has loaded.

A literal match is no diagnosis: it knows nothing of wrappers, ranks, runs or conditions. The page says so.
"""

from __future__ import annotations

from typing import Any

from vllmdoctor.report.inline import plain_text
from vllmdoctor.report.rendering import nothing_known
from vllmdoctor.report.words import Words
from vllmdoctor.rules.model import CAUSE, Catalogue, Rule, Signature

_LEAST_CHARACTERS = 14
_MOST_RULES = 3
_SCOPES = ("error", "any", "traceback")


def candidates_document(catalogue: Catalogue) -> dict[str, Any]:
    """For each rule its title, category and literals.

    `own` literals stand in no other rule's messages, `shared` ones in those of a few. The longest come first.
    """
    rendering = nothing_known(catalogue, Words(catalogue.language))
    common = _common(catalogue)
    samples = {name: _samples(rule) for name, rule in catalogue.rules.items()}
    rules = []
    for name in sorted(catalogue.rules):
        rule = catalogue.rules[name]
        literals = [literal for literal in _literals(rule) if literal not in common]
        counts = {one: sum(one in text for other, text in samples.items() if other != name) for one in literals}
        own = [literal for literal in literals if counts[literal] == 0]
        shared = [literal for literal in literals if 0 < counts[literal] < _MOST_RULES]
        if own or shared:
            title = plain_text(rendering.text(rule.title))
            rules.append({"id": name, "title": title, "category": rule.category, "own": own, "shared": shared})
    return {"language": catalogue.language, "rules": rules}


def _common(catalogue: Catalogue) -> str:
    """Lines that are no sign of any failure."""
    book = catalogue.facts
    return "\n".join([*book.healthy, *(sample for noise in book.noise for sample in noise.samples)])


def _samples(rule: Rule) -> str:
    return "\n".join(sample for signature in rule.signatures for sample in signature.samples)


def _literals(rule: Rule) -> list[str]:
    """The telling literals of a cause, the longest first; one that contains another adds nothing."""
    if rule.role != CAUSE:
        return []
    found = {text for signature in rule.signatures for text in _of(signature)}
    kept: list[str] = []
    for literal in sorted(found, key=lambda text: (len(text), text)):
        if not any(shorter in literal for shorter in kept):
            kept.append(literal)
    return sorted(kept, key=lambda text: (-len(text), text))


def _of(signature: Signature) -> tuple[str, ...]:
    """The best set of literals that are rare: long, and not one word, which any configuration may print."""
    if signature.scope not in _SCOPES:
        return ()
    sets = [group for group in signature.literals if all(map(_rare, group))]
    return max(sets, key=lambda group: min(map(len, group)), default=())


def _rare(literal: str) -> bool:
    return len(literal) >= _LEAST_CHARACTERS and " " in literal.strip()
