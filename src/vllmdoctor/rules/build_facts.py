"""The documents of rules/facts in, a typed `FactBook` out."""

from __future__ import annotations

import re
from collections.abc import Mapping

from vllmdoctor.languages import Message
from vllmdoctor.rules import model
from vllmdoctor.rules.expressions import Expression, parse_expression
from vllmdoctor.rules.fields import (
    Field,
    condition_of,
    list_of,
    literals_of,
    needed_pattern,
    string_of,
    strings_of,
    versions_of,
)

FACT_TYPES = ("number", "integer", "text", "flag", "list")
COMBINES = ("first", "last", "min", "max")
MARKS = ("ready", "shutdown", "interrupted", "phase", "failure", "remains")


def build_fact_book(fields: list[Field], known: Mapping[str, model.FactName] | None = None) -> model.FactBook:
    """`known` are facts declared elsewhere. Raises RuleError for an undeclared fact or a bad pattern."""
    for field in fields:
        field.only("facts", "lines", "derived", "marks", "noise", "healthy")
    names = dict(known or {}) | {
        name.name: name for field in fields for name in list_of(field, "facts", build_fact_name)
    }
    book = model.FactBook(
        names=names,
        lines=tuple(line for field in fields for line in list_of(field, "lines", _line)),
        derived=tuple(fact for field in fields for fact in list_of(field, "derived", _derived)),
        marks=tuple(mark for field in fields for mark in list_of(field, "marks", _mark)),
        noise=tuple(noise for field in fields for noise in list_of(field, "noise", _noise)),
        healthy=tuple(line for field in fields for line in strings_of(field, "healthy")),
    )
    for field in fields:
        _check_names(field, names)
    return book


def fact_groups(pattern: str) -> list[str]:
    """Names of the facts that a pattern's groups carry (the `_unit` companions left out)."""
    groups = re.compile(pattern).groupindex
    return [name for name in groups if not (name.endswith("_unit") and name[:-5] in groups)]


def _check_names(field: Field, names: dict[str, model.FactName]) -> None:
    lines = field.get("lines")
    for line in lines.items() if lines else []:
        carried = fact_groups(str(line.value["pattern"]))
        units = {f"{name}_unit" for name in carried}
        for name in (*carried, *(c for c in line.value.get("constants") or () if c not in units)):
            if name not in names:
                raise line.error(Message("the fact {name!r} is not declared under `facts:`", name=name))
    derived = field.get("derived")
    for item in derived.items() if derived else []:
        if item.value["fact"] not in names:
            raise item.error(Message("the fact {name!r} is not declared under `facts:`", name=item.value["fact"]))


def build_fact_name(field: Field) -> model.FactName:
    field.only("name", "type", "unit", "combine", "title")
    return model.FactName(
        name=field.need("name").string(),
        type=string_of(field, "type", "text", FACT_TYPES),
        unit=string_of(field, "unit"),
        combine=string_of(field, "combine", "last", COMBINES),
        title=field.need("title").string(),
    )


def _line(field: Field) -> model.FactLine:
    field.only("pattern", "samples", "literals", "sections", "versions", "constants")
    pattern = needed_pattern(field)
    constants = field.get("constants")
    return model.FactLine(
        pattern=pattern,
        samples=strings_of(field, "samples"),
        literals=literals_of(field, pattern),
        sections=strings_of(field, "sections") or ("log",),
        versions=versions_of(field),
        constants={name: value.string() for name, value in constants.entries()} if constants else {},
    )


def _derived(field: Field) -> model.DerivedFact:
    field.only("fact", "value", "when", "default")
    value: Expression = field.need("value").parsed(lambda source: parse_expression(str(source)))
    default = field.get("default")
    return model.DerivedFact(
        fact=field.need("fact").string(), value=value, when=condition_of(field), default=bool(default and default.value)
    )


def _mark(field: Field) -> model.Mark:
    field.only("mark", "phase", "where", "pattern", "samples", "literals")
    pattern = needed_pattern(field)
    where = string_of(field, "where", "line", ("line", "frame"))
    return model.Mark(
        mark=string_of(field, "mark", "phase", MARKS),
        phase=string_of(field, "phase"),
        where=where,
        pattern=pattern,
        samples=strings_of(field, "samples"),
        literals=literals_of(field, pattern) if where == "line" else (),
    )


def _noise(field: Field) -> model.Noise:
    field.only("id", "pattern", "why", "samples", "literals")
    pattern = needed_pattern(field)
    return model.Noise(
        id=field.need("id").string(),
        pattern=pattern,
        why=field.need("why").string(),
        samples=strings_of(field, "samples"),
        literals=literals_of(field, pattern),
    )
