"""Texts in, what search engines and the site's own search need of them out: descriptions, words without accents."""

from __future__ import annotations

import re
import unicodedata

from vllmdoctor.cli.search import folded

_DESCRIPTION_CHARACTERS = 160
_ACCENTED = re.compile(r"[^\W\d_]+")


def description(text: str) -> str:
    """One line of at most 160 characters, cut at a word."""
    text = " ".join(text.split())
    if len(text) <= _DESCRIPTION_CHARACTERS:
        return text
    cut = text[: _DESCRIPTION_CHARACTERS - 2]
    head = cut.rsplit(" ", 1)[0] if " " in cut[100:] else cut
    return head.rstrip(" ,;:.、。") + " …"


def hidden_words(body: str) -> list[str]:
    """Lines that only the search index reads: the words of a Vietnamese page as they are typed without accents."""
    found = dict.fromkeys(_ACCENTED.findall(unicodedata.normalize("NFC", body)))
    plain = {word.lower(): folded(word) for word in found if not word.isascii()}
    words = dict.fromkeys(plain_word for word, plain_word in plain.items() if plain_word != word)
    return ['<div hidden markdown="0">', f"<p>{' '.join(words)}</p>", "</div>", ""] if words else []
