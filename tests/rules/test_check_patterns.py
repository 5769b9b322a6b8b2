"""Checks on regular expressions and samples: shape, speed, samples, overlap between rules, fact lines."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.rules.helpers import Change, Folder, put
from vllmdoctor.rules.check import speed
from vllmdoctor.rules.check.attack import SIZE, attacks_on
from vllmdoctor.rules.check.fact_lines import FactLineCheck, has_type
from vllmdoctor.rules.check.overlap import OverlapCheck
from vllmdoctor.rules.check.patterns import PatternCheck, pattern_problems
from vllmdoctor.rules.check.samples import SampleCheck
from vllmdoctor.rules.check.speed import SpeedCheck, slow_text


@pytest.mark.parametrize(
    "pattern, problem",
    [
        ("(open", "does not compile with re"),
        ("two\nlines", "line end"),
        (r"two\nlines", "never match"),
        (r"a\ttab", "never match"),
        ("two  spaces", "two spaces"),
        ("(two  spaces)?", "two spaces"),
        ("(?i)error", "inline flags"),
        ("(?i:error)", "inline flags"),
        ("(a+)+", "inside another"),
        ("(?:[^x]*x)*", "inside another"),
        ("(?:(?:a|b+)c)+", "inside another"),
        ("model .* failed", "unbounded"),
        ("model .+? failed", "unbounded"),
        ("(?=.*end)", "unbounded"),
    ],
)
def test_bad_shapes(pattern: str, problem: str) -> None:
    assert any(problem in text for text in pattern_problems(pattern))


@pytest.mark.parametrize(
    "pattern",
    [
        r"max seq len \((?P<n>\d+)\)",
        r"model .{0,200}? failed",
        r"'[^']*' is missing",
        r"(?:\d+, ){1,20}",
        r"(?P<gib>\d[\d.]*) Gi?B",
        r"(?<!\w)error(?=:)",
        r"a(?: b)?(?: c)*",
        "one space[ ]too",
    ],
)
def test_good_shapes(pattern: str) -> None:
    assert pattern_problems(pattern) == []


def test_tracebacks_have_lines() -> None:
    assert pattern_problems(r"model\.py load \| .{1,80}\nValueError", lines=True) == []


@pytest.mark.parametrize("key", ["pattern", "unless", "frames"])
def test_every_pattern_of_a_signature_is_checked(folder: Folder, key: str) -> None:
    folder.rule["signatures"][0][key] = "the length (?i)x"
    assert any(text.startswith(f"signatures.0.{key}: ") for text in folder.found_by(PatternCheck()))


@pytest.mark.parametrize("group", ["lines", "marks", "noise"])
def test_patterns_of_fact_files_are_checked(folder: Folder, group: str) -> None:
    folder.facts[group][0]["pattern"] = "unbounded .* repeat"
    assert any(text.startswith(f"{group}.0.pattern: ") for text in folder.found_by(PatternCheck()))


def test_patterns_need_a_literal(folder: Folder) -> None:
    folder.rule["signatures"][0]["pattern"] = r"\((?P<max_model_len>\d{1,9})\)|the length"
    assert folder.found_by(PatternCheck()) == [
        "signatures.0.pattern: no literal of 4 characters must occur; add `literals:` or make it more exact"
    ]
    folder.rule["signatures"][0]["literals"] = [["the length", "("]]
    assert len(folder.found_by(PatternCheck())) == 1
    folder.rule["signatures"][0]["literals"] = [["the length", "(4096)"], ["the"]]
    assert folder.found_by(PatternCheck()) == []


def test_frame_marks_need_no_literal(folder: Folder) -> None:
    folder.facts["marks"].append({"phase": "profiling", "where": "frame", "pattern": r"\b(?:run|go)\b"})
    assert folder.found_by(PatternCheck()) == []


QUICK = [
    r"max seq len \((?P<n>\d+)\)",
    r"model .{0,200}? failed",
    r"'[^']{0,200}' is missing",
    r"at (?:\w{1,40}\.){0,9}x",
]
SLOW = [
    r"\w+\.\w+ foo",
    r"(?:a|ab|b)*[0-9]",
    r"(?:\d+)*x",
    r"(?:\d{1,20}){1,40}x",
    r"v\d+\.\d+[\d.]*\)",
    r"\S+ is not supported",
]


@pytest.mark.parametrize("pattern", QUICK)
def test_quick_patterns(pattern: str) -> None:
    assert slow_text(pattern) == ""


@pytest.mark.parametrize("pattern", SLOW)
def test_slow_patterns(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "LIMIT_S", 0.05)  # the test need not wait as long as the check
    assert slow_text(pattern)


def test_slow_patterns_are_reported_with_their_place(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "LIMIT_S", 0.1)
    folder.rule["signatures"][0]["unless"] = SLOW[0]
    found = folder.found_by(SpeedCheck())
    assert len(found) == 1
    assert found[0].startswith("signatures.0.unless: takes more than 0.1 s on 16 KiB")


def test_attacks_can_be_made_long() -> None:
    (attack, *_) = attacks_on("some text")
    assert len(attack.text(attack.pieces_for(SIZE))) >= SIZE


@pytest.mark.parametrize(
    "part", [r"[^\W\d_]", r"[^'\"]", r"\d", r"[\s]", r"[A-F]", r"\S", r"[^a-z0-9 ]", "é", "[一-龥]"]
)
def test_attacks_repeat_what_the_pattern_takes(part: str) -> None:
    assert any(re.match(f"start(?:{part}){{50}}", attack.text(50)) for attack in attacks_on(f"start{part}*end"))


def test_samples(folder: Folder) -> None:
    folder.rule["signatures"][0]["samples"] += ["another line", "the length (4096)\n   does not fit"]
    folder.rule["signatures"][0]["literals"] = [["the length"]]
    found = folder.found_by(SampleCheck())
    assert found == [
        "signatures.0.samples.1: the signature's pattern does not match this sample",
        "signatures.0.samples.1: none of the signature's literals is in this sample: the length",
    ]


def test_samples_must_not_be_excluded(folder: Folder) -> None:
    folder.rule["signatures"][0]["unless"] = "ValueError"
    assert folder.found_by(SampleCheck()) == ["signatures.0.samples.0: the signature's `unless` matches this sample"]


def test_repeated_samples(folder: Folder) -> None:
    folder.rule["signatures"][0]["samples"] *= 2
    assert folder.found_by(SampleCheck()) == ["signatures.0.samples: the same sample twice"]


def test_tracebacks_are_seen_line_by_line(folder: Folder) -> None:
    signature = folder.rule["signatures"][0]
    signature |= {"scope": "traceback", "pattern": r"model\.py load \| raise x\nValueError: bad"}
    signature["samples"] = ["vllm/model.py load |   raise x\nValueError:  bad"]
    assert folder.found_by(SampleCheck()) == []


def overlap(folder: Folder, **signature: Any) -> list[str]:
    """What the check says of a second rule that also matches the first one's sample."""
    other = folder.add_rule()
    other["signatures"][0] |= {"pattern": "does not fit|another thing broke", **signature}
    return folder.found_by(OverlapCheck())


