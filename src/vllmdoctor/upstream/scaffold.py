"""A failure that no rule knows in, the file of a new rule for it out, with marked texts for its author to fill in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vllmdoctor.errors import UsageError
from vllmdoctor.languages import Message
from vllmdoctor.logs.model import Record
from vllmdoctor.rules.literals import MIN_LENGTH, required_literals
from vllmdoctor.rules.model import PHASES
from vllmdoctor.upstream.provenance import Provenance, bare_message
from vllmdoctor.upstream.templates import Piece, folded, pieces_of

_PATTERN_CHARACTERS = 160
_SAMPLE_CHARACTERS = 400
_LONGEST_VALUE = 200
_PACKAGE = re.compile(r"(?:site|dist)-packages/(\w+)/")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")

# What differs from log to log, the most special first, and the pattern that takes its place.
_VALUES = (
    (r"\w{2,8}://[^\s'\"]+", r"\w{2,8}://[^\s'\"]{1,200}"),
    (r"0x[0-9a-fA-F]+", r"0x[0-9a-fA-F]{1,16}"),
    (r"'[^']*'", r"'[^']{0,200}'"),
    (r"`[^`]*`", r"`[^`]{0,200}`"),
    (r'"[^"]*"', r'"[^"]{0,200}"'),
    (r"\[[^\]]*\]", r"\[[^\]]{0,300}\]"),
    (r"~?(?:/[\w.@+-]+)+/?", r"~?/[^\s'\",:]{1,200}"),
    (r"\d+\.\d+", r"\d{1,9}\.\d{1,9}"),
    (r"\d+", r"\d{1,12}"),
)
_ANY_VALUE = re.compile("|".join(f"({found})" for found, _ in _VALUES))
_CLASS_WORDS = re.compile(r"(?<=[\w)}'\"`\]]) \S*$")


@dataclass(frozen=True, slots=True)
class NewRule:
    """What the file of a new rule is made from. `message` is redacted already."""

    id: str
    category: str
    exception: str
    message: str
    phase: str
    version: str
    related: Sequence[str]
    provenance: Provenance | None
    file: str  # of vLLM, from the traceback; "" when it was raised elsewhere
    origin: str

    @property
    def sample(self) -> str:
        text = f"{self.exception}: {self.message}" if self.exception else self.message
        return text if len(text) <= _SAMPLE_CHARACTERS else text[:_SAMPLE_CHARACTERS].rpartition(" ")[0]

    @property
    def pattern(self) -> str:
        """From the template when it takes the sample, else from the message with its values made general."""
        from_template = template_pattern(self.provenance) if self.provenance else ""
        if from_template and re.search(from_template, self.sample) and _has_literal(from_template):
            return from_template
        pattern = general_pattern(self.message)
        if not _has_literal(pattern):
            raise UsageError(
                Message("the message {message!r} has no words of its own to recognise it by", message=self.message)
            )
        return pattern


def new_rule(
    rule_id: str, category: str, record: Record, message: str, phase: str, version: str, related: Sequence[str],
    provenance: Provenance | None,
) -> NewRule:  # fmt: skip
    """`message` is the record's text, redacted."""
    paths = [frame.file.replace("\\", "/") for frame in record.frames[-1:]]
    file = next((path[path.rindex("vllm/") :] for path in paths if "vllm/" in path), "")
    package = next((found[1] for path in paths if (found := _PACKAGE.search(path))), "")
    return NewRule(
        rule_id, category, record.exception, message, phase if phase in PHASES else "any", version, tuple(related),
        provenance, file, package if package and not file and provenance is None else "vllm",
    )  # fmt: skip


def message_of(record: Record) -> str:
    return bare_message(record)


def general_pattern(message: str) -> str:
    """The beginning of a message as a pattern: words as they are, values by what they look like."""
    pattern, position, text = "", 0, folded(message)
    for found in _ANY_VALUE.finditer(text):
        pattern += _escaped(text[position : found.start()])
        if len(pattern) >= _PATTERN_CHARACTERS:
            return _cut(pattern)
        pattern += _VALUES[(found.lastindex or 1) - 1][1]
        position = found.end()
    return _cut(pattern + _escaped(text[position:]))


