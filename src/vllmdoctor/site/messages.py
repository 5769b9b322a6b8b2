"""A rule in, the wordings of its message out; a message in, a title that search engines and people find out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vllmdoctor.report.untrusted import neutral
from vllmdoctor.rules.model import Rule, Signature

_NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*\d(?![\w])|(?<![\w.])\d(?![\w.])")
_EXCEPTION = re.compile(r"^(?:[\w.]*\.)?\w*(?:Error|Exception|Warning):\s+")
_TITLE_CHARACTERS = 90


@dataclass(frozen=True, slots=True)
class Wording:
    """One wording of a message: a sample on one line, and the signature that recognizes it."""

    text: str
    signature: Signature


def wordings(rule: Rule) -> tuple[Wording, ...]:
    """Every sample once, in the order of the rule's signatures."""
    seen: dict[str, Wording] = {}
    for signature in rule.signatures:
        for sample in signature.samples:
            text = one_line(sample)
            seen.setdefault(text, Wording(text, signature))
    return tuple(seen.values())


def one_line(sample: str) -> str:
    return neutral(" ".join(sample.split()))


def message_title(message: str) -> str:
    """The message without exception class and numbers, cut at a word."""
    text = _NUMBER.sub("…", _EXCEPTION.sub("", message))
    if len(text) <= _TITLE_CHARACTERS:
        return text
    return text[:_TITLE_CHARACTERS].rsplit(" ", 1)[0].rstrip(" ,:;(") + " …"
