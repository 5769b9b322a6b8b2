"""Templates and signatures in, the pairs that belong together out: the signature's wording is the template's."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from vllmdoctor.rules.model import Signature
from vllmdoctor.rules.prefilter import candidates, compiled
from vllmdoctor.upstream.glob import glob_match
from vllmdoctor.upstream.relaxed import FILLING, MARK, relaxed_pattern
from vllmdoctor.upstream.templates import INFO, WARNING, Piece, Template, folded, pieces_of

_LEAST_LITERAL = 8  # characters of the template itself that a match must hold
_LEAST_SHARE = 0.4
_SAMPLE_WORDS = 3
_QUOTED = re.compile(r"!r(?::|$)")
_WORD = re.compile(r"[A-Za-z][A-Za-z_]{2,}")
_ANCHOR = 24


@dataclass(frozen=True, slots=True)
class Link:
    """A signature (its index) and a template (its index) that belong together.

    `by_pattern`: the pattern takes the template whatever the placeholders hold; `by_sample`: a sample of the signature
    is an instance of the template.
    """

    signature: int
    template: int
    by_pattern: bool
    by_sample: bool


def links(signatures: Sequence[Signature], templates: Sequence[Template]) -> list[Link]:
    by_pattern = _by_pattern(signatures, templates)
    by_sample = _by_sample(signatures, templates)
    return [Link(*pair, pair in by_pattern, pair in by_sample) for pair in sorted(by_pattern | by_sample)]


def skeleton(template: Template) -> str:
    """The message as a log would show it, with marks for what the placeholders hold.

    A pydantic model turns the ValueErrors of its validators into lines of its own; both forms are in the text.
    """
    text = "".join(_filled(piece) for piece in pieces_of(template.text))
    name = template.exception.partition("|")[0]
    if template.kind in (WARNING, INFO) or not name or not name[0].isupper():
        return text
    plain = f"{name}: {text}"
    return f"{plain}\nValue error, {text} [type=value_error, input_value={FILLING}]" if _in_pydantic(template) else plain


def _in_pydantic(template: Template) -> bool:
    return template.exception.startswith(("ValueError", "AssertionError")) and template.file.startswith("vllm/config")


def _filled(piece: Piece) -> str:
    if not piece.placeholder:
        return piece.text
    return f"'{FILLING}'" if _QUOTED.search(piece.text) else FILLING


def _by_pattern(signatures: Sequence[Signature], templates: Sequence[Template]) -> set[tuple[int, int]]:
    texts = [skeleton(template) for template in templates]
    found = set()
    for item, index in candidates([signature.literals for signature in signatures], texts):
        signature = signatures[item]
        if in_scope(signature, templates[index]) and any(
            _takes(signature, line) for line in texts[index].split("\n")
        ):
            found.add((item, index))
    return found


def in_scope(signature: Signature, template: Template) -> bool:
    """A record of that kind is looked at by the signature."""
    if signature.scope in ("gpus", "traceback"):
        return False
    if template.kind == WARNING:
        return signature.scope in ("warning", "any", "end")
    return template.kind != INFO or signature.scope in ("any", "end")


def _takes(signature: Signature, text: str) -> bool:
    match = relaxed_pattern(signature.pattern).search(text)
    if match is None or (signature.unless and compiled(signature.unless).search(text)):
        return False
    return len(match[0].replace(MARK, "").replace(" ", "")) >= _LEAST_LITERAL


def _by_sample(signatures: Sequence[Signature], templates: Sequence[Template]) -> set[tuple[int, int]]:
    """Templates by the beginning of their longest literal: a sample is only compared with those whose anchor it has."""
    pieces = [pieces_of(template.text) for template in templates]
    anchors: defaultdict[str, list[int]] = defaultdict(list)
    for index, template_pieces in enumerate(pieces):
        literals = [piece.text for piece in template_pieces if not piece.placeholder]
        if sum(len(_WORD.findall(literal)) for literal in literals) >= _SAMPLE_WORDS:
            anchors[max(literals, key=len)[:_ANCHOR]].append(index)
    found = set()
    for item, signature in enumerate(signatures):
        for sample in map(folded, signature.samples):
            span = compiled(signature.pattern).search(sample)
            for anchor in (anchor for anchor in anchors if anchor in sample):
                for index in anchors[anchor]:
                    if _is_instance(sample, pieces[index], span) and in_scope(signature, templates[index]):
                        found.add((item, index))
    return found


def _is_instance(sample: str, pieces: Sequence[Piece], span: re.Match[str] | None) -> bool:
    """The sample shows the template, and it is the template's own words that the signature's pattern matches."""
    match = glob_match(pieces, sample, cut=True)
    if match is None or span is None:
        return False
    shared = match.shared(span.start(), span.end())
    return shared >= max(_LEAST_LITERAL, _LEAST_SHARE * (span.end() - span.start()))
