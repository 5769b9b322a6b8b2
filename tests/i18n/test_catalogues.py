"""The catalogues of the program's sentences: complete, fresh, the same values and code in every language."""

from __future__ import annotations

import gettext
import io
import re
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from tests.i18n.english import english_runs
from vllmdoctor.languages import LANGUAGES
from vllmdoctor.locale.compiled import compiled_catalogue

ROOT = Path(__file__).resolve().parents[2]
TRANSLATIONS = LANGUAGES[1:]
# The keywords of `make messages`.
KEYWORDS = {"_": None, "_n": (1, 2), "Counted": (1, 2), "Message": None}

each_language = pytest.mark.parametrize("language", TRANSLATIONS)


def source_of(language: str) -> Path:
    return ROOT / "src" / "vllmdoctor" / "locale" / language / "LC_MESSAGES" / "vllmdoctor.po"


@cache
def catalogue(language: str) -> Catalog:
    with source_of(language).open("rb") as file:
        return read_po(file, locale=language, abort_invalid=True)


@cache
def messages_of_the_program() -> frozenset[str]:
    with (ROOT / "babel.cfg").open(encoding="utf-8") as config:
        methods, options = parse_mapping_cfg(config)
    found: set[str] = set()
    for part in ("src", "rules"):
        patterns = [(pattern.removeprefix(f"{part}/"), how) for pattern, how in methods if pattern.startswith(part)]
        for _, _, message, _, _ in extract_from_dir(ROOT / part, patterns, options, KEYWORDS):
            found.add(message if isinstance(message, str) else message[0])
    return frozenset(found)


def ids(language: str) -> set[str]:
    return {_singular(message) for message in catalogue(language) if message.id}


def _singular(message: Message) -> str:
    return message.id if isinstance(message.id, str) else message.id[0]


def wordings(language: str) -> dict[str, str]:
    """Message id → wording; Vietnamese and Japanese have one for every count."""
    return {
        _singular(message): message.string if isinstance(message.string, str) else message.string[0]
        for message in catalogue(language)
        if message.id
    }


@each_language
def test_every_message_is_in_the_catalogue_and_no_other(language: str) -> None:
    """`make messages` brings the catalogue up to date."""
    assert len(messages_of_the_program()) > 500
    assert ids(language) == messages_of_the_program()
    assert not catalogue(language).obsolete


@each_language
def test_every_message_is_translated(language: str) -> None:
    assert not [message for message, wording in wordings(language).items() if not wording]
    assert not [message.id for message in catalogue(language) if message.fuzzy and message.id]


@each_language
def test_wordings_are_composed(language: str) -> None:
    assert not [w for w in wordings(language).values() if w != unicodedata.normalize("NFC", w)]


SAME = {
    "values": re.compile(r"(?<!\{)\{[^{}]*\}(?!\})"),
    "code": re.compile(r"`[^`]*`"),
    "options": re.compile(r"(?<![\w-])--[a-z][\w-]*"),
    "commands": re.compile(r"vllm serve MODEL|vllmdoctor analyze -|zstd -dc|2>&1"),
}


@each_language
@pytest.mark.parametrize("what", SAME)
def test_what_is_no_word_stays(what: str, language: str) -> None:
    parts = SAME[what]
    assert not [
        (message, wording)
        for message, wording in wordings(language).items()
        if Counter(parts.findall(message)) != Counter(parts.findall(wording))
    ]


@each_language
def test_wordings_take_the_values_of_their_message(language: str) -> None:
    """A name with a format (`{gib:g}`, `{text!r}`) works in both."""
    for message, wording in wordings(language).items():
        names = set(re.findall(r"\{(\w+)", message))
        if names and "{{" not in message and "{fact|" not in message:
            values: dict[str, object] = dict.fromkeys(names, 7)
            assert message.format(**values)
            assert wording.format(**values)


# Terms that stay in English (the glossaries say which) and names; the rest of an untouched wording is no word.
KEPT = {
    "vi": "attention backend chunked code cpu cuda decoding driver engine exit id kv cache mode pattern prefill signature "
    "size sleep space speculative swap up vllm warm world".split(),
    "ja": "chunked prefill vllm".split(),
}
PROPER = "compose docker gpu kubernetes lora python".split()


@each_language
def test_no_message_is_left_in_english(language: str) -> None:
    """Neither as a whole nor as a sentence within its wording."""
    known = {*KEPT[language], *PROPER}
    untouched = [message for message, wording in wordings(language).items() if message == wording]
    words = {message: re.findall(r"[A-Za-z]+", re.sub(r"\{[^{}]*\}|\w+_\w+", " ", message)) for message in untouched}
    assert not [m for m, found in words.items() if any(word.lower() not in known for word in found)]
    assert not [w for w in wordings(language).values() if english_runs(re.sub(r"\{[^{}]*\}", " | ", w))]


def test_english_in_a_catalogue_is_noticed() -> None:
    messages = [re.sub(r"\{[^{}]*\}", " | ", m) for m in messages_of_the_program() if len(m.split()) > 12]
    assert sum(bool(english_runs(message)) for message in messages) > 0.9 * len(messages)


@each_language
def test_estimates_are_recognised_in_every_language(language: str) -> None:
    said = wordings(language)["estimate|about|roughly|approximately|≈|~|up to"]
    assert re.search(said, {"vi": "Giải phóng khoảng 2 GiB", "ja": "約2 GiB空きます"}[language])


@each_language
def test_compiled_catalogue_is_what_babel_compiles(language: str) -> None:
    ours = gettext.GNUTranslations(io.BytesIO(compiled_catalogue(source_of(language).read_text(encoding="utf-8"))))
    theirs_file = io.BytesIO()
    write_mo(theirs_file, catalogue(language))
    theirs_file.seek(0)
    theirs = gettext.GNUTranslations(theirs_file)
    for message in catalogue(language):
        if isinstance(message.id, str):
            assert ours.gettext(message.id) == theirs.gettext(message.id)
        else:
            for count in (0, 1, 2, 5):
                assert ours.ngettext(*message.id, count) == theirs.ngettext(*message.id, count)


HEAD = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\n'


def test_untranslated_and_fuzzy_entries_stay_english() -> None:
    text = (
        HEAD
        + 'msgid "a"\nmsgstr ""\n\n#, fuzzy\nmsgid "b"\nmsgstr "x"\n\n#~ msgid "c"\n#~ msgstr "y"\n\nmsgid "d"\nmsgstr ""\n"z\\n"\n"\\"é\\""\n'
    )
    read = gettext.GNUTranslations(io.BytesIO(compiled_catalogue(text)))
    assert [read.gettext(message) for message in "abcd"] == ["a", "b", "c", 'z\n"é"']


def test_a_broken_catalogue_is_named() -> None:
    with pytest.raises(ValueError, match="no part of a catalogue entry: mgsid"):
        compiled_catalogue(HEAD + 'mgsid "a"\nmsgstr "b"\n')
