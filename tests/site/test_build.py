"""The built site without a browser: the same bytes each time, all pages in all languages, nothing that leads nowhere."""

from __future__ import annotations

import filecmp
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from referencing import Registry, Resource

from tests.i18n.english import ENGLISH_WORDS, english_runs
from tests.site.built_pages import BuiltPage, broken_links, page_at, pages_of
from tests.site.conftest import Served, build_folder
from vllmdoctor.languages import LANGUAGES
from vllmdoctor.rules.load import load_catalogue
from vllmdoctor.site.build import SERVED, SiteError, run_mkdocs
from vllmdoctor.site.config import language_config
from vllmdoctor.site.context import Site
from vllmdoctor.site.generate import SOURCE

RULES = sorted(load_catalogue().rules)
# Also words, or syllables, of Vietnamese.
AMBIGUOUS = {"do", "in", "to", "a", "an", "can", "no", "on", "at", "be"}
GENERATE = (
    "import sys; from pathlib import Path; from vllmdoctor.site.generate import generate;"
    "generate(Path(sys.argv[1]), Path(sys.argv[2]), 'https://example.org/v/', (sys.argv[3],))"
)


@cache
def all_pages(folder: Path, language: str) -> tuple[BuiltPage, ...]:
    return tuple(page for page in pages_of(folder / language) if page.path.name == "index.html")


def configured_address(site: Served) -> str:
    """That with which the site was built; one that was built before has another than its server here."""
    (canonical,) = page_at(site.folder / "index.html").rel("canonical")
    return canonical


@pytest.mark.slow
def test_the_same_checkout_gives_the_same_pages(checkout: Path, tmp_path: Path) -> None:
    """In two processes, whose sets have different orders."""
    folders = [tmp_path / seed for seed in ("1", "2")]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", GENERATE, str(checkout), str(folder), "vi"],
            env={**os.environ, "PYTHONHASHSEED": folder.name, "PYTHONPATH": str(checkout / "src")},
        )
        for folder in folders
    ]
    assert [process.wait(timeout=300) for process in running] == [0, 0]
    names = sorted(path.relative_to(folders[0]) for path in folders[0].rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(folders[1]) for path in folders[1].rglob("*") if path.is_file())
    assert len(names) > 200
    same, different, unread = filecmp.cmpfiles(*folders, names, shallow=False)
    assert (different, unread) == ([], []) and len(same) == len(names)


def test_a_link_that_leads_nowhere_stops_the_build(checkout: Path, tmp_path: Path) -> None:
    folder = build_folder(checkout, tmp_path)
    site = Site("en", checkout, "https://example.org/")
    config = {**language_config(site, {}), "nav": [{"Home": "index.md"}]}
    (folder / "mkdocs.en.yml").write_text(json.dumps(config), encoding="utf-8")
    source = folder / SOURCE / "en"
    source.mkdir(parents=True)
    (source / "index.md").write_text("# Home { #home }\n\n[here](#home)\n", encoding="utf-8")
    run_mkdocs(folder, ("en",))
    assert (folder / SERVED / "en" / "index.html").is_file()
    for link in ("nowhere.md", "#nowhere"):
        (source / "index.md").write_text(f"# Home {{ #home }}\n\n[there]({link})\n", encoding="utf-8")
        with pytest.raises(SiteError, match=re.escape(link)):
            run_mkdocs(folder, ("en",))


def test_every_rule_and_remedy_has_its_page_with_the_same_ids_in_every_language(site: Served) -> None:
    for language in LANGUAGES:
        assert sorted(path.parent.name for path in (site.folder / language / "rules").glob("*/index.html")) == RULES
    for english in all_pages(site.folder, "en"):
        name = english.path.relative_to(site.folder / "en")
        for language in ("vi", "ja"):
            page = page_at(site.folder / language / name)
            if name.parts[0] == "categories":  # sorted alike, by id
                assert sorted(page.headings) == sorted(english.headings)
            assert page.headings == english.headings, (language, name)
        assert english.headings and all(heading.isascii() for heading in english.headings), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_says_what_it_is(site: Served, language: str) -> None:
    titles: dict[str, Path] = {}
    for page in all_pages(site.folder, language):
        (description,) = page.meta("description")
        assert 20 <= len(description) <= 160, page.path
        assert page.title and page.title not in titles, (page.path, titles.get(page.title))
        titles[page.title] = page.path
        assert page.meta("og:description") == [description]
        assert page.meta("og:title")[0] in page.title
        assert f'<html lang="{language}"' in page.text
        assert page.text.count("<h1") == 1, page.path
        assert "{{" not in "".join(page.prose), page.path


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_names_its_place_and_its_translations(site: Served, language: str) -> None:
    address = configured_address(site)
    listed = set()
    tree = ET.parse(site.folder / language / "sitemap.xml")
    spaces = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9", "x": "http://www.w3.org/1999/xhtml"}
    for url in tree.getroot().findall("s:url", spaces):
        place = url.findtext("s:loc", "", spaces)
        listed.add(place)
        below = place.removeprefix(f"{address}{language}/")
        links = {link.get("hreflang"): link.get("href") for link in url.findall("x:link", spaces)}
        assert links == {one: f"{address}{one}/{below}" for one in LANGUAGES}
    for page in all_pages(site.folder, language):
        below = page.path.relative_to(site.folder / language).as_posix().removesuffix("index.html")
        (canonical,) = page.rel("canonical")
        assert canonical == f"{address}{language}/{below}"
        assert canonical in listed
        named = {one: f"{address}{one}/{below}" for one in LANGUAGES}
        assert page.alternates == {**named, "x-default": f"{address}en/{below}"}


