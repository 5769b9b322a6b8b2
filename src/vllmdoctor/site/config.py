"""A language in, its MkDocs configuration out: mkdocs.yml with that language's texts, addresses and navigation."""

from __future__ import annotations

from typing import Any

from vllmdoctor.languages import LANGUAGES
from vllmdoctor.rules.model import CATEGORIES
from vllmdoctor.site import words as s
from vllmdoctor.site.context import Site

# Split at every change between katakana, kanji and the rest: the theme's search knows no words of Japanese.
_JAPANESE = (
    "[\\s\\-　、。，．：・（）「」()/=,:`'\"]+"
    "|(?<=[ァ-ヿ])(?=[^ァ-ヿ])|(?<=[^ァ-ヿ])(?=[ァ-ヿ])"
    "|(?<=[一-鿿々])(?=[^一-鿿々])|(?<=[^一-鿿々])(?=[一-鿿々])"
)


def language_config(site: Site, guides: dict[str, str]) -> dict[str, Any]:
    """The configuration as values; its paths are relative to build/. `guides` gives the titles by name, in order."""
    language, words = site.language, site.words
    return {
        "INHERIT": "../mkdocs.yml",
        "site_description": words(s.SITE_DESCRIPTION),
        "site_url": f"{site.address}{language}/",
        "copyright": words(s.COPYRIGHT),
        "docs_dir": f"site-src/{language}",
        "site_dir": f"site/{language}",
        "theme": {
            "language": language,
            "custom_dir": "../src/vllmdoctor/site/theme",
            "palette": [
                _scheme("light", "default", "material/weather-night", words(s.DARK)),
                _scheme("dark", "slate", "material/weather-sunny", words(s.LIGHT)),
            ],
        },
        "plugins": {"search": _search(language)},
        "extra": {
            "site_address": site.address,
            "alternate": [
                {"name": s.LANGUAGE_NAMES[one], "link": f"{site.address}{one}/", "lang": one} for one in LANGUAGES
            ],
            "sentences": _sentences(site),
        },
        "nav": navigation(site, guides),
    }


def zensical_config(config: dict[str, Any]) -> dict[str, Any]:
    """The same site for Zensical, the theme's successor, whose search fails on the separators."""
    search = {name: value for name, value in config["plugins"]["search"].items() if name != "separator"}
    return {**config, "plugins": {"search": search}, "site_dir": f"zensical/{config['theme']['language']}"}


def _scheme(preference: str, scheme: str, icon: str, name: str) -> dict[str, Any]:
    return {
        "media": f"(prefers-color-scheme: {preference})",
        "scheme": scheme,
        "primary": "custom",
        "accent": "custom",
        "toggle": {"icon": icon, "name": name},
    }


def _search(language: str) -> dict[str, Any]:
    if language == "ja":
        return {"lang": ["en", "ja"], "pipeline": [], "separator": _JAPANESE}
    return {"lang": ["en", "vi"]} if language == "vi" else {"lang": ["en"]}


def _sentences(site: Site) -> dict[str, str]:
    """What templates and scripts of the theme say."""
    words = site.words
    return {
        "search_dialog": words(s.SEARCH_DIALOG),
        "best_match": words(s.BEST_MATCH),
        "long_paste": words(s.LONG_PASTE),
        "to_analyzer": words(s.SKIP_TO_ANALYZER),
        "not_found": words(s.NOT_FOUND),
        "not_found_text": words(s.NOT_FOUND_TEXT),
        "start_page": words(s.START_PAGE),
    }


def navigation(site: Site, guides: dict[str, str]) -> list[dict[str, Any]]:
    """Rules and remedies are not in it: they are reached from their lists, from each other and by the search."""
    words = site.words
    return [
        {words(s.HOME): "index.md"},
        {words(s.ANALYZE): "analyze/index.md"},
        {
            words(s.ERRORS): [
                {words(s.ALL_MESSAGES): "messages/index.md"},
                *({words(s.CATEGORIES[name]): f"categories/{name}.md"} for name in CATEGORIES),
                {words(s.REMEDIES): "remedies/index.md"},
            ]
        },
        {words(s.GUIDES): [{title: f"guide/{name}.md"} for name, title in guides.items()]},
        {
            words(s.REFERENCE): [
                {words(s.CLI_REFERENCE): "reference/cli.md"},
                {words(s.REPORT_SCHEMA): "reference/report-schema.md"},
                {words(s.RULES_SCHEMA): "reference/rules-schema.md"},
                {words(s.CHANGELOG): "changelog.md"},
            ]
        },
    ]
