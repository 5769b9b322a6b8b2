"""A checked document (dicts, from YAML or the compiled JSON) in, typed values out; errors name file, line and field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from vllmdoctor.errors import ExpressionError, RuleError
from vllmdoctor.languages import Message
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


def list_of(parent: Field, key: str, build: Callable[[Field], T]) -> tuple[T, ...]:
    found = parent.get(key)
    return tuple(build(item) for item in found.items()) if found else ()


def strings_of(parent: Field, key: str) -> tuple[str, ...]:
    found = parent.get(key)
    return found.strings() if found else ()


def string_of(parent: Field, key: str, default: str = "", choices: Iterable[str] = ()) -> str:
    found = parent.get(key)
    return found.string(choices) if found else default


def flag_of(parent: Field, key: str) -> bool:
    found = parent.get(key)
    if found is not None and not isinstance(found.value, bool):
        raise found.error(Message("is neither true nor false"))
    return bool(found and found.value)


def text_of(parent: Field, key: str) -> Text:
    found = parent.get(key)
    return as_text(found) if found else EMPTY


def as_text(field: Field) -> Text:
    if not isinstance(field.value, (str, Mapping)):
        raise field.error(Message("is not a text"))
    return field.parsed(parse_text)


def optional_text(parent: Field, key: str) -> Text | None:
    found = parent.get(key)
    return as_text(found) if found else None


def condition_of(parent: Field, key: str = "when") -> Expression | None:
    found = parent.get(key)
    if not found:
        return None
    if not isinstance(found.value, str):
        raise found.error(Message("is not a condition; put it in quotes"))
    return found.parsed(parse_expression)


def versions_of(parent: Field) -> VersionRange:
    found = parent.get("versions")
    return found.parsed(lambda value: VersionRange.parse(str(value))) if found else VersionRange("", ())


def pattern_of(parent: Field, key: str) -> str:
    found = parent.get(key)
    if not found:
        return ""
    source = found.string()
    if not parent.checked:
        found.parsed(re.compile)
    return source


def needed_pattern(parent: Field) -> str:
    pattern = pattern_of(parent, "pattern")
    if not pattern:  # an empty one would match every line
        raise parent.error(Message("`pattern` is missing"))
    return pattern


def literals_of(parent: Field, pattern: str) -> LiteralSets:
    given = parent.get("literals")
    if given is not None:
        return tuple(item.strings() for item in given.items())
    return required_literals(pattern) if pattern else ()
