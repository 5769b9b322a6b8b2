"""Pages that list rules: categories, and the index of every message."""

from __future__ import annotations

from vllmdoctor.report.inline import plain_text
from vllmdoctor.rules.model import CATEGORIES
from vllmdoctor.site import markdown as md
from vllmdoctor.site import words as s
from vllmdoctor.site.context import Site
from vllmdoctor.site.messages import message_title, wordings
from vllmdoctor.site.plain import description


def category(name: str, site: Site) -> str:
    """The rules of a category: title, message, id."""
    words, rules = site.words, site.by_category[name]
    title, text = words(s.CATEGORIES[name]), words(s.CATEGORY_TEXTS[name])
    about = words(s.CATEGORY_DESCRIPTION, category=title, count=len(rules), text=text)
    lines = [f"# {md.escaped(title)} {{ #{name} }}", "", md.escaped(text), ""]
    for rule in rules:
        lines += [
            *md.heading(2, md.link(plain_text(site.title(rule)), f"../rules/{rule.id}.md"), rule.id),
            md.cell_code(message_title(site.message(rule))),
            "",
            *md.paragraphs(site.rendering.text(rule.summary)),
        ]
    return md.page({"title": title, "description": description(about)}, lines)


def messages(site: Site) -> str:
    """Every wording from A to Z; out of the search, which would find this page for everything."""
    words = site.words
    found = sorted(
        {(wording.text, rule.id) for rule in site.catalogue.rules.values() for wording in wordings(rule)},
        key=lambda pair: (_sort_key(pair[0]), pair),
    )
    rows = [
        f'<li>{md.html_code(text)} <a class="message-rule" href="../rules/{rule_id}/">{rule_id}</a></li>'
        for text, rule_id in found
    ]
    lines = [
        f"# {md.escaped(words(s.ALL_MESSAGES))} {{ #messages }}",
        "",
        md.escaped(words(s.ALL_MESSAGES_TEXT)),
        "",
        '<div class="message-filter" markdown="0">',
        f'<label for="message-filter">{words(s.FILTER)}</label>',
        '<input type="search" id="message-filter" autocomplete="off" spellcheck="false">',
        f'<output for="message-filter" data-template="{words(s.FILTERED)}">'
        f"{words(s.FILTERED, count=len(rows))}</output>",
        "</div>",
        "",
        '<ul class="message-list" markdown="0">',
        *rows,
        "</ul>",
    ]
    meta: dict[str, md.FrontMatter] = {
        "title": words(s.ALL_MESSAGES),
        "description": description(words(s.ALL_MESSAGES_TEXT)),
        "search": {"exclude": True},
        "hide": ["toc"],
    }
    return md.page(meta, lines)


def _sort_key(text: str) -> str:
    """By the message itself: `ValueError: …` would put everything under V."""
    head, colon, rest = text.partition(": ")
    return (rest if colon and head[:1].isupper() and " " not in head else text).casefold()


__all__ = ["CATEGORIES", "category", "messages"]
