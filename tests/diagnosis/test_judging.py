"""Causes judged by the facts of a log: the surest first, and none said to be more than its condition shows."""

from __future__ import annotations

import pytest

from .helpers import diagnosis, rule

CAUSES = [
    {"id": "always", "title": "x"},
    {"id": "absence", "title": "x", "when": "not known(kv_cache_tokens)", "then": "possible"},
    {"id": "points", "title": "x", "when": "max_model_len > 1000", "then": "likely"},
    {"id": "undecided", "title": "x", "when": "kv_cache_tokens > 1"},
    {"id": "decides", "title": "x", "when": "max_model_len == 4096"},
    {"id": "no", "title": "x", "when": "max_model_len > 5000", "then": "likely"},
]


def judged(text: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    found = diagnosis(text, rule("known", "known trouble", causes=CAUSES))
    return {cause.cause.id: (cause.state, cause.deciding) for cause in found.findings[0].causes}


def test_states_and_their_order() -> None:
    log = """
        INFO 05-22 10:00:00 [utils.py:1] non-default args: {'model': 'x', 'max_model_len': 4096}
        ValueError: known trouble
        """
    assert list(judged(log).items()) == [
        ("decides", ("confirmed", ())),
        ("points", ("likely", ())),
        ("always", ("possible", ())),
        ("absence", ("possible", ())),
        ("undecided", ("possible", ("kv_cache_tokens",))),
        ("no", ("ruled-out", ())),
    ]


@pytest.mark.parametrize("name", ["points", "decides", "no"])
def test_unknown_facts_leave_it_open(name: str) -> None:
    assert judged("ValueError: known trouble")[name] == ("possible", ("max_model_len",))


FIXES = [
    {"id": "general", "title": "x", "cost": "x"},
    {"id": "for-no", "title": "x", "cost": "x", "cures": ["no"]},
    {"id": "for-open", "title": "x", "cost": "x", "cures": ["undecided"]},
    {"id": "for-likely", "title": "x", "cost": "x", "cures": ["no", "points"]},
    {"id": "for-confirmed", "title": "x", "cost": "x", "cures": ["decides"]},
    {"id": "unsure", "title": "x", "cost": "x", "cures": ["decides"], "when": "kv_cache_tokens > 1"},
]


def order(text: str) -> list[str]:
    found = diagnosis(text, rule("known", "known trouble", causes=CAUSES, fixes=FIXES))
    return [choice.fix.id for choice in found.findings[0].fixes]


def test_fixes_follow_the_causes() -> None:
    log = """
        INFO 05-22 10:00:00 [utils.py:1] non-default args: {'model': 'x', 'max_model_len': 4096}
        ValueError: known trouble
        """
    assert order(log) == ["for-confirmed", "for-likely", "general", "for-open", "for-no", "unsure"]


def test_without_facts_the_rules_order_stands() -> None:
    assert order("ValueError: known trouble") == [fix["id"] for fix in FIXES]
