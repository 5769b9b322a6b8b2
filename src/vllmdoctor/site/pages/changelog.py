"""The catalogue and CHANGELOG.md in, the page that tells what is covered and what changed out.

CHANGELOG.md is English; its translations are docs/guide/{vi,ja}/changelog.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from vllmdoctor.languages import ENGLISH, LANGUAGES
from vllmdoctor.languages import marked as _
from vllmdoctor.report.words import Words
from vllmdoctor.rules.load import load_bundle, load_catalogue
from vllmdoctor.rules.model import CATEGORIES, Catalogue
from vllmdoctor.site import words as s
from vllmdoctor.site.guides import guide_path, read_guide, source_path
from vllmdoctor.site.markdown import escaped, heading, inline, table
from vllmdoctor.site.markdown import page as whole_page

NAME = "changelog"
_TITLE = _("Changelog of the knowledge base")
_DESCRIPTION = _("What vllmdoctor knows: rules by category, languages and vLLM releases covered; and what changed.")
_STATE = _("What it covers now")
_CHANGES = _("Changes")
_STABLE = _("Ids of rules are stable: a rule that is renamed keeps its old id as an alias.")
_CATEGORY, _RULES = _("Category"), _("Rules")
_ALL = _("all")
_MORE = {
    "remedies": _("Fixes shared by several rules"),
    "wordings": _("Wordings of messages"),
    "facts": _("Values read from logs"),
}
_LANGUAGES = _("Rules by language: {languages}.")
_RELEASES = _("vLLM releases covered: {oldest} to {newest} and later.")
_COUNT, _WHAT = _("Number"), _("What")


def page(language: str) -> str:
    """Raises InputError when a translation has no front matter."""
    words = Words(language)
    lines = [*heading(1, escaped(words(_TITLE)), NAME), *heading(2, escaped(words(_STATE)), "state")]
    lines += [*_state(load_catalogue(language), words), *heading(2, escaped(words(_CHANGES)), "changes")]
    lines += _one_level_down(_entries(language))
    return whole_page({"title": words(_TITLE), "description": words(_DESCRIPTION)}, lines)


def _state(catalogue: Catalogue, words: Words) -> list[str]:
    rules = list(catalogue.rules.values())
    counts = {name: sum(rule.category == name for rule in rules) for name in CATEGORIES}
    rows = [(escaped(words(s.CATEGORIES[name])), str(count)) for name, count in counts.items() if count]
    rows.append((f"**{escaped(words(_ALL))}**", f"**{len(rules)}**"))
    signatures = [signature for _rule, signature in catalogue.signatures()]
    numbers = {
        "remedies": len(catalogue.remedies),
        "wordings": len(signatures),
        "facts": len(catalogue.facts.names),
    }
    more = [(escaped(words(_MORE[name])), f"{number:,}") for name, number in numbers.items()]
    bounds = [release for one in signatures for _operator, release in one.versions.bounds]
    oldest, newest = (".".join(map(str, release)) for release in (min(bounds), max(bounds)))
    translated: Mapping[str, Mapping[str, object]] = load_bundle()["translations"]
    counted = {one: len(rules) for one in LANGUAGES if one == ENGLISH}
    counted |= {one: sum(rule.id in translated.get(one, {}) for rule in rules) for one in LANGUAGES if one != ENGLISH}
    shown = words.listed(f"{s.LANGUAGE_NAMES[one]} {number}" for one, number in counted.items())
    return [
        *table((escaped(words(_CATEGORY)), escaped(words(_RULES))), rows),
        "",
        *table((escaped(words(_WHAT)), escaped(words(_COUNT))), more),
        "",
        escaped(words(_LANGUAGES, languages=shown)),
        "",
        escaped(words(_RELEASES, oldest=oldest, newest=newest)),
        "",
        inline(words(_STABLE)),
        "",
    ]


def _entries(language: str) -> str:
    """The versions with their entries, from the first heading of level two on."""
    translated = language != ENGLISH and guide_path(NAME, language).is_file()
    text = read_guide(NAME, language).body if translated else source_path(NAME).read_text(encoding="utf-8")
    return text[text.index("\n## ") + 1 :]


def _one_level_down(text: str) -> list[str]:
    """The headings below "Changes", with the same ids in every language; versions without entries are left out."""
    lines = []
    for part in re.split(r"(?m)^(?=## )", text):
        title, _newline, entries = part.partition("\n")
        if not entries.strip():
            continue
        name = title.removeprefix("## ")
        lines += heading(3, escaped(name), "v" + name.split(" ")[0].strip("[]").replace(".", "-").lower())
        for line in entries.splitlines():
            kind = line.removeprefix("### ")
            lines += [line] if kind == line else ["", f"**{escaped(kind)}**", ""]
    return lines


__all__ = ["page"]
