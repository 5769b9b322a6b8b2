"""A few words in any language in, the rules whose titles and summaries have them out, the best first.

Accents, letter case, composed or decomposed characters and half or full width make no difference: `bo nho` finds
`bộ nhớ`, `ｷｬｯｼｭ` finds `キャッシュ`.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vllmdoctor.languages import LANGUAGES
from vllmdoctor.report.rendering import nothing_known
from vllmdoctor.report.words import Words
from vllmdoctor.rules.load import load_catalogue

_RUN = re.compile(r"[a-z0-9]+|[\u3040-\u30ff\u3400-\u9fff]+")
_ACCENTS = re.compile("[\u0300-\u036f]")
_IN_SUMMARY = 0.6
_NEAR_ENOUGH = 0.5
_SURE, _CLEARLY_BEST = 0.7, 1.25
MOST_HITS = 5


@dataclass(frozen=True, slots=True)
class Hit:
    """`score` is 1 when the title has every word."""

    rule: str
    score: float


def rules_about(query: str, rules_folders: Sequence[Path]) -> list[Hit]:
    """The rules that have most of the query's words, in one of the languages; rare words count more."""
    wanted = terms(query)
    if not wanted:
        return []
    texts = [_texts(language, rules_folders) for language in LANGUAGES]
    scores: dict[str, float] = {}
    for of_language in texts:
        for rule, score in _scores(wanted, of_language).items():
            scores[rule] = max(score, scores.get(rule, 0.0))
    hits = [Hit(rule, score) for rule, score in scores.items() if score >= _NEAR_ENOUGH]
    return sorted(hits, key=lambda hit: (-hit.score, hit.rule))[:MOST_HITS]


def clear_answer(query: str, hits: Sequence[Hit]) -> str | None:
    """The rule that is meant, None when several may be, or when one word is all there is to tell by."""
    if len(terms(query)) < 2 or not hits or hits[0].score < _SURE:
        return None
    return hits[0].rule if len(hits) == 1 or hits[0].score >= _CLEARLY_BEST * hits[1].score else None


def folded(text: str) -> str:
    """The text as it is compared."""
    wide = unicodedata.normalize("NFKC", text).casefold().replace("đ", "d")
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", wide)))


def terms(text: str) -> set[str]:
    """Words and pairs of words; of scripts without spaces pairs of characters."""
    found: set[str] = set()
    before = ""
    for run in _RUN.findall(folded(text)):
        if run[0] < "\u3040":
            found |= {run, f"{before} {run}"} if before else {run}
            before = run
        else:
            found |= {run[place : place + 2] for place in range(max(1, len(run) - 1))}
            before = ""
    return found


def _texts(language: str, rules_folders: Sequence[Path]) -> dict[str, tuple[set[str], set[str]]]:
    catalogue = load_catalogue(language, rules_folders)
    rendering = nothing_known(catalogue, Words(language))
    return {
        rule.id: (terms(rendering.text(rule.title)), terms(rendering.text(rule.summary)))
        for rule in catalogue.rules.values()
    }


def _scores(wanted: Iterable[str], texts: Mapping[str, tuple[set[str], set[str]]]) -> dict[str, float]:
    counts = Counter(term for title, summary in texts.values() for term in title | summary)
    weights = {term: math.log(1 + len(texts) / (1 + counts[term])) for term in wanted}
    whole = sum(weights.values())
    return {
        rule: sum(
            weight * (1.0 if term in title else _IN_SUMMARY if term in summary else 0.0)
            for term, weight in weights.items()
        )
        / whole
        for rule, (title, summary) in texts.items()
    }
