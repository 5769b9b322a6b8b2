"""Templates and signatures in, the pairs that belong together out: the signature's wording is the template's."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from vllmdoctor.rules.model import Signature
from vllmdoctor.rules.prefilter import candidates, compiled
from vllmdoctor.upstream.glob import GlobMatch, glob_match
from vllmdoctor.upstream.relaxed import FILLING, MARK, relaxed_pattern
from vllmdoctor.upstream.templates import INFO, WARNING, Piece, Template, folded, pieces_of

_LEAST_LITERAL = 8  # characters of the template itself that a match must hold
# How much of what the pattern matches in a sample must be the template's own; more when it begins with a value.
_LEAST_SHARE, _LEAST_SHARE_OPEN = 0.4, 0.6
_SAMPLE_WORDS = 3
_ANCHOR = 24
_BEFORE = re.compile(r"(?:^|: |, |\| |\w\()$")
_REPR = re.compile(r"!r(?::|$)")
_WORD = re.compile(r"[A-Za-z][A-Za-z_]{2,}")
# A value printed by repr() is quoted or not; one printed by str() may be a list of names.
_FILLINGS = (FILLING, f"'{FILLING}'"), (FILLING, f"['{FILLING}']")


@dataclass(frozen=True, slots=True)
class Link:
    """A signature (its index) and a template (its index) that belong together.

    `by_pattern`: the pattern takes the template whatever the placeholders hold; otherwise only a sample of the
    signature is an instance of the template.
    """

    signature: int
    template: int
    by_pattern: bool


def links(signatures: Sequence[Signature], templates: Sequence[Template]) -> list[Link]:
    """All links, by signature. Templates of a kind that a signature's scope leaves out are none of its own."""
    by_pattern = _by_pattern(signatures, templates)
    return [Link(*pair, pair in by_pattern) for pair in sorted(by_pattern | _by_sample(signatures, templates))]


def skeletons(template: Template) -> tuple[str, ...]:
    """The message as a log would show it, with marks for what the placeholders hold, in each form that it may take."""
    pieces = pieces_of(template.text)
    texts = dict.fromkeys("".join(_filled(p, *choice) for p in pieces) for choice in product((0, 1), (0, 1)))
    name = template.exception.partition("|")[0]
    if template.kind in (WARNING, INFO) or not name[:1].isupper():
        return tuple(texts)
    shown = [f"{name}: {text}" for text in texts]
    if name in ("ValueError", "AssertionError") and template.file.startswith("vllm/config"):
        # A pydantic model turns the errors of its validators into lines of its own.
        shown += [f"Value error, {text} [type=value_error, input_value={FILLING}]" for text in texts]
    return tuple(shown)


def _filled(piece: Piece, quoted: int, listed: int) -> str:
    if not piece.placeholder:
        return piece.text
    return _FILLINGS[0][quoted] if _REPR.search(piece.text) else _FILLINGS[1][listed]


def _by_pattern(signatures: Sequence[Signature], templates: Sequence[Template]) -> set[tuple[int, int]]:
    texts = [skeletons(template) for template in templates]
    found = set()
    pairs = candidates([signature.literals for signature in signatures], ["\n".join(lines) for lines in texts])
    for item, index in pairs:
        signature = signatures[item]
        template = templates[index]
        if not in_scope(signature, template) or not _may_be_frame(signature, template):
            continue
        if any(_takes(signature, line) for line in texts[index]):
            found.add((item, index))
    return found


def in_scope(signature: Signature, template: Template) -> bool:
    """The signature looks at records of that kind."""
    if signature.scope in ("gpus", "traceback"):
        return False
    if template.kind == WARNING:
        return signature.scope in ("warning", "any", "end")
    return template.kind != INFO or signature.scope in ("any", "end")


def _may_be_frame(signature: Signature, template: Template) -> bool:
    """A signature that asks for a frame takes only messages that are raised in such a frame."""
    if not signature.frames:
        return True
    function = template.function.rpartition(".")[2]
    return (
        relaxed_pattern(signature.frames).search(f"{template.file} {function} | raise {template.exception}") is not None
    )


def _takes(signature: Signature, text: str) -> bool:
    match = relaxed_pattern(signature.pattern).search(text)
    if match is None or (signature.unless and compiled(signature.unless).search(text)):
        return False
    return len(match[0].replace(MARK, "").replace(" ", "")) >= _LEAST_LITERAL


def _by_sample(signatures: Sequence[Signature], templates: Sequence[Template]) -> set[tuple[int, int]]:
    pieces = [pieces_of(template.text) for template in templates]
    anchors = _anchors(pieces)
    found = set()
    for item, signature in enumerate(signatures):
        for sample in map(folded, signature.samples):
            span = compiled(signature.pattern).search(sample)
            near = [index for anchor in anchors if anchor in sample for index in anchors[anchor]] if span else []
            found |= {
                (item, index)
                for index in near
                if span and is_instance(sample, pieces[index], span.span()) and in_scope(signature, templates[index])
            }
    return found


def _anchors(all_pieces: Sequence[Sequence[Piece]]) -> dict[str, list[int]]:
    """Templates by the beginning of their longest literal: a sample is compared only with those whose anchor it has."""
    anchors: defaultdict[str, list[int]] = defaultdict(list)
    for index, pieces in enumerate(all_pieces):
        literals = [piece.text for piece in pieces if not piece.placeholder]
        if sum(len(_WORD.findall(literal)) for literal in literals) >= _SAMPLE_WORDS:
            anchors[max(literals, key=len)[:_ANCHOR]].append(index)
    return anchors


def is_instance(sample: str, pieces: Sequence[Piece], span: tuple[int, int]) -> bool:
    """The sample shows the template, and it is the template's own words that the signature's pattern matches."""
    match = glob_match(pieces, sample, cut=True)
    if match is None or not _begins_there(match, pieces, sample):
        return False
    least = _LEAST_SHARE_OPEN if pieces[0].placeholder else _LEAST_SHARE
    return match.shared(*span) >= max(_LEAST_LITERAL, least * (span[1] - span[0]))


def _begins_there(match: GlobMatch, pieces: Sequence[Piece], sample: str) -> bool:
    """A message begins at the line's beginning, or behind an exception's name or a prefix."""
    return pieces[0].placeholder or bool(_BEFORE.search(sample[: match.literals[0][0]].rstrip("'\"")))
