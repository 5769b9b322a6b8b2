"""Texts of rules: Markdown with `{expression:format|fallback}` placeholders in, text with the facts filled in out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vllmdoctor.errors import ExpressionError
from vllmdoctor.languages import Message
from vllmdoctor.rules.expressions import UNKNOWN, Expression, Lookup, Value, parse_expression

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{(?P<body>[^{}]*)\}")
_BARE_NAME = re.compile(r"[a-z_][a-z0-9_]*")

FORMATS = ("raw", "int", "gib", "mib", "pct", "num", "list")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """`{expression:format|fallback}`: format is one of FORMATS or "" (by the fact's unit), fallback None if absent."""

    expression: Expression
    format: str
    fallback: str | None

    def value(self, lookup: Lookup) -> Value:
        """The value to show. A version is shown as it was printed; only expressions compare it as a release."""
        name = self.expression.source.strip()
        return lookup(name) if _BARE_NAME.fullmatch(name) else self.expression.evaluate(lookup)


@dataclass(frozen=True, slots=True)
class Template:
    """A text split into literal parts and placeholders."""

    source: str
    parts: tuple[str | Placeholder, ...]

    def facts(self) -> frozenset[str]:
        """Names of the facts and arguments that its placeholders use."""
        return frozenset(name for part in self.placeholders() for name in part.expression.facts())

    def placeholders(self) -> Iterator[Placeholder]:
        return (part for part in self.parts if isinstance(part, Placeholder))

    def is_sure(self) -> bool:
        """True when it can be rendered whatever is known."""
        return all(part.fallback is not None for part in self.placeholders())

    def render(self, lookup: Lookup, unit_of: Callable[[str], str]) -> str | None:
        """The text with every placeholder filled in; None when a fact without a fallback is unknown."""
        rendered = []
        for part in self.parts:
            if isinstance(part, str):
                rendered.append(part)
                continue
            value = part.value(lookup)
            if value is UNKNOWN and part.fallback is None:
                return None
            rendered.append(part.fallback or "" if value is UNKNOWN else _formatted(part, value, unit_of))
        return "".join(rendered)


@dataclass(frozen=True, slots=True)
class Text:
    """A wording for when its facts are known and one for when they are not (the same when it has no placeholders)."""

    known: Template
    unknown: Template

    def render(self, lookup: Lookup, unit_of: Callable[[str], str]) -> str:
        known = self.known.render(lookup, unit_of)
        return known if known is not None else self.unknown.render(lookup, unit_of) or ""


EMPTY = Text(Template("", ()), Template("", ()))


def parse_template(source: str) -> Template:
    """Raises ExpressionError for a placeholder that does not parse; `{{` and `}}` stand for braces."""
    parts: list[str | Placeholder] = []
    position = 0
    for found in _PLACEHOLDER.finditer(source):
        parts.append(source[position : found.start()])
        position = found.end()
        if found["body"] is None:
            parts.append(found[0][0])
        else:
            parts.append(_placeholder(found["body"]))
    rest = source[position:]
    if "{" in rest or "}" in rest:
        raise ExpressionError(
            source, position + 1, Message("a brace without its partner; write {{ or }} for a plain brace")
        )
    parts.append(rest)
    return Template(source, tuple(part for part in parts if part != ""))


def parse_text(value: str | dict[str, str]) -> Text:
    """A text from its YAML form: one string, or `known:` and `unknown:` wordings.

    Raises ExpressionError for bad placeholders and ValueError when a wording for unknown facts is missing.
    """
    if isinstance(value, str):
        template = parse_template(value)
        if not template.is_sure():
            raise ValueError(
                Message("has placeholders: give `known:` and `unknown:` wordings, or a fallback {fact|fallback}")
            )
        return Text(template, template)
    if set(value) != {"known", "unknown"} or not all(isinstance(wording, str) for wording in value.values()):
        raise ValueError(Message("is neither one text nor a pair of `known:` and `unknown:` wordings"))
    unknown = parse_template(value["unknown"])
    if not unknown.is_sure():
        raise ValueError(Message("the `unknown:` wording uses a fact without a fallback"))
    return Text(parse_template(value["known"]), unknown)


def _placeholder(body: str) -> Placeholder:
    expression, bar, fallback = body.partition("|")
    source, colon, form = expression.rpartition(":")
    if not colon:
        source, form = expression, ""
    if form not in ("", *FORMATS):
        raise ExpressionError(
            body, len(source) + 2, Message("no format {form!r}; there are {names}", form=form, names=", ".join(FORMATS))
        )
    return Placeholder(parse_expression(source), form, fallback if bar else None)


def _formatted(part: Placeholder, value: Value, unit_of: Callable[[str], str]) -> str:
    form = part.format
    name = part.expression.source.strip()
    if not form and _BARE_NAME.fullmatch(name):
        form = {"GiB": "gib", "MiB": "mib", "tokens": "int", "count": "int"}.get(unit_of(name), "raw")
    return format_value(value, form or "num")


def format_value(value: Value, form: str) -> str:
    """One value as text: `gib` → 2.50 GiB, `int` → 32,768, `pct` → 92 %, `num` → up to two decimals, `raw` as it is."""
    if isinstance(value, tuple):
        return ".".join(map(str, value))
    if isinstance(value, bool) or isinstance(value, str) or not isinstance(value, (int, float)):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if form in ("gib", "mib"):
        return f"{value:,.2f} GiB" if form == "gib" else f"{value:,.0f} MiB"
    if form == "int":
        return f"{value:,.0f}"
    if form == "pct":
        return f"{100 * value:.0f} %"
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".") if form == "raw" else f"{value:,.2f}".rstrip("0").rstrip(".")
    return str(value) if form == "raw" else f"{value:,}"