def test_crawlers_find_every_language(site: Served) -> None:
    address = configured_address(site)
    index = (site.folder / "sitemap.xml").read_text(encoding="utf-8")
    assert re.findall("<loc>(.*?)</loc>", index) == [f"{address}{language}/sitemap.xml" for language in LANGUAGES]
    assert f"Sitemap: {address}sitemap.xml" in (site.folder / "robots.txt").read_text(encoding="utf-8")
    start = page_at(site.folder / "index.html")
    assert start.alternates == {"x-default": address, **{one: f"{address}{one}/" for one in LANGUAGES}}
    text = (site.folder / "llms.txt").read_text(encoding="utf-8")
    assert sorted(re.findall(rf"\({re.escape(address)}en/rules/(.*?)/\): .", text)) == RULES


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_rule_page_shows_what_the_analyzer_says_of_its_example(
    site: Served, checkout: Path, language: str
) -> None:
    for rule in RULES:
        folder = checkout / "tests" / "fixtures" / "rules" / rule
        expected = yaml.safe_load((folder / "expected.yaml").read_text(encoding="utf-8"))
        page = page_at(site.folder / language / "rules" / rule / "index.html")
        example = page.article[page.article.index('id="example"') : page.article.index('id="wordings"')]
        blocks = re.findall(r"<pre\b.*?</pre>", example, re.DOTALL)
        assert len(blocks) >= 2, rule  # the log, and what is printed for it
        # What is never a cause is shown by its line.
        assert (expected["root"] or f"startup.log:{expected['line']}") in blocks[1], rule


@pytest.mark.parametrize("language", ["vi", "ja"])
def test_no_english_is_left(site: Served, language: str) -> None:
    left = {}
    for page in all_pages(site.folder, language):
        # Titles of references are those of the pages they lead to.
        article = re.sub(r'<a [^>]*href="https?://[^"]*"[^>]*>.*?</a>', "", page.text, flags=re.DOTALL)
        for run in BuiltPage(page.path, article).prose:
            for found in english_runs(run):
                if sum(word.lower() in ENGLISH_WORDS - AMBIGUOUS for word in found.split()) >= 2:
                    left[found] = page.path.parent.name
    assert left == {}


@pytest.mark.parametrize("language", [*LANGUAGES, ""])
def test_every_link_and_anchor_leads_somewhere(site: Served, language: str) -> None:
    address = configured_address(site)
    pages = (
        pages_of(site.folder / language) if language else [page_at(site.folder / n) for n in ("index.html", "404.html")]
    )
    broken = {}
    for page in pages:
        found = broken_links(site.folder, address, page)
        if not (site.folder / "engine").is_dir():  # built without Pyodide
            found = [link for link in found if "engine/" not in link]
        if found:
            broken[page.path.relative_to(site.folder).as_posix()] = found
    assert broken == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_rules_can_be_downloaded(site: Served, language: str) -> None:
    def document(path: Path) -> Any:
        return json.loads(path.read_text(encoding="utf-8"))

    schemas = {path.name: document(path) for path in (site.folder / "schema").glob("*.json")}
    registry = Registry().with_resources((name, Resource.from_contents(one)) for name, one in schemas.items())
    rules = document(site.folder / "rules" / f"rules.{language}.json")
    jsonschema.Draft202012Validator(schemas["rules.schema.json"], registry=registry).validate(rules)
    assert sorted(rules["rules"]) == RULES
    english = document(site.folder / "rules" / "rules.en.json")
    for group in ("rules", "remedies"):
        same = [name for name, one in rules[group].items() if one["title"] == english[group][name]["title"]]
        assert len(same) == (len(english[group]) if language == "en" else 0), same
    wrong = {**rules, "rules": {"x": {"id": "x"}}}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schemas["rules.schema.json"], registry=registry).validate(wrong)


def test_no_language_is_heavier_than_it_should_be(site: Served) -> None:
    for language in LANGUAGES:
        size = sum(path.stat().st_size for path in (site.folder / language).rglob("*") if path.is_file())
        assert size < 60_000_000
        index = (site.folder / language / "assets" / "messages.json").stat().st_size
        assert index < 1_000_000
