"""Checked documents (dicts, from YAML or the compiled JSON) in, a typed catalogue out."""

from __future__ import annotations

from collections.abc import Mapping

from vllmdoctor.languages import Message
from vllmdoctor.rules import model
from vllmdoctor.rules.expressions import parse_expression
from vllmdoctor.rules.fields import (
    Field,
    as_text,
    condition_of,
    flag_of,
    list_of,
    literals_of,
    needed_pattern,
    optional_text,
    pattern_of,
    string_of,
    strings_of,
    text_of,
    versions_of,
)
from vllmdoctor.rules.texts import EMPTY


def build_signature(field: Field) -> model.Signature:
    field.only(
        "pattern", "scope", "samples", "literals", "frames", "unless", "when", "phases", "versions", "raised", "origin"
    )  # fmt: skip
    pattern = needed_pattern(field)
    phases = strings_of(field, "phases")
    for phase in phases:
        if phase not in (*model.PHASES, "unknown"):
            raise field.error(Message("no phase {phase!r}", phase=phase))
    return model.Signature(
        pattern=pattern,
        scope=string_of(field, "scope", "error", model.SCOPES),
        samples=strings_of(field, "samples"),
        literals=literals_of(field, pattern),
        frames=pattern_of(field, "frames"),
        unless=pattern_of(field, "unless"),
        when=condition_of(field),
        phases=phases,
        versions=versions_of(field),
        raised=strings_of(field, "raised"),
        origin=string_of(field, "origin", "vllm"),
    )


def build_changes(field: Field | None) -> model.Changes:
    if field is None:
        return model.Changes()
    field.only("arguments", "environment", "shell", "docker", "compose", "kubernetes", "python")
    pairs = {
        key: {name: as_text(value) for name, value in found.entries()} if (found := field.get(key)) else {}
        for key in ("arguments", "environment")
    }
    return model.Changes(
        arguments=pairs["arguments"],
        environment=pairs["environment"],
        shell=list_of(field, "shell", as_text),
        docker=list_of(field, "docker", as_text),
        compose=optional_text(field, "compose"),
        kubernetes=optional_text(field, "kubernetes"),
        python=optional_text(field, "python"),
    )


_REMEDY_FIELDS = ("id", "title", "text", "effect", "cost", "changes", "versions", "direction", "risk")


def build_remedy(field: Field) -> model.Remedy:
    field.only(*_REMEDY_FIELDS, "references", "aliases")
    return _remedy(field)


def _remedy(field: Field) -> model.Remedy:
    return model.Remedy(
        id=field.need("id").string(),
        title=as_text(field.need("title")),
        text=text_of(field, "text"),
        effect=text_of(field, "effect"),
        cost=text_of(field, "cost"),
        changes=build_changes(field.get("changes")),
        versions=versions_of(field),
        direction=string_of(field, "direction", "", ("up", "down")),
        risk=string_of(field, "risk", "low", ("low", "medium", "high")),
    )


def _fix(field: Field, remedies: Mapping[str, model.Remedy]) -> model.Fix:
    arguments_field = field.get("arguments")
    arguments = {
        name: value.parsed(lambda source: parse_expression(str(source)))
        for name, value in (arguments_field.entries() if arguments_field else [])
    }
    named = field.get("remedy")
    if named:
        field.only("remedy", "id", "when", "arguments", "text", "cost", "cures")
        remedy = remedies.get(named.string())
        if remedy is None:
            raise named.error(Message("no remedy {remedy!r} in rules/remedies", remedy=named.value))
    else:
        field.only(*_REMEDY_FIELDS, "when", "arguments", "cures")
        remedy = _remedy(field)
    return model.Fix(
        id=string_of(field, "id", remedy.id),
        remedy=remedy,
        text=text_of(field, "text") if named else EMPTY,
        when=condition_of(field),
        cures=strings_of(field, "cures"),
        arguments=arguments,
        cost=optional_text(field, "cost") if named else None,
    )


def _cause(field: Field) -> model.Cause:
    field.only("id", "title", "text", "when", "then")
    return model.Cause(
        id=field.need("id").string(),
        title=as_text(field.need("title")),
        text=text_of(field, "text"),
        when=condition_of(field),
        then=string_of(field, "then", model.CONFIRMED, model.CERTAINTIES),
    )


def _caution(field: Field) -> model.Caution:
    field.only("id", "title", "text", "when")
    return model.Caution(
        id=field.need("id").string(),
        title=as_text(field.need("title")),
        text=as_text(field.need("text")),
        when=condition_of(field),
    )


def _verification(field: Field) -> model.Verification:
    field.only("id", "text", "log", "command", "when")
    return model.Verification(
        id=field.need("id").string(),
        text=as_text(field.need("text")),
        log=optional_text(field, "log"),
        command=optional_text(field, "command"),
        when=condition_of(field),
    )


def _reference(field: Field) -> model.Reference:
    field.only("title", "url")
    return model.Reference(field.need("title").string(), field.need("url").string())


RULE_FIELDS = (
    "id", "category", "role", "severity", "phase", "title", "summary", "first_check", "signatures", "explained_by",
    "causes", "fixes", "does_not_help", "verify", "references", "related", "observes", "last_resort", "aliases",
)  # fmt: skip


def build_rule(field: Field, remedies: Mapping[str, model.Remedy]) -> model.Rule:
    """Raises RuleError naming file, line and field."""
    field.only(*RULE_FIELDS)
    fixes = field.get("fixes")
    return model.Rule(
        id=field.need("id").string(),
        category=field.need("category").string(model.CATEGORIES),
        role=string_of(field, "role", model.CAUSE, model.ROLES),
        severity=string_of(field, "severity", "fatal", model.SEVERITIES),
        phase=string_of(field, "phase", "any", model.PHASES),
        title=as_text(field.need("title")),
        summary=as_text(field.need("summary")),
        signatures=list_of(field, "signatures", build_signature),
        first_check=text_of(field, "first_check"),
        explained_by=strings_of(field, "explained_by"),
        causes=list_of(field, "causes", _cause),
        fixes=tuple(_fix(item, remedies) for item in fixes.items()) if fixes else (),
        does_not_help=list_of(field, "does_not_help", _caution),
        verify=list_of(field, "verify", _verification),
        references=list_of(field, "references", _reference),
        related=strings_of(field, "related"),
        observes=flag_of(field, "observes"),
        last_resort=flag_of(field, "last_resort"),
        aliases=strings_of(field, "aliases"),
    )
