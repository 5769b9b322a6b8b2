"""Check `sample`: every sample of a signature is matched by its pattern and carries its literals."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vllmdoctor.languages import Message
from vllmdoctor.rules.check.folder import RuleFolder, at, issue
from vllmdoctor.rules.check.issue import Issue
from vllmdoctor.rules.fields import Field
from vllmdoctor.rules.model import Signature


def folded(text: str) -> str:
    """The text as signatures see it: on one line, with single spaces."""
    return " ".join(text.split())


def seen_text(sample: str, signature: Signature) -> str:
    """A sample as its signature sees it. The scope traceback sees frames, one a line, and the message below them."""
    if signature.scope == "traceback":
        return "\n".join(folded(line) for line in sample.splitlines())
    return folded(sample)


def sample_places(place: Field) -> list[Field]:
    """The places of an entry's samples."""
    found = place.get("samples") if isinstance(place.value, dict) else None
    items = found.items() if found and isinstance(found.value, list) else []
    return [item for item in items if isinstance(item.value, str)]


class SampleCheck:
    name = "sample"

    def issues(self, folder: RuleFolder) -> Iterator[Issue]:
        for _, signature, place in folder.signatures():
            for sample in sample_places(place):
                yield from self._sample(signature, sample, declared=place.get("literals") is not None)
            yield from self._repeated(place)

    def _sample(self, signature: Signature, sample: Field, *, declared: bool) -> Iterator[Issue]:
        text = seen_text(sample.value, signature)
        if not re.search(signature.pattern, text):
            yield issue(sample, self.name, Message("the signature's pattern does not match this sample"))
        elif signature.unless and re.search(signature.unless, text):
            yield issue(sample, self.name, Message("the signature's `unless` matches this sample"))
        for group in signature.literals if declared else ():
            if not any(literal in text for literal in group):
                problem = Message(
                    "none of the signature's literals is in this sample: {literals}", literals=", ".join(group)
                )
                yield issue(sample, self.name, problem)

    def _repeated(self, place: Field) -> Iterator[Issue]:
        texts = [folded(sample.value) for sample in sample_places(place)]
        if len(set(texts)) < len(texts):
            yield issue(at(place, "samples"), self.name, Message("the same sample twice"))
