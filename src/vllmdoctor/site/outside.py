"""What lies beside the languages in: the page that picks one, sitemap, robots.txt, llms.txt, 404, downloads."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from vllmdoctor.report.inline import plain_text
from vllmdoctor.rules.load import load_bundle
from vllmdoctor.rules.translate import translated
from vllmdoctor.site import words as s
from vllmdoctor.site.context import Site
from vllmdoctor.site.generate import write
from vllmdoctor.site.messages import message_title

_CSP = "default-src 'self'; script-src 'self'; style-src 'self'; object-src 'none'; base-uri 'self'; form-action 'none'"


def write_outside(sites: Sequence[Site], target: Path) -> None:
    """Into the folder that is served, after the languages were built there. The first site is the English one."""
    root, address = sites[0].root, sites[0].address
    write(target / "index.html", start_page(sites))
    write(target / "404.html", missing_page(sites))
    for name in ("start.css", "start.js"):
        shutil.copyfile(Path(__file__).parent / "static" / name, target / name)
    write(target / "robots.txt", f"User-agent: *\nAllow: /\nSitemap: {address}sitemap.xml\n")
    write(target / "sitemap.xml", sitemap_index(address, [site.language for site in sites]))
    write(target / "llms.txt", llms_text(sites[0]))
    write(target / ".nojekyll", "")
    for site in sites:
        text = json.dumps(rules_document(site), ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        write(target / "rules" / f"rules.{site.language}.json", text)
    schemas = sorted((root / "docs" / "schema").glob("*.json"))
    schemas += sorted((root / "src" / "vllmdoctor" / "rules" / "schemas").glob("*.json"))
    for schema in schemas:
        write(target / "schema" / schema.name, schema.read_text(encoding="utf-8"))


def start_page(sites: Sequence[Site]) -> str:
    """Goes to the reader's language; three links for those without scripts."""
    return _page(sites, "vllmdoctor", s.HOME_TITLE, s.HOME_TEXT, start=True)


def missing_page(sites: Sequence[Site]) -> str:
    """Shown by the host in place of any page that does not exist, in whatever folder: links begin at the host."""
    return _page(sites, "404 – vllmdoctor", s.NOT_FOUND, s.NOT_FOUND_TEXT, start=False)


def _page(sites: Sequence[Site], title: str, head: str, text: str, *, start: bool) -> str:
    address = sites[0].address
    base = "" if start else urlsplit(address).path
    sections = "\n".join(
        f'<section lang="{site.language}"><h2>{escape(site.words(head))}</h2><p>{escape(site.words(text))}</p>'
        f'<p><a href="{base}{site.language}/" hreflang="{site.language}" data-language="{site.language}">'
        f"{s.LANGUAGE_NAMES[site.language]}</a></p></section>"
        for site in sites
    )
    place = _place_of_start(sites) if start else '<meta name="robots" content="noindex">'
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_CSP}">
<title>{escape(title)}</title>
<meta name="description" content="{escape(s.SITE_DESCRIPTION)}">
{place}
<link rel="icon" href="{base}en/assets/favicon.svg">
<link rel="stylesheet" href="{base}start.css">
{f'<script src="{base}start.js"></script>' if start else ""}
</head>
<body>
<main>
<h1>vllmdoctor</h1>
{sections}
</main>
</body>
</html>
"""


def _place_of_start(sites: Sequence[Site]) -> str:
    address = sites[0].address
    alternates = {"x-default": address, **{site.language: f"{address}{site.language}/" for site in sites}}
    links = [f'<link rel="alternate" hreflang="{name}" href="{place}">' for name, place in alternates.items()]
    return "\n".join([f'<link rel="canonical" href="{address}">', *links])


def sitemap_index(address: str, languages: Iterable[str]) -> str:
    rows = "\n".join(
        f"  <sitemap><loc>{escape(address)}{language}/sitemap.xml</loc></sitemap>" for language in languages
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}\n</sitemapindex>\n'
    )


def llms_text(site: Site) -> str:
    """https://llmstxt.org: what a language model needs to find the right page."""
    lines = ["# vllmdoctor", "", f"> {s.SITE_DESCRIPTION}", ""]
    lines += [
        "Each page: the message, what it means, causes and how to tell them apart, ranked fixes, what does not help.",
        "",
    ]
    for name, rules in site.by_category.items():
        lines += [f"## {s.CATEGORIES[name]}", ""]
        for rule in rules:
            title = plain_text(site.title(rule)).replace("[", "(").replace("]", ")")
            lines.append(f"- [{title}]({site.address}en/rules/{rule.id}/): {message_title(site.message(rule))}")
        lines.append("")
    return "\n".join(lines)


def rules_document(site: Site) -> dict[str, Any]:
    """All rules and remedies in a language, as in their files."""
    bundle = load_bundle()
    texts = bundle["translations"].get(site.language, {})
    documents = {
        group: {name: _plain(translated(content, texts.get(name, {}))) for name, content in bundle[group].items()}
        for group in ("rules", "remedies")
    }
    return {"$schema": "../schema/rules.schema.json", "language": site.language, **documents}


def _plain(document: Any) -> Any:
    """The document without what compiling added."""
    if isinstance(document, dict):
        return {name: _plain(value) for name, value in document.items() if name != "literals"}
    return [_plain(item) for item in document] if isinstance(document, list) else document
