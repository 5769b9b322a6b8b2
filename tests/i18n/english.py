"""A translation in, the English that was left in it out."""

from __future__ import annotations

import re

from tests.i18n.directions import sentences
from tests.i18n.rendering import prose

ENGLISH_WORDS = frozenset(
    "the a an of is are was were be been to and or with without for that this these those not no from in on at by it "
    "its has have had does do can cannot may must should when which what where how if then than more less most only "
    "into out up down all any each every other another use uses used set give gives".split()
)
# Runs of English words that are names, not sentences.
NAMES = ("out of memory", "is too old")


def english_runs(text: str) -> list[str]:
    """Four English words or more in a row, two of which are no names."""
    plain = re.sub(r"“[^”]*”|\"[^\"]*\"|「[^」]*」|（[^（）]*）|\([^()]*\)|<[^<>]*>", " | ", prose(text))
    runs = re.findall(r"[A-Za-z'-]+(?: [A-Za-z'-]+){3,}", plain)
    return [run for run in runs if sum(word.lower() in ENGLISH_WORDS for word in run.split()) >= 2 and run not in NAMES]


def english_left(text: str, english: str) -> list[str]:
    """Sentences of the English text of three words or more, and a short text that is not translated at all."""
    there = [sentence.strip() for sentence in sentences(english, "en")]
    left = [s for s in there if len(re.findall(r"[A-Za-z']{2,}", s)) >= 3 and s in prose(text)]
    untouched = text == english and re.search(r"[a-z]{2,}", prose(text))
    return left or ([text] if untouched else [])
