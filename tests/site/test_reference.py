"""The reference pages: they have every command, option and field, in three languages with the same addresses."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from vllmdoctor.cli.app import app
from vllmdoctor.diagnosis.model import EXIT_CODES
from vllmdoctor.languages import LANGUAGES
from vllmdoctor.rules.load import load_catalogue
from vllmdoctor.site.pages import changelog, cli_reference, report_meanings, rules_meanings, schema_reference

PAGES: dict[str, Callable[[str], str]] = {
    "cli": cli_reference.page,
    "report-schema": schema_reference.report_page,
    "rules-schema": schema_reference.rules_page,
    "changelog": changelog.page,
}
EVERY = [(name, language) for name in PAGES for language in LANGUAGES]
each_page = pytest.mark.parametrize("name, language", EVERY)
each_language = pytest.mark.parametrize("language", LANGUAGES)


@cache
def page(name: str, language: str) -> str:
    return PAGES[name](language)


def anchors(text: str) -> list[str]:
    return re.findall(r"\{ #([\w-]+) \}$|<code id=\"([\w-]+)\">", text, re.MULTILINE)


@each_page
def test_addresses_are_the_same_in_every_language_and_used_once(name: str, language: str) -> None:
    found = anchors(page(name, language))
    assert found == anchors(page(name, "en"))
    assert len(found) == len(set(found)) > 3


@each_page
def test_links_within_the_page_lead_somewhere(name: str, language: str) -> None:
    text = page(name, language)
    known = {first or second for first, second in anchors(text)}
    assert not [link for link in re.findall(r"\]\(#([\w-]+)\)", text) if link not in known]


@each_page
def test_pages_have_a_title_and_a_description(name: str, language: str) -> None:
    text = page(name, language)
    found = re.match(r'---\ntitle: "(.+)"\ndescription: "(.+)"\n---\n\n# ', text)
    assert found
    assert len(found[2]) <= 160
    if language != "en":
        assert not page(name, "en").startswith(found[0])


@each_page
def test_tables_have_whole_rows(name: str, language: str) -> None:
    for rows in re.findall(r"(?:^\|.*\n)+", page(name, language), re.MULTILINE):
        counts = {re.sub(r"`[^`]*`", "", row).count("|") for row in rows.splitlines()}
        assert len(counts) == 1, rows


def leaves(words: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, child in getattr(command, "commands", {}).items():
        yield from leaves((*words, name), child)
    if not hasattr(command, "commands"):
        yield words, command


@each_language
def test_every_command_has_its_arguments_options_and_defaults(language: str) -> None:
    text = page("cli", language)
    sections = dict(re.findall(r"^## .*?\{ #([\w-]+) \}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    commands = dict(leaves((), typer.main.get_command(app)))
    assert len(commands) > 10
    for words, command in commands.items():
        section = html.unescape(sections["-".join(words)])
        assert f"vllmdoctor {' '.join(words)} " in section
        for parameter in command.params:
            shown = (
                parameter.opts[0] if parameter.param_type_name == "option" else (parameter.metavar or "").strip("{}")
            )
            row = next((row for row in section.splitlines() if row.startswith("|") and shown in row), "")
            assert row, (words, shown)
            default = getattr(parameter.default, "value", parameter.default)
            if isinstance(default, str) and default and parameter.show_default:
                assert f"`{default}`" in row, (words, shown)


def test_help_texts_are_in_the_language_of_the_page() -> None:
    english, japanese = page("cli", "en"), page("cli", "ja")
    assert "Read logs, name the root cause" in english
    assert "Read logs, name the root cause" not in japanese
    plain = re.sub(r"`[^`]*`|<[^>]*>|```.*?```", "", japanese, flags=re.DOTALL)
    assert not re.findall(r"\b(?:the|with|what|which|folder)\b", plain)


@each_language
def test_exit_codes_are_the_programs(language: str) -> None:
    section = page("cli", language).partition("{ #exit-codes }")[2]
    rows = re.findall(r"^\| (\d) \| (.*) \|$", section, re.MULTILINE)
    told = {
        status: int(code) for code, text in rows for status in re.findall(r"`([a-z-]+)`", text) if status in EXIT_CODES
    }
    assert told == EXIT_CODES
    assert [code for code, _ in rows] == ["0", "1", "2", "3", "4"]


REPORT = [
    (section, report_meanings.MEANINGS)
    for section in schema_reference.report_sections(schema_reference.report_schema())
]
RULES = [
    (section, rules_meanings.MEANINGS) for section in schema_reference.rules_sections(schema_reference.rule_schemas())
]
# The schema says of these what every id looks like; the page says what they are for.
MORE_TO_SAY = {"rule.id", "fix.remedy", "fix.id"}


@pytest.mark.parametrize("sections, meanings", [(REPORT, report_meanings), (RULES, rules_meanings)])
def test_every_field_has_a_meaning_and_every_meaning_a_field(sections: list[Any], meanings: Any) -> None:
    found = {
        f"{section.name}.{field.path}" for section, _ in sections for field in schema_reference.fields(section.schema)
    }
    assert found == set(meanings.MEANINGS)
    assert [section.name for section, _ in sections] == list(meanings.SECTIONS)


@pytest.mark.parametrize("sections", [REPORT, RULES])
def test_meanings_are_the_descriptions_of_the_schemas(sections: list[Any]) -> None:
    for section, meanings in sections:
        for field in schema_reference.fields(section.schema):
            name = f"{section.name}.{field.path}"
            if "description" in field.schema and name not in MORE_TO_SAY:
                assert meanings[name] == field.schema["description"], name


def names_in(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            yield from schema["properties"]
        for value in schema.values():
            yield from names_in(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from names_in(value)


@each_language
def test_no_field_of_the_schemas_is_forgotten(checkout: Path, language: str) -> None:
    """Counted in the files themselves, whatever the page takes for a section."""
    pages = {"report": page("report-schema", language), "rule": page("rules-schema", language)}
    paths = [checkout / schema_reference.REPORT_SCHEMA, *(checkout / schema_reference.RULE_SCHEMAS).glob("*.json")]
    assert len(paths) == 5
    explained_elsewhere = {"known", "unknown"}  # of a text, under its own heading
    for path in paths:
        text = pages["report" if path.name.startswith("report") else "rule"]
        shown = {
            part for name in re.findall(r"^\| \**`([^`]+)`", text, re.MULTILINE) for part in re.split(r"\W+", name)
        }
        schema = json.loads(path.read_text(encoding="utf-8"))
        used = set(names_in({**schema, "if": {}, "then": {}}))
        assert used - shown - explained_elsewhere <= ({"url"} if path.name[:4] in ("rule", "reme") else set()), (
            path.name
        )
        assert f'href="../../../schema/{path.name}"' in text


def test_required_fields_stand_out() -> None:
    text = page("rules-schema", "en")
    assert "| **`pattern`** |" in text
    assert "| `unless` |" in text
    assert "| `remedy` |" in text  # one of two ways to write a fix


@each_language
def test_changelog_has_the_state_of_the_catalogue_and_every_entry(checkout: Path, language: str) -> None:
    text = page("changelog", language)
    rules = load_catalogue(language).rules
    assert f"| **{len(rules)}** |" in text
    english = (checkout / "CHANGELOG.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^- ", text, re.MULTILINE)) == len(re.findall(r"^- ", english, re.MULTILINE))
    code = re.compile(r"`[^`\n]+`")
    entries = text.partition("{ #changes }")[2]
    assert sorted(code.findall(entries)) == sorted(code.findall(english.partition("\n## ")[2]))
