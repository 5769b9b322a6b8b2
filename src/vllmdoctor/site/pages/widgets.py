"""Pieces of HTML that the analyzer's page and the calculator share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape

from vllmdoctor.languages import marked as _
from vllmdoctor.report.words import Words

NO_SCRIPT = _("This needs JavaScript. Without it, use the command line: {command}")


def field(name: str, label: str, control: str) -> str:
    """A control with its label above it; `control` is HTML that has the id."""
    return f'<p class="vd-field"><label for="{name}">{escape(label)}</label>{control}</p>'


def noscript(words: Words, command: str = "vllmdoctor analyze FILE") -> str:
    return f"<noscript><p>{escape(words(NO_SCRIPT, command=command))}</p></noscript>"


def sentences_block(name: str, sentences: Mapping[str, str], words: Words) -> str:
    """What a script says, in the page's language, as JSON that the script reads."""
    said = {key: words(message) for key, message in sentences.items()}
    text = json.dumps(said, ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'
