"""Checked documents (dicts, from YAML or the compiled JSON) in, a typed catalogue out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from vllmdoctor.errors import ExpressionError, RuleError
from vllmdoctor.languages import Message
from vllmdoctor.rules import model
from vllmdoctor.rules.expressions import Expression, parse_expression
from vllmdoctor.rules.literals import LiteralSets, required_literals
from vllmdoctor.rules.texts import EMPTY, Text, parse_text
from vllmdoctor.rules.versions import VersionRange

Doc = Mapping[str, Any]
T = TypeVar("T")


class Field:
    """A value inside a document that knows its place, so that every error can name file, line and field."""

    def __init__(
        self, file: str, path: str, value: Any, lines: Mapping[str, int] | None = None, *, checked: bool = False
    ) -> None:
        self.file = file
        self.path = path
        self.value = value
        self.lines = lines or {}
        self.checked = checked  # built once before: patterns are known to compile

    def child(self, key: object, value: Any) -> Field:
        """The field below this one."""
        path = f"{self.path}.{key}" if self.path else str(key)
        return Field(self.file, path, value, self.lines, checked=self.checked)

    def error(self, problem: str) -> RuleError:
        path = self.path
        while path and path not in self.lines:
            path = path.rpartition(".")[0]
        return RuleError(self.file, problem, line=self.lines.get(path, 0), field=self.path)

    def get(self, key: str) -> Field | None:
        """The value of a key, None when it is absent."""
        value = self.mapping().get(key)
        return None if value is None else self.child(key, value)

    def need(self, key: str) -> Field:
        found = self.get(key)
        if found is None:
            raise self.error(Message("`{key}` is missing", key=key))
        return found

    def mapping(self) -> Doc:
        if not isinstance(self.value, Mapping):
            raise self.error(Message("is not a mapping"))
        return self.value

    def only(self, *keys: str) -> None:
        """Raises RuleError for a key that is none of `keys`."""
        for key in self.mapping():
            if key not in keys:
                raise self.child(key, None).error(Message("no such field; there are {names}", names=", ".join(keys)))

    def items(self) -> list[Field]:
        if not isinstance(self.value, list):
            raise self.error(Message("is not a list"))
        return [self.child(n, value) for n, value in enumerate(self.value)]

    def entries(self) -> list[tuple[str, Field]]:
        return [(str(key), self.child(key, value)) for key, value in self.mapping().items()]

    def string(self, choices: Iterable[str] = ()) -> str:
        if not isinstance(self.value, str):
            raise self.error(Message("is not a text; put it in quotes"))
        allowed = tuple(choices)
        if allowed and self.value not in allowed:
            raise self.error(Message("{value!r} is none of {names}", value=self.value, names=", ".join(allowed)))
        return self.value

    def strings(self) -> tuple[str, ...]:
        return tuple(item.string() for item in self.items())

    def parsed(self, parser: Callable[[Any], T]) -> T:
        try:
            return parser(self.value)
        except (ExpressionError, ValueError, re.error, OverflowError) as problem:
            raise self.error(problem.args[0] if problem.args else str(problem)) from None
        except RecursionError:
            raise self.error(Message("is nested too deeply")) from None


def _list(parent: Field, key: str, build: Callable[[Field], T]) -> tuple[T, ...]:
    found = parent.get(key)
    return tuple(build(item) for item in found.items()) if found else ()


def _strings(parent: Field, key: str) -> tuple[str, ...]:
    found = parent.get(key)
    return found.strings() if found else ()


def _string(parent: Field, key: str, default: str = "", choices: Iterable[str] = ()) -> str:
    found = parent.get(key)
    return found.string(choices) if found else default


def _flag(parent: Field, key: str) -> bool:
    found = parent.get(key)
    if found is not None and not isinstance(found.value, bool):
        raise found.error(Message("is neither true nor false"))
    return bool(found and found.value)


def _text(parent: Field, key: str) -> Text:
    found = parent.get(key)
    return _as_text(found) if found else EMPTY


def _as_text(field: Field) -> Text:
    if not isinstance(field.value, (str, Mapping)):
        raise field.error(Message("is not a text"))
    return field.parsed(parse_text)


def _optional_text(parent: Field, key: str) -> Text | None:
    found = parent.get(key)
    return _as_text(found) if found else None


def _condition(parent: Field, key: str = "when") -> Expression | None:
    found = parent.get(key)
    if not found:
        return None
    if not isinstance(found.value, str):
        raise found.error(Message("is not a condition; put it in quotes"))
    return found.parsed(parse_expression)


def _versions(parent: Field) -> VersionRange:
    found = parent.get("versions")
    return found.parsed(lambda value: VersionRange.parse(str(value))) if found else VersionRange("", ())


def _pattern(parent: Field, key: str) -> str:
    found = parent.get(key)
    if not found:
        return ""
    source = found.string()
    if not parent.checked:
        found.parsed(re.compile)
    return source


def _needed_pattern(parent: Field) -> str:
    pattern = _pattern(parent, "pattern")
    if not pattern:  # an empty one would match every line
        raise parent.error(Message("`pattern` is missing"))
    return pattern


def _literals(parent: Field, pattern: str) -> LiteralSets:
    given = parent.get("literals")
    if given is not None:
        return tuple(item.strings() for item in given.items())
    return required_literals(pattern) if pattern else ()


def build_signature(field: Field) -> model.Signature:
    field.only(
        "pattern", "scope", "samples", "literals", "frames", "unless", "when", "phases", "versions", "raised", "origin"
    )  # fmt: skip
    pattern = _needed_pattern(field)
    phases = _strings(field, "phases")
    for phase in phases:
        if phase not in (*model.PHASES, "unknown"):
            raise field.error(Message("no phase {phase!r}", phase=phase))
    return model.Signature(
        pattern=pattern,
        scope=_string(field, "scope", "error", model.SCOPES),
        samples=_strings(field, "samples"),
        literals=_literals(field, pattern),
        frames=_pattern(field, "frames"),
        unless=_pattern(field, "unless"),
        when=_condition(field),
        phases=phases,
        versions=_versions(field),
        raised=_strings(field, "raised"),
        origin=_string(field, "origin", "vllm"),
    )


def build_changes(field: Field | None) -> model.Changes:
    if field is None:
        return model.Changes()
    field.only("arguments", "environment", "shell", "docker", "compose", "kubernetes", "python")
    pairs = {
        key: {name: _as_text(value) for name, value in found.entries()} if (found := field.get(key)) else {}
        for key in ("arguments", "environment")
    }
    return model.Changes(
        arguments=pairs["arguments"],
        environment=pairs["environment"],
        shell=_list(field, "shell", _as_text),
        docker=_list(field, "docker", _as_text),
        compose=_optional_text(field, "compose"),
        kubernetes=_optional_text(field, "kubernetes"),
        python=_optional_text(field, "python"),
    )


_REMEDY_FIELDS = ("id", "title", "text", "effect", "cost", "changes", "versions", "direction", "risk")


def build_remedy(field: Field) -> model.Remedy:
    field.only(*_REMEDY_FIELDS, "references", "aliases")
    return _remedy(field)


def _remedy(field: Field) -> model.Remedy:
    return model.Remedy(
        id=field.need("id").string(),
        title=_as_text(field.need("title")),
        text=_text(field, "text"),
        effect=_text(field, "effect"),
        cost=_text(field, "cost"),
        changes=build_changes(field.get("changes")),
        versions=_versions(field),
        direction=_string(field, "direction", "", ("up", "down")),
        risk=_string(field, "risk", "low", ("low", "medium", "high")),
    )


def _fix(field: Field, remedies: Mapping[str, model.Remedy]) -> model.Fix:
    arguments_field = field.get("arguments")
    arguments = {
        name: value.parsed(lambda source: parse_expression(str(source)))
        for name, value in (arguments_field.entries() if arguments_field else [])
    }
    named = field.get("remedy")
    if named:
        field.only("remedy", "id", "when", "arguments", "text", "cost")
        remedy = remedies.get(named.string())
        if remedy is None:
            raise named.error(Message("no remedy {remedy!r} in rules/remedies", remedy=named.value))
    else:
        field.only(*_REMEDY_FIELDS, "when", "arguments")
        remedy = _remedy(field)
    return model.Fix(
        id=_string(field, "id", remedy.id),
        remedy=remedy,
        text=_text(field, "text") if named else EMPTY,
        when=_condition(field),
        arguments=arguments,
        cost=_optional_text(field, "cost") if named else None,
    )


def _cause(field: Field) -> model.Cause:
    field.only("id", "title", "text", "when")
    return model.Cause(
        id=field.need("id").string(),
        title=_as_text(field.need("title")),
        text=_text(field, "text"),
        when=_condition(field),
    )


def _caution(field: Field) -> model.Caution:
    field.only("id", "title", "text", "when")
    return model.Caution(
        id=field.need("id").string(),
        title=_as_text(field.need("title")),
        text=_as_text(field.need("text")),
        when=_condition(field),
    )


def _verification(field: Field) -> model.Verification:
    field.only("id", "text", "log", "command", "when")
    return model.Verification(
        id=field.need("id").string(),
        text=_as_text(field.need("text")),
        log=_optional_text(field, "log"),
        command=_optional_text(field, "command"),
        when=_condition(field),
    )


def _reference(field: Field) -> model.Reference:
    field.only("title", "url")
    return model.Reference(field.need("title").string(), field.need("url").string())


RULE_FIELDS = (
    "id", "category", "role", "severity", "phase", "title", "summary", "first_check", "signatures", "explained_by",
    "causes", "fixes", "does_not_help", "verify", "references", "related", "observes", "aliases",
)  # fmt: skip


def build_rule(field: Field, remedies: Mapping[str, model.Remedy]) -> model.Rule:
    """Raises RuleError naming file, line and field."""
    field.only(*RULE_FIELDS)
    fixes = field.get("fixes")
    return model.Rule(
        id=field.need("id").string(),
        category=field.need("category").string(model.CATEGORIES),
        role=_string(field, "role", model.CAUSE, model.ROLES),
        severity=_string(field, "severity", "fatal", model.SEVERITIES),
        phase=_string(field, "phase", "any", model.PHASES),
        title=_as_text(field.need("title")),
        summary=_as_text(field.need("summary")),
        signatures=_list(field, "signatures", build_signature),
        first_check=_text(field, "first_check"),
        explained_by=_strings(field, "explained_by"),
        causes=_list(field, "causes", _cause),
        fixes=tuple(_fix(item, remedies) for item in fixes.items()) if fixes else (),
        does_not_help=_list(field, "does_not_help", _caution),
        verify=_list(field, "verify", _verification),
        references=_list(field, "references", _reference),
        related=_strings(field, "related"),
        observes=_flag(field, "observes"),
        aliases=_strings(field, "aliases"),
    )