def _cut(pattern: str) -> str:
    """At a word's end, and not inside of a class or a repeat: only literal words are taken away."""
    while len(pattern) > 2 * _PATTERN_CHARACTERS and _CLASS_WORDS.search(pattern):
        shorter = _CLASS_WORDS.sub("", pattern)
        if not _compiles(shorter):
            break
        pattern = shorter
    return pattern


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def template_pattern(provenance: Provenance) -> str:
    """A template as a pattern: its literals, and between them what the placeholders held, made general."""
    pieces = list(pieces_of(provenance.template))
    while pieces and pieces[0].placeholder:
        pieces.pop(0)
    parts: list[str] = []
    for piece in pieces:
        if len("".join(parts)) >= _PATTERN_CHARACTERS:
            break
        if not piece.placeholder:
            parts.append(_escaped(piece.text))
        elif parts and not parts[-1].endswith("}?"):
            parts.append(_value_class(piece, provenance.values))
    while parts and parts[-1].endswith("}?"):
        parts.pop()
    return "".join(parts).strip()


def _value_class(piece: Piece, values: Mapping[str, str]) -> str:
    if _NUMBER.fullmatch(values.get(piece.text, "")):
        return r"-?\d{1,12}(?:\.\d{1,9})?"
    return f".{{1,{_LONGEST_VALUE}}}?"


def _escaped(text: str) -> str:
    """Like re.escape, without what needs no backslash in a pattern."""
    return re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", text)


def _has_literal(pattern: str) -> bool:
    return any(len(literal) >= MIN_LENGTH for group in required_literals(pattern) for literal in group)


def rule_yaml(rule: NewRule) -> str:
    """The file. Every text that needs an author begins with FILL IN."""
    return "\n".join([*_head(rule), *_signature(rule), *_texts(), *_related(rule.related), ""])


def _head(rule: NewRule) -> list[str]:
    return [
        f"id: {rule.id}",
        f"category: {rule.category}",
        "role: cause",
        "severity: fatal",
        f"phase: {rule.phase}",
        "title: FILL IN what failed, in a few words, with its numbers",
        "summary: FILL IN what happened and why, in one or two sentences.",
        "first_check: FILL IN what to look at first, in under a minute.",
    ]


def _signature(rule: NewRule) -> list[str]:
    lines = [
        "signatures:",
        f"  - pattern: {_single(rule.pattern)}",
        "    scope: error",
    ]
    if rule.origin != "vllm":
        lines.append(f"    origin: {rule.origin}")
    else:
        versions, remark = _versions(rule)
        lines.append(f'    versions: "{versions}"{remark}')
        file = rule.provenance.file if rule.provenance else rule.file
        lines.append(f"    raised: [{file or 'vllm/FILL-IN.py'}]")
    return [*lines, "    samples:", f"      - {json.dumps(rule.sample, ensure_ascii=False)}"]


def _versions(rule: NewRule) -> tuple[str, str]:
    if rule.provenance and rule.provenance.first_version:
        first, last = rule.provenance.first_version, rule.provenance.last_version
        return (f">={_release(first)}", "") if last in ("", first) else (f">={_release(first)}, <={_release(last)}", "")
    known = _release(rule.version)
    return f">={known or '0.1.0'}", "  # FILL IN since which release; see `vllmdoctor rules drift`"


def _release(version: str) -> str:
    found = re.match(r"\d+\.\d+(?:\.\d+)?", version)
    return found[0] if found else ""


def _texts() -> list[str]:
    return [
        "causes:",
        "  - id: fill-in-cause",
        "    title: FILL IN one reason behind it",
        "    text: FILL IN how to tell that it is this one. With `when` the log's facts decide.",
        "fixes:",
        "  - id: fill-in-fix",
        "    title: FILL IN what to change",
        "    text: FILL IN why it helps.",
        "    effect: FILL IN what is different afterwards.",
        "    cost: FILL IN what it costs.",
        "does_not_help:",
        "  - id: fill-in-caution",
        "    title: FILL IN what people try",
        "    text: FILL IN why it does not help here.",
        "verify:",
        "  - id: fill-in-check",
        "    text: FILL IN the log line or command that shows that the fix worked.",
    ]


def _related(related: Sequence[str]) -> list[str]:
    return ["related:", *(f"  - {name}" for name in related)] if related else []


def _single(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
