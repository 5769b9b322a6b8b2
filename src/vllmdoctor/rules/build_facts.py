"""The documents of rules/facts in, a typed `FactBook` out."""

from __future__ import annotations

import re
from collections.abc import Mapping

from vllmdoctor.languages import Message
from vllmdoctor.rules import model
from vllmdoctor.rules.build import Field, _condition, _list, _literals, _needed_pattern, _string, _strings, _versions
from vllmdoctor.rules.expressions import Expression, parse_expression

FACT_TYPES = ("number", "integer", "text", "flag", "list")
COMBINES = ("first", "last", "min", "max")
MARKS = ("ready", "shutdown", "interrupted", "exit", "start", "phase", "milestone")


def build_fact_book(fields: list[Field], known: Mapping[str, model.FactName] | None = None) -> model.FactBook:
    """`known` are facts declared elsewhere. Raises RuleError for an undeclared fact or a bad pattern."""
    for field in fields:
        field.only("facts", "lines", "derived", "marks", "noise", "healthy")
    names = dict(known or {}) | {name.name: name for field in fields for name in _list(field, "facts", build_fact_name)}
    book = model.FactBook(
        names=names,
        lines=tuple(line for field in fields for line in _list(field, "lines", _line)),
        derived=tuple(fact for field in fields for fact in _list(field, "derived", _derived)),
        marks=tuple(mark for field in fields for mark in _list(field, "marks", _mark)),
        noise=tuple(noise for field in fields for noise in _list(field, "noise", _noise)),
        healthy=tuple(line for field in fields for line in _strings(field, "healthy")),
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
        type=_string(field, "type", "text", FACT_TYPES),
        unit=_string(field, "unit"),
        combine=_string(field, "combine", "last", COMBINES),
        title=field.need("title").string(),
    )


def _line(field: Field) -> model.FactLine:
    field.only("pattern", "samples", "literals", "sections", "versions", "constants")
    pattern = _needed_pattern(field)
    constants = field.get("constants")
    return model.FactLine(
        pattern=pattern,
        samples=_strings(field, "samples"),
        literals=_literals(field, pattern),
        sections=_strings(field, "sections") or ("log",),
        versions=_versions(field),
        constants={name: value.string() for name, value in constants.entries()} if constants else {},
    )


def _derived(field: Field) -> model.DerivedFact:
    field.only("fact", "value", "when", "default")
    value: Expression = field.need("value").parsed(lambda source: parse_expression(str(source)))
    default = field.get("default")
    return model.DerivedFact(
        fact=field.need("fact").string(), value=value, when=_condition(field), default=bool(default and default.value)
    )


def _mark(field: Field) -> model.Mark:
    field.only("mark", "phase", "where", "pattern", "samples", "literals")
    pattern = _needed_pattern(field)
    where = _string(field, "where", "line", ("line", "frame"))
    return model.Mark(
        mark=_string(field, "mark", "phase", MARKS),
        phase=_string(field, "phase"),
        where=where,
        pattern=pattern,
        samples=_strings(field, "samples"),
        literals=_literals(field, pattern) if where == "line" else (),
    )


def _noise(field: Field) -> model.Noise:
    field.only("id", "pattern", "why", "samples", "literals")
    pattern = _needed_pattern(field)
    return model.Noise(
        id=field.need("id").string(),
        pattern=pattern,
        why=field.need("why").string(),
        samples=_strings(field, "samples"),
        literals=_literals(field, pattern),
    )
