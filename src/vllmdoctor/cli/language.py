"""Options and variables in, the language of this run and its words out."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from vllmdoctor.languages import ENGLISH, language_from

if TYPE_CHECKING:
    from vllmdoctor.report.words import Words

_SAMPLES = {"vi": "đế", "ja": "日本"}
_chosen: str | None = None


def choose_language(language: str | None) -> None:
    """What `--lang` says; None leaves it to the variables."""
    global _chosen
    _chosen = language


def current_language() -> str:
    """The language asked for; English where the variables ask for one that standard output cannot show."""
    if _chosen:
        return _chosen
    language = language_from(os.environ)
    return language if _shown_by(sys.stdout, _SAMPLES.get(language, "")) else ENGLISH


def _shown_by(stream: TextIO | None, text: str) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def current_words() -> Words:
    from vllmdoctor.report.words import Words

    return Words(current_language())
