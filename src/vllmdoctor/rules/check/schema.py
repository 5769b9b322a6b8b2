"""Check `schema`: every file in, what differs from the published JSON Schemas out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from importlib import resources
from typing import Any

from vllmdoctor.languages import Message
from vllmdoctor.rules.check.folder import RuleFolder, issue
from vllmdoctor.rules.check.issue import NOTE, Issue
from vllmdoctor.rules.fields import Field

KINDS = ("rule", "remedy", "facts", "translation")


def published_schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of rule, remedy, facts or translation files."""
    source = resources.files("vllmdoctor.rules").joinpath("schemas").joinpath(f"{kind}.schema.json")
    schema: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    return schema


class SchemaCheck:
    name = "schema"

    def issues(self, folder: RuleFolder) -> Iterator[Issue]:
        try:
            from jsonschema import Draft202012Validator
        except ImportError:
            yield Issue(str(folder.path), 0, "", self.name, NOTE, Message("not checked: `pip install jsonschema`"))
            return
        for kind, documents in _documents(folder):
            validator = Draft202012Validator(published_schema(kind))
            for document in documents:
                for error in validator.iter_errors(document.value):
                    yield self._issue(document, error)

    def _issue(self, document: Field, error: Any) -> Issue:
        """The innermost error of the alternative that comes nearest: "is not valid under any …" helps nobody."""
        while error.context:
            deepest = max(len(inner.absolute_path) for inner in error.context)
            nearest = [inner for inner in error.context if len(inner.absolute_path) == deepest]
            error = nearest[0] if len(nearest) == 1 else _by_type(nearest)
        path = ".".join(map(str, error.absolute_path))
        return issue(Field(document.file, path, None, document.lines), self.name, problem_of(error))


def _by_type(errors: list[Any]) -> Any:
    """Of several alternatives the one whose type fits and whose content does not."""
    return next((error for error in errors if error.validator != "type"), errors[0])


def problem_of(error: Any) -> str:
    """What a schema asks for and the file does not have; what no sentence is for, in the library's own words."""
    value, wanted = error.instance, error.validator_value
    if error.validator == "required":
        return Message("{names} is missing", names=", ".join(name for name in wanted if name not in value))
    if error.validator == "additionalProperties" and wanted is False:
        known = error.schema.get("properties", {})
        unknown = ", ".join(name for name in value if name not in known)
        return Message("no such field: {names}; there are {known}", names=unknown, known=", ".join(known))
    if error.validator == "type":
        return Message("{value} is not of type {type}", value=_shown(value), type=_listed(wanted))
    if error.validator == "enum":
        return Message("{value} is none of {names}", value=_shown(value), names=", ".join(map(str, wanted)))
    if error.validator == "pattern":
        return Message("{value} does not match the pattern {pattern}", value=_shown(value), pattern=wanted)
    if error.validator in ("minLength", "minItems"):
        return Message("is empty") if wanted == 1 else Message("is shorter than {count}", count=wanted)
    return _shortened(str(error.message))


def _listed(names: Any) -> str:
    return names if isinstance(names, str) else "|".join(names)


def _shown(value: Any) -> str:
    return _shortened(repr(value))


def _shortened(message: str) -> str:
    return message if len(message) <= 200 else message[:120] + " … " + message[-70:]


def _documents(folder: RuleFolder) -> list[tuple[str, Iterable[Field]]]:
    documents = folder.documents
    return [
        ("rule", documents.rules.values()),
        ("remedy", documents.remedies.values()),
        ("facts", documents.facts),
        ("translation", [field for files in documents.translations.values() for field in files.values()]),
    ]