def test_a_sample_of_one_rule_must_not_match_another(folder: Folder) -> None:
    assert overlap(folder) == [
        "signatures.0.samples.0: the rule 'other-failure' matches this sample too; make one of them narrower, or relate them"
    ]


@pytest.mark.parametrize(
    "signature",
    [
        {"unless": "length"},
        {"phases": ["profiling"]},
        {"frames": "model.py"},
        {"when": "known(vllm_version)"},
        {"scope": "gpus"},
        {"scope": "end"},
    ],
)
def test_what_tells_rules_apart(folder: Folder, signature: dict[str, Any]) -> None:
    assert overlap(folder, **signature) == []


def test_rules_for_errors_do_not_see_warnings(folder: Folder) -> None:
    folder.rule["signatures"][0]["scope"] = "warning"
    assert overlap(folder) == []


def test_rules_for_warnings_see_errors(folder: Folder) -> None:
    assert len(overlap(folder, scope="warning")) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda f: f.rule.update(related=["other-failure"]),
        lambda f: f.rule.update(explained_by=["other-failure"]),
        lambda f: f.rule.update(role="consequence"),
    ],
)
def test_relatives_may_overlap(folder: Folder, change: Change) -> None:
    change(folder)
    assert overlap(folder) == []


def test_noise_must_not_swallow_a_sample(folder: Folder) -> None:
    folder.facts["noise"][0]["pattern"] = "does not fit"
    assert folder.found_by(OverlapCheck()) == [
        "signatures.0.samples.0: the noise 'leaks' matches this sample, so it would never count"
    ]


@pytest.mark.parametrize("group", ["lines", "marks", "noise"])
def test_samples_of_fact_files(folder: Folder, group: str) -> None:
    folder.facts[group][0]["samples"] = ["something else"]
    assert f"{group}.0.samples.0: the pattern does not match this sample" in folder.found_by(FactLineCheck())
    folder.facts[group][0]["samples"] = []
    assert f"{group}.0.samples: has no sample line" in folder.found_by(FactLineCheck())


def test_values_have_the_declared_type(folder: Folder) -> None:
    folder.facts["lines"][0] |= {
        "pattern": r"Using max model len (?P<max_model_len>\S{1,9})",
        "samples": ["Using max model len auto"],
    }
    assert folder.found_by(FactLineCheck()) == ["lines.0.samples.0: gives max_model_len = 'auto', which is no integer"]


def test_every_fact_of_a_line_is_shown_by_a_sample(folder: Folder) -> None:
    folder.facts["lines"][0]["pattern"] += "(?: of vLLM (?P<vllm_version>[0-9.]{1,9}))?"
    assert folder.found_by(FactLineCheck()) == ["lines.0.samples: no sample gives the fact 'vllm_version'"]


def test_groups_of_signatures_have_the_declared_type(folder: Folder) -> None:
    put("signatures", 0, pattern=r"(?P<max_model_len>the length) \(")(folder)
    assert folder.found_by(FactLineCheck()) == [
        "signatures.0.samples.0: gives max_model_len = 'the length', which is no integer"
    ]


@pytest.mark.parametrize(
    "value, kind, expected",
    [
        ("4,096", "integer", True), ("4096.", "integer", True), ("4,09", "integer", False), ("1.5", "integer", False),
        ("-1.05", "number", True), ("1e-3", "number", True), ("12.4,", "number", True), ("1.2.3", "number", False),
        ("True", "flag", True), ("maybe", "flag", False), ("x", "text", True), ("", "integer", True), ("None", "number", True),
    ],
)  # fmt: skip
def test_has_type(value: str, kind: str, expected: bool) -> None:
    assert has_type(value, kind) is expected
