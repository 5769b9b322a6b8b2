"""Check `translation`: a translation has the English structure, placeholders, code and flags, and is up to date."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from markdown_it import MarkdownIt

from vllmdoctor.languages import Message
from vllmdoctor.rules.check.folder import RuleFolder, at, issue
from vllmdoctor.rules.check.issue import Issue
from vllmdoctor.rules.fields import Field
from vllmdoctor.rules.translate import digest_of, english_texts

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}|]*)(?:\|[^{}]*)?\}")
_FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]*")
_PARSER = MarkdownIt("commonmark")


class TranslationCheck:
    name = "translation"

    """With a language: only its translations, and every rule and remedy must have one."""

    def __init__(self, language: str | None = None) -> None:
        self.language = language

    def issues(self, folder: RuleFolder) -> Iterator[Issue]:
        originals = {**folder.documents.rules, **folder.documents.remedies}
        for language, files in sorted(folder.documents.translations.items()):
            if self.language not in (None, language):
                continue
            for name, document in files.items():
                if name in originals:
                    yield from self._file(document, originals[name])
                else:
                    yield issue(
                        document, self.name, Message("translates {name!r}, which is no rule or remedy", name=name)
                    )
        if self.language not in (None, "en"):
            files = folder.documents.translations.get(str(self.language), {})
            for name, original in originals.items():
                if name not in files:
                    problem = Message("is not translated (no {file})", file=f"{name}.{self.language}.yaml")
                    yield issue(original, self.name, problem)

    def _file(self, document: Field, original: Field) -> Iterator[Issue]:
        if document.value.get("digest") != digest_of(original.value):
            problem = Message(
                "made from other English texts than {file} has now; revise it, then `rules stamp` it",
                file=original.file,
            )
            yield issue(at(document, "digest"), self.name, problem)
        words = {key: value for key, value in document.value.items() if key != "digest"}
        yield from self._compared(Field(document.file, "", words, document.lines), english_texts(original.value))

    def _compared(self, place: Field, english: Any) -> Iterator[Issue]:
        if isinstance(english, str):
            if isinstance(place.value, str):
                yield from (issue(place, self.name, problem) for problem in wording_problems(place.value, english))
            else:
                problem = Message("has `known:` and `unknown:` wordings where English has one text")
                yield issue(place, self.name, problem)
        elif not isinstance(place.value, Mapping):
            yield issue(place, self.name, Message("English has {names} here", names=", ".join(english)))
        else:
            for key in english.keys() - place.value.keys():
                yield issue(at(place, key), self.name, Message("`{key}` is not translated", key=key))
            for key in place.value.keys() - english.keys():
                yield issue(at(place, key), self.name, Message("English has no `{key}`", key=key))
            for key in english.keys() & place.value.keys():
                yield from self._compared(at(place, key), english[key])


def wording_problems(text: str, english: str) -> Iterator[Message]:
    """What must be the same in every language and is not."""
    if text != unicodedata.normalize("NFC", text):
        yield Message("is not in Unicode's composed form (NFC)")
    for what, parts in (
        (Message("placeholders"), _placeholders),
        (Message("code"), _code),
        (Message("flags"), _flags),
    ):
        here, there = Counter(parts(text)), Counter(parts(english))
        if here != there:
            yield Message("{what} differ from English ({problem})", what=what, problem=_difference(here, there))


def _difference(here: Counter[str], there: Counter[str]) -> Message:
    missing, extra = (", ".join(sorted(found.elements())) for found in (there - here, here - there))
    if missing and extra:
        return Message("missing: {missing}; not in English: {extra}", missing=missing, extra=extra)
    if missing:
        return Message("missing: {missing}", missing=missing)
    return Message("not in English: {extra}", extra=extra)


def _placeholders(text: str) -> list[str]:
    """The placeholders without their fallbacks, which are words."""
    return ["".join(found[1].split()) for found in _PLACEHOLDER.finditer(text) if found[1] is not None]


def _code(text: str) -> list[str]:
    plain = _PLACEHOLDER.sub(lambda found: f"{{{found[1]}}}" if found[1] is not None else found[0], text)
    return [
        token.content for block in _PARSER.parse(plain) for token in block.children or () if token.type == "code_inline"
    ]


def _flags(text: str) -> list[str]:
    return _FLAG.findall(text)


def translated_shares(folder: RuleFolder) -> dict[str, tuple[int, int]]:
    """For each language how many rules and remedies have an up-to-date translation, and how many there are."""
    originals = {**folder.documents.rules, **folder.documents.remedies}
    return {
        language: (
            sum(
                name in originals and field.value.get("digest") == digest_of(originals[name].value)
                for name, field in files.items()
            ),
            len(originals),
        )
        for language, files in sorted(folder.documents.translations.items())
    }
