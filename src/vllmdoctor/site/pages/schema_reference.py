"""The JSON Schemas of the report and of the rule files in, their reference pages in a language out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vllmdoctor.languages import marked as _
from vllmdoctor.report.words import Words
from vllmdoctor.site.context import checkout_root
from vllmdoctor.site.markdown import code, escaped, heading, inline, table
from vllmdoctor.site.markdown import page as whole_page
from vllmdoctor.site.pages import report_meanings, rules_meanings

REPORT_SCHEMA = "docs/schema/report.schema.json"
RULE_SCHEMAS = "src/vllmdoctor/rules/schemas"
_FILES = "../../schema/"  # from a page's address; the schemas are shared by the languages

_REPORT_TITLE = _("Report schema (JSON)")
_REPORT_DESCRIPTION = _("Every field of the JSON report of vllmdoctor analyze: its type and its meaning.")
_REPORT_TEXT = _(
    "`vllmdoctor analyze --format json` prints this object, the same bytes for the same input. Fields may be added "
    "without a new `schema_version`; a field that is removed or changes its meaning raises it. Texts are Markdown."
)
_RULES_TITLE = _("Rule file schemas (YAML)")
_RULES_DESCRIPTION = _("Every field of vllmdoctor's rule, remedy, facts and translation files.")
_RULES_TEXT = _(
    "Rules are YAML files; `vllmdoctor rules check` checks them against these schemas and more. "
    "[Write a rule](../guide/write-a-rule.md) shows how they work together."
)
_RAW = _("The schema as a file:")
_FIELD, _TYPE, _MEANING = _("Field"), _("Type"), _("Meaning")
_REQUIRED = _("Fields in bold are required.")
_LIST, _MAP, _OR = _("list of {what}"), _("map of names to {what}"), _("{one} or {other}")
_TEXT = _("text")

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Field:
    """`path` is dotted within its object, with `[]` behind the name of a list."""

    path: str
    schema: Schema
    required: bool


@dataclass(frozen=True, slots=True)
class Section:
    """An object of a schema that gets a heading. `name` is its key in the meanings, and the heading's id."""

    name: str
    schema: Schema


def report_schema() -> Schema:
    return _read(checkout_root() / REPORT_SCHEMA)


def rule_schemas() -> dict[str, Schema]:
    """By name: facts, remedy, rule, translation."""
    paths = sorted((checkout_root() / RULE_SCHEMAS).glob("*.schema.json"))
    return {path.name.partition(".")[0]: _read(path) for path in paths}


def _read(path: Path) -> Schema:
    schema: Schema = json.loads(path.read_text(encoding="utf-8"))
    return schema


def report_sections(schema: Schema) -> list[Section]:
    """In the order of the meanings; the first is the whole report."""
    return [Section(name, schema["$defs"].get(name, schema)) for name in report_meanings.SECTIONS]


def rules_sections(schemas: Mapping[str, Schema]) -> list[Section]:
    """What a rule's parts have in common with those of a remedy stands once."""
    parts = schemas["rule"]["$defs"]
    in_rule = ("signature", "cause", "fix", "caution", "verification")
    return [
        Section("rule", schemas["rule"]),
        *(Section(name, parts[name]) for name in in_rule),
        Section("remedy", schemas["remedy"]),
        Section("changes", parts["changes"]),
        Section("facts", schemas["facts"]),
        Section("translation", schemas["translation"]),
    ]


def fields(schema: Schema, before: str = "") -> Iterator[Field]:
    """The fields of an object and of the objects written into it; of alternatives each field once."""
    seen: set[str] = set()
    for one in (schema, *schema.get("oneOf", ())):
        for name, field in one.get("properties", {}).items():
            if name in seen:
                continue
            seen.add(name)
            required = all(name in other.get("required", ()) for other in schema.get("oneOf", (one,)))
            yield Field(before + name, field, required)
            inner = next((other for other in field.get("anyOf", ()) if "properties" in other), field)
            yield from fields(inner, f"{before}{name}.")
            yield from fields(inner.get("items", {}), f"{before}{name}[].")


