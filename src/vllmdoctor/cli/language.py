"""Options and variables in, the language of this run and its words out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from vllmdoctor.languages import language_from

if TYPE_CHECKING:
    from vllmdoctor.report.words import Words

_chosen: str | None = None


def choose_language(language: str | None) -> None:
    """What `--lang` says; None leaves it to the variables."""
    global _chosen
    _chosen = language


def current_language() -> str:
    return _chosen or language_from(os.environ)


def current_words() -> Words:
    from vllmdoctor.report.words import Words

    return Words(current_language())
