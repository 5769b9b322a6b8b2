"""Check `speed`: every regular expression takes bounded time on long texts made to be hard for it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import regex

from vllmdoctor.languages import Message
from vllmdoctor.rules.check.attack import SIZE, Attack, attacks_on
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
                problem = Message(
                    "takes more than {limit} s on {kib} KiB of {text!r}…; bound its repeats",
                    limit=LIMIT_S,
                    kib=SIZE // 1024,
                    text=known[pattern],
                )
                yield issue(place, self.name, problem)


def slow_text(pattern: str) -> str:
    """The beginning of a text on which the pattern is too slow, "" when there is none."""
    for attack in attacks_on(pattern):
        if _is_slow(pattern, attack):
            return attack.text(attack.pieces_for(24))[:24]
    return ""


def _is_slow(pattern: str, attack: Attack) -> bool:
    """True when one of the two engines takes longer than LIMIT_S, asked twice: a busy machine is not its fault.

    The text grows step by step, since nothing stops `re` once it has begun on a hopeless one.
    """
    most = attack.pieces_for(SIZE)
    try:
        regex.compile(pattern).search(attack.text(most), timeout=LIMIT_S)
    except TimeoutError:
        return True
    plain = re.compile(pattern)
    texts = (attack.text(pieces) for pieces in _growing(most))
    return any(_seconds(plain, text) > LIMIT_S and _seconds(plain, text) > LIMIT_S for text in texts)


def _growing(most: int) -> Iterator[int]:
    """1, 3, 5, … 39, where what grows exponentially shows, then twice as many each time, up to `most`."""
    pieces = 1
    while pieces < most:
        yield pieces
        pieces += 2 if pieces < 40 else pieces
    yield most


def _seconds(pattern: re.Pattern[str], text: str) -> float:
    """Processor time of one search: the clock on the wall would blame the pattern for a busy machine."""
    start = time.thread_time()
    pattern.search(text)
    return time.thread_time() - start
