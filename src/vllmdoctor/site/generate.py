"""Rules, remedies, guides and examples in, one folder of Markdown per language and its MkDocs configuration out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from vllmdoctor.languages import LANGUAGES
from vllmdoctor.rules.model import CATEGORIES
from vllmdoctor.site.config import language_config, zensical_config
from vllmdoctor.site.context import Site
from vllmdoctor.site.finder import index_text
from vllmdoctor.site.guides import Guide
from vllmdoctor.site.pages import analyze, changelog, cli_reference, guide, home, lists, remedy, rule, schema_reference
from vllmdoctor.site.plain import hidden_words

SOURCE = "site-src"
UNSEARCHED = "messages/index.md"
_BY_LANGUAGE: dict[str, Callable[[str], str]] = {
    "analyze/index.md": analyze.page,
    "reference/cli.md": cli_reference.page,
    "reference/report-schema.md": schema_reference.report_page,
    "reference/rules-schema.md": schema_reference.rules_page,
    "changelog.md": changelog.page,
}


def generate(root: Path, folder: Path, address: str, languages: tuple[str, ...] = LANGUAGES) -> list[Site]:
    """Writes everything under `folder`; what an earlier run left is removed. The same checkout gives the same bytes.

    Returns what the pages were made from. Raises InputError for a guide that is wrong and RuleError for a rule.
    """
    sites = [Site(language, root, address) for language in languages]
    for site in sites:
        language = site.language
        guides = guide.guides_of(site)
        target = folder / SOURCE / language
        shutil.rmtree(target, ignore_errors=True)
        for name, text in pages(site, guides).items():
            write(target / name, text)
        write(target / "assets" / "messages.json", index_text(site))
        config = language_config(site, guide.titles(guides))
        for builder, values in (("mkdocs", config), ("zensical", zensical_config(config))):
            # JSON is YAML, too.
            write(folder / f"{builder}.{language}.yml", json.dumps(values, ensure_ascii=False, indent=1) + "\n")
    return sites


def pages(site: Site, guides: dict[str, Guide]) -> dict[str, str]:
    """All pages by their path in the language's folder."""
    rules, remedies = site.catalogue.rules, site.catalogue.remedies
    made = {
        "index.md": home.page(site, guide.titles(guides)),
        UNSEARCHED: lists.messages(site),
        "remedies/index.md": remedy.overview(site),
        **{f"categories/{name}.md": lists.category(name, site) for name in CATEGORIES},
        **{f"rules/{name}.md": rule.page(rules[name], site) for name in sorted(rules)},
        **{f"remedies/{name}.md": remedy.page(remedies[name], site) for name in sorted(remedies)},
        **{f"guide/{name}.md": guide.page(one, site) for name, one in guides.items()},
        **{name: make(site.language) for name, make in _BY_LANGUAGE.items()},
    }
    if site.language != "vi":
        return made
    return {name: text if name == UNSEARCHED else with_plain_words(text) for name, text in made.items()}


def with_plain_words(text: str) -> str:
    """A Vietnamese page that is also found by its words without accents."""
    return text.rstrip("\n") + "\n\n" + "\n".join(hidden_words(text))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
