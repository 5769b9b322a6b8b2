"""Judged causes in, what every form of the report says of them out."""

from __future__ import annotations

from collections.abc import Sequence

from vllmdoctor.report import words as w
from vllmdoctor.report.model import CauseReport
from vllmdoctor.report.words import Words
from vllmdoctor.rules.model import CONFIRMED, LIKELY

_MOST = 2


def surest(causes: Sequence[CauseReport]) -> Sequence[CauseReport]:
    """What a short report names: causes that are confirmed, else the likely ones, two at most."""
    confirmed = [cause for cause in causes if cause.state == CONFIRMED]
    return (confirmed or [cause for cause in causes if cause.state == LIKELY])[:_MOST]


def cause_note(cause: CauseReport, words: Words) -> str:
    """`confirmed; KV cache memory: 2.50 GiB`."""
    state = words(w.CAUSE_STATES[cause.state]) if cause.state in w.CAUSE_STATES else cause.state
    return words(w.CAUSE_NOTE, state=state, because=cause.because) if cause.because else state
