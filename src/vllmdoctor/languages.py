"""A wish or the environment in, a language of the program out; a message with values in, its wording out."""

from __future__ import annotations

import gettext
from collections.abc import Mapping
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Protocol

ENGLISH = "en"
LANGUAGES = (ENGLISH, "vi", "ja")
VARIABLE = "VLLMDOCTOR_LANG"
DOMAIN = "vllmdoctor"

_LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
_UNTRANSLATED = ("c", "posix")  # the locales of programs, in which texts are English
_FOLDER = Path(__file__).parent / "locale"


class Translations(Protocol):
    """What is used of `gettext.NullTranslations`."""

    def gettext(self, message: str, /) -> str: ...

    def ngettext(self, singular: str, plural: str, count: int, /) -> str: ...


class Message(str):
    """A sentence in English that knows its message id and values, so that it can be said in another language.

    It is marked for extraction by being made. A value may be a message itself.
    """

    __slots__ = ("message", "values")
    message: str
    values: Mapping[str, object]

    def __new__(cls, message: str, /, **values: object) -> Message:
        made = super().__new__(cls, message.format(**values) if values else message)
        made.message = message
        made.values = values
        return made


class Counted(Message):
    """A message about a number of things: singular and plural in, `{count}` is the number."""

    __slots__ = ("number", "plural")
    plural: str
    number: int

    def __new__(cls, singular: str, plural: str, number: int, /, **values: object) -> Counted:
        values = {**values, "count": f"{number:,}"}
        made = str.__new__(cls, (singular if number == 1 else plural).format(**values))
        made.message, made.plural, made.number, made.values = singular, plural, number, values
        return made


def marked(message: str) -> str:
    """The message itself: marks it for extraction where its values are not known yet."""
    return message


def translated(text: str, translations: Translations | None) -> str:
    """The text in the language of the catalogue; as it is when it is no message, or the catalogue does not have it."""
    if translations is None or not text:
        return text
    if not isinstance(text, Message):
        return translations.gettext(text)
    values = {
        name: translated(value, translations) if isinstance(value, Message) else value
        for name, value in text.values.items()
    }
    if isinstance(text, Counted):
        wording = translations.ngettext(text.message, text.plural, text.number)
    else:
        wording = translations.gettext(text.message)
    return wording.format(**values) if values else wording


@cache
def shipped_translations(language: str) -> Translations | None:
    """The catalogue of a language: compiled in an installed package, compiled now in a checkout; None for English."""
    if language == ENGLISH:
        return None
    folder = _FOLDER / language / "LC_MESSAGES"
    compiled, source = folder / f"{DOMAIN}.mo", folder / f"{DOMAIN}.po"
    if compiled.is_file():
        return gettext.GNUTranslations(BytesIO(compiled.read_bytes()))
    if not source.is_file():
        return None
    from vllmdoctor.locale.compiled import compiled_catalogue

    return gettext.GNUTranslations(BytesIO(compiled_catalogue(source.read_text(encoding="utf-8"))))


def language_from(environment: Mapping[str, str]) -> str:
    """The language that the variables ask for, VLLMDOCTOR_LANG first, then the locale; others are passed over."""
    for name in (VARIABLE, *_LOCALE_VARIABLES):
        language = language_of(environment.get(name, ""))
        if language:
            return language
    return ENGLISH


def language_of(name: str) -> str | None:
    """`vi_VN.UTF-8` → vi; None for a name of no language that there is."""
    code = name.strip().replace("-", "_").partition(".")[0].partition("@")[0].partition("_")[0].lower()
    if code in _UNTRANSLATED:
        return ENGLISH
    return code if code in LANGUAGES else None