def report_page(language: str) -> str:
    words = Words(language)
    schema = report_schema()
    lines = [*heading(1, escaped(words(_REPORT_TITLE)), "report-schema"), inline(words(_REPORT_TEXT)), ""]
    lines += _raw_files(["report.schema.json"], words)
    for section in report_sections(schema):
        meanings = report_meanings.MEANINGS
        lines += _section(section, schema, words(report_meanings.SECTIONS[section.name]), meanings, words)
    return whole_page({"title": words(_REPORT_TITLE), "description": words(_REPORT_DESCRIPTION)}, lines)


def rules_page(language: str) -> str:
    words = Words(language)
    schemas = rule_schemas()
    lines = [*heading(1, escaped(words(_RULES_TITLE)), "rules-schema"), inline(words(_RULES_TEXT)), ""]
    lines += _raw_files([f"{name}.schema.json" for name in ("rule", "remedy", "facts", "translation")], words)
    for section in rules_sections(schemas):
        whole = schemas.get(section.name, schemas["rule"])
        text = words(rules_meanings.SECTIONS[section.name])
        lines += _section(section, whole, text, rules_meanings.MEANINGS, words)
    lines += [*heading(2, code("text"), "text"), inline(words(rules_meanings.TEXT_TYPE)), ""]
    return whole_page({"title": words(_RULES_TITLE), "description": words(_RULES_DESCRIPTION)}, lines)


def _raw_files(names: Sequence[str], words: Words) -> list[str]:
    """The files lie beside the languages' folders, where MkDocs does not know them: HTML, which it leaves alone."""
    files = words.listed(f'<a href="../{_FILES}{name}">{name}</a>' for name in names)
    return [f"{escaped(words(_RAW))} {files}. {escaped(words(_REQUIRED))}", ""]


def _section(section: Section, whole: Schema, text: str, meanings: Mapping[str, str], words: Words) -> list[str]:
    header = tuple(escaped(words(title)) for title in (_FIELD, _TYPE, _MEANING))
    rows = []
    for field in fields(section.schema):
        name = f"**{code(field.path)}**" if field.required else code(field.path)
        meaning = meanings.get(f"{section.name}.{field.path}", field.schema.get("description", ""))
        meaning = inline(words(meaning)) if meaning else ""
        rows.append((name, _type(field.schema, whole, words), meaning))
    return [*heading(2, code(section.name), section.name), inline(text), "", *table(header, rows), ""]


def _type(schema: Schema, whole: Schema, words: Words) -> str:
    """In words; objects that have a section are links to it."""
    if "$ref" in schema:
        return _referred(schema["$ref"], whole, words)
    if "const" in schema:
        return code(json.dumps(schema["const"]))
    if "enum" in schema:
        return words.listed(map(_value, schema["enum"]))
    if "anyOf" in schema:
        null, other = sorted(schema["anyOf"], key=lambda one: one.get("type") != "null")
        return words(_OR, one=_type(other, whole, words), other=_type(null, whole, words))
    kind = schema.get("type", "object")
    if isinstance(kind, list):
        shown = [code(name) for name in kind]
        return words(_OR, one=words.listed(shown[:-1]), other=shown[-1])
    if kind == "array":
        return words(_LIST, what=_type(schema["items"], whole, words))
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return words(_MAP, what=_type(schema["additionalProperties"], whole, words))
    return code(kind)


def _value(value: object) -> str:
    return code("null" if value is None else str(value) or '""')


_PLAIN = ("index", "line", "id", "markdown", "pattern", "condition", "versions")  # strings and numbers by other names


def _referred(target: str, whole: Schema, words: Words) -> str:
    name = target.rpartition("/")[2]
    if target.startswith("#/$defs/") and target.count("/") > 2:
        inner: Any = whole
        for key in target.removeprefix("#/").split("/"):
            inner = inner[key]
        return _type(inner, whole, words)
    definition = whole["$defs"][name]
    if name in _PLAIN:
        return code(definition.get("type", "string"))
    if name in ("text", "value"):
        return f"[{escaped(words(_TEXT))}](#text)"
    if name in ("reference", "entries", "computed"):
        return code("object")
    return f"[{code(name)}](#{name})"
