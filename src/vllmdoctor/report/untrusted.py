"""Text from a log in, text that is safe to show out: no escape sequences, control or direction-changing characters."""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~]?)"
)
_BLANKS = re.compile(r"[\t\r\v\f]")
# C0 and C1 controls, direction marks and overrides (they can make a line read other than it is), lone surrogates
_CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def neutral(text: str) -> str:
    """The text without anything that a terminal would act on; line ends stay."""
    return _CONTROLS.sub("", _BLANKS.sub(" ", _ESCAPES.sub("", text)))


def shortened(text: str, most: int) -> str:
    """The text, cut at `most` characters with an ellipsis."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
