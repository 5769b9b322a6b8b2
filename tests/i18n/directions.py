"""A text in, the directions that it names out: up (raise, more, longer) and down (lower, less, shorter)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from tests.i18n.rendering import prose

UP = {
    "en": r"\b(?:rais\w+|increas\w+|enlarg\w+|lengthen\w*|longer|larger|higher|bigger)\b",
    "vi": r"\btăng\b|nâng(?! cấp)|\bnới\b|dài hơn|lớn hơn|cao hơn|kéo dài|mở rộng",
    "ja": r"上げ|増や|増え|増加|大き(?!さ)|高[くめい]|延ば|伸ば|長[くい]|引き上げ|広げ|拡大|延長",
}
DOWN = {
    "en": r"\b(?:lower\w*|reduc\w+|decreas\w+|shrink\w*|shorten\w*|shorter|smaller|fewer)\b",
    "vi": r"giảm|\bhạ\b|\bbớt\b|thu nhỏ|nhỏ hơn|ngắn hơn|thấp hơn|ít hơn|rút ngắn",
    "ja": r"下げ|減ら|減る|減り|減少|小さ|低[くめい]|短[くい]|短縮|少な|縮|下が",
}
# English has more ways to say it. A translation may name a direction when one of these does, the first line that says
# anything decides.
WEAKER = (
    (
        r"\b(?:more|grow\w*|grew|add(?:s|ed|ing)?|extra|go(?:es)? up|upwards?|climb\w*|extend\w*|double\w*|speeds?|"
        r"gain\w*|widen\w*|most|too (?:large|long|high|big|many|much))\b",
        r"\b(?:less|drop\w*|sav\w+|go(?:es)? down|tak(?:e|es|en|ing) (?:room |memory )?(?:away|off|from)|loss|lose\w*|"
        r"slow\w*|few|some speed|least|cut\w*|halv\w+|too (?:little|small|few|low|short))\b",
    ),
    (
        r"\b(?:exceed\w*|above|long|large|high|big|wait\w*|up to|how far|tall|many|much|maximum|over|beyond|newer|"
        r"costs?|image|fit|asks)\b",
        r"\b(?:below|short|small|little|low|free\w*|without|limit\w*|bounds?|spare\w*|half|narrow\w*|older|minimum|"
        r"shar\w+|leav\w+|lack\w*)\b",
    ),
)


def directions(text: str, language: str) -> set[str]:
    return _found(text, UP[language], DOWN[language])


def direction_faults(text: str, english: str, language: str) -> list[str]:
    """Sentences that name another direction than the English one. None where one of the two names no direction."""
    faults = []
    for here, there in _beside_each_other(text, english, language):
        said, wanted = directions(here, language), directions(there, "en")
        allowed = wanted or next((weaker for words in WEAKER if (weaker := _found(there, *words))), set())
        if said and allowed and (said != wanted if wanted else not said <= allowed):
            faults.append(f"{here.strip()} <- {there.strip()}")
    return faults


def _found(text: str, up: str, down: str) -> set[str]:
    low = unicodedata.normalize("NFC", text).lower()
    return {name for name, words in (("up", up), ("down", down)) if re.search(words, low)}


def _beside_each_other(text: str, english: str, language: str) -> Iterator[tuple[str, str]]:
    """Sentence by sentence where both have as many, else the whole texts."""
    here, there = sentences(text, language), sentences(english, "en")
    yield from zip(here, there, strict=True) if len(here) == len(there) else [(prose(text), prose(english))]


def sentences(text: str, language: str) -> list[str]:
    """The sentences of the prose, without inline code."""
    ends = r"(?<=[。！？])|\n+" if language == "ja" else r"(?<=[.!?])\s+|\n+"
    return [sentence for sentence in re.split(ends, prose(text)) if sentence.strip()]


OPPOSITES = {
    "vi": (("tăng", "giảm"), ("nâng", "hạ"), ("lớn hơn", "nhỏ hơn"), ("dài hơn", "ngắn hơn"), ("cao hơn", "thấp hơn")),
    "ja": (
        ("上げ", "下げ"), ("増やす", "減らす"), ("増やし", "減らし"), ("増えます", "減ります"), ("増える", "減る"),
        ("大きく", "小さく"), ("小さい", "大きい"), ("長く", "短く"), ("高く", "低く"),
    ),
}  # fmt: skip


def swapped(text: str, language: str) -> Iterator[str]:
    """The text with one of its directions turned round, for each of them."""
    border = r"\b" if language == "vi" else ""
    for one, other in OPPOSITES[language]:
        for word, instead in ((one, other), (other, one)):
            for found in re.finditer(rf"{border}{word}{border}(?! cấp)", text, re.IGNORECASE):
                yield text[: found.start()] + instead + text[found.end() :]
