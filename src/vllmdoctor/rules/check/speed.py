"""Check `speed`: every regular expression takes bounded time on long texts made to be hard for it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import regex

from vllmdoctor.rules.check.attack import SIZE, attack_texts
from vllmdoctor.rules.check.folder import RuleFolder, issue
from vllmdoctor.rules.check.issue import Issue
from vllmdoctor.rules.check.patterns import pattern_places, pattern_problems

LIMIT_S = 0.5


class SpeedCheck:
    name = "speed"

    def issues(self, folder: RuleFolder) -> Iterator[Issue]:
        known: dict[str, str] = {}
        for place, lines in pattern_places(folder):
            pattern = place.value
            if pattern not in known:
                # A pattern with an unsafe shape is reported already, and `re` cannot be stopped while it runs.
                known[pattern] = "" if pattern_problems(pattern, lines=lines) else slow_text(pattern)
            if known[pattern]:
                problem = f"takes more than {LIMIT_S} s on {SIZE // 1024} KiB of {known[pattern]!r}…; bound its repeats"
                yield issue(place, self.name, problem)


def slow_text(pattern: str) -> str:
    """The beginning of a text on which the pattern is too slow, "" when there is none."""
    for size in (SIZE // 4, SIZE):  # a quarter tells most slow ones, in a sixteenth of the time
        for text in attack_texts(pattern, size):
            if _is_slow(pattern, text, LIMIT_S * size / SIZE):
                return text[:24]
    return ""


def _is_slow(pattern: str, text: str, limit_s: float) -> bool:
    """True when one of the two engines takes longer; twice, since a busy machine is not its fault."""
    try:
        regex.compile(pattern).search(text, timeout=LIMIT_S)
    except TimeoutError:
        return True
    plain = re.compile(pattern)
    return _seconds(plain, text) > limit_s and _seconds(plain, text) > limit_s


def _seconds(pattern: re.Pattern[str], text: str) -> float:
    """Processor time of one search: the clock on the wall would blame the pattern for a busy machine."""
    start = time.thread_time()
    pattern.search(text)
    return time.thread_time() - start
