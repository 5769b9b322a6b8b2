"""A printed dict, Namespace or call (text from its opening bracket on) in, its arguments with canonical texts out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vllmdoctor.facts.literal import canonical_text
from vllmdoctor.facts.options import INTERNAL, canonical_option, says_something

CUT = "…"  # stands among the names left out for those behind the end of a cut line
_TAG = "model_tag"
_MAX_CHARS = 32 * 1024
_OPEN, _CLOSE = "([{", ")]}"
_PAIR = re.compile(r"\s*(?P<quote>['\"]?)(?P<key>[A-Za-z_]\w{0,80})(?P=quote)\s*[:=](?!=)\s*(?P<value>.*)", re.DOTALL)
_SPACE_INSIDE = re.compile(r"'[^',:]* [^',:]*'|\"[^\",:]* [^\",:]*\"")


@dataclass(frozen=True, slots=True)
class Echo:
    """Arguments by name, and the names of those whose value cannot be told (CUT: the line ends too early)."""

    arguments: dict[str, str]
    left_out: tuple[str, ...] = ()


def read_echo(text: str, *, every_option: bool = False, folded: bool = False) -> Echo:
    """`text` goes on behind the opening bracket. `every_option` is for printouts that also hold the defaults.

    `folded` text was printed over several lines: a space inside a word may be where a terminal broke it.
    """
    arguments: dict[str, str] = {}
    left_out: list[str] = []
    for part, complete in _parts(text[:_MAX_CHARS]):
        pair = _PAIR.fullmatch(part)
        name = canonical_option(pair["key"]) if pair else ""
        if not complete:
            left_out.append(CUT)
        elif pair is None:
            if not every_option:  # of a call: what stands without a name, such as **options
                _read_unnamed(part, arguments, left_out)
        elif name in INTERNAL:
            continue
        else:
            value = canonical_text(pair["value"])
            if folded and value and _SPACE_INSIDE.search(pair["value"]):
                value = None
            if every_option:
                value = _plain_option(name, value)
            if value is None:
                left_out.append(name)
            elif value:
                arguments[name] = value
    tag = arguments.pop(_TAG, "")
    if tag and not arguments.get("model"):  # vLLM's default model is not printed
        arguments["model"] = tag
    return Echo(arguments, tuple(dict.fromkeys(left_out)))


def _read_unnamed(part: str, arguments: dict[str, str], left_out: list[str]) -> None:
    value = canonical_text(part) if part.lstrip()[:1] in ("'", '"') else None
    if value and "model" not in arguments:
        arguments["model"] = value
    else:
        left_out.append(CUT)


def _plain_option(name: str, value: str | None) -> str | None:
    """The value of an option that 0.4 to 0.8 print; "" for defaults and what is no option of the engine."""
    if name in ("model", _TAG):
        return value
    if value is None:  # an object: of an option that we know it is not, it is the default's
        return ""
    if not says_something(name, value):
        return ""
    return None if name == "limit_mm_per_prompt" else value  # its form on the command line was another one


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """The parts between commas at the outermost level; False for one that the end of the text cuts."""
    depth, quote, start, escaped = 0, "", 0, False
    for position, character in enumerate(text):
        if escaped:
            escaped = False
        elif quote:
            escaped = character == "\\"
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in _OPEN:
            depth += 1
        elif character in _CLOSE:
            if depth == 0:
                if text[start:position].strip():
                    yield text[start:position], True
                return
            depth -= 1
        elif character == "," and depth == 0:
            if text[start:position].strip():
                yield text[start:position], True
            start = position + 1
    yield text[start:], False
