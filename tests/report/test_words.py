"""The program's sentences: a gettext catalogue can replace each; values are filled in and never parsed."""

from __future__ import annotations

import re
from pathlib import Path

from vllmdoctor.report import words as w
from vllmdoctor.report.words import Words


class Shouting:
    """A gettext catalogue whose language is English in capitals."""

    def gettext(self, message: str, /) -> str:
        return re.sub(r"\{.*?\}|[a-z]+", lambda found: found[0] if found[0][0] == "{" else found[0].upper(), message)

    def ngettext(self, singular: str, plural: str, count: int, /) -> str:
        return self.gettext(singular if count == 1 else plural)


def test_catalogue_replaces_the_wording() -> None:
    words = Words("xx", Shouting())
    assert words(w.FIXES) == "FIXES"
    assert words(w.COSTS, cost="time") == "COSTS: time"
    assert words.counted(w.SAME_FAILURE, 2) == "THE SAME FAILURE 2 TIMES BEFORE"
    assert words.for_missing("stderr").isupper()


def test_braces_in_values_are_harmless() -> None:
    assert Words()(w.HEADLINE_UNRECOGNIZED, exception="KeyError: {x} {0}").endswith("KeyError: {x} {0}")


def test_counts() -> None:
    words = Words()
    assert words.for_notice("requests-rejected", "1").startswith("1 request was")
    assert words.for_notice("requests-rejected", "1200").startswith("1,200 requests were")


def test_every_sentence_is_used(checkout: Path) -> None:
    source = checkout / "src" / "vllmdoctor"
    text = "".join(
        path.read_text(encoding="utf-8") for part in ("report", "cli") for path in (source / part).rglob("*.py")
    )
    names = [name for name in vars(w) if name.isupper() and not name.startswith("_")]
    assert len(names) > 30
    assert not [name for name in names if not re.search(rf"\bw\.{name}\b", text)]
