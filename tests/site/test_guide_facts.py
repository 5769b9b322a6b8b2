"""What the guides say is so: commands, exit codes, rules, arithmetic, redaction, snippets."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.site.guide_texts import blocks, prose
from vllmdoctor.analysis import analyze_inputs
from vllmdoctor.cli.app import app
from vllmdoctor.diagnosis.model import EXIT_CODES
from vllmdoctor.languages import LANGUAGES
from vllmdoctor.memory import directions as d
from vllmdoctor.memory.eras import era_of
from vllmdoctor.redaction import redacted
from vllmdoctor.rules.check import check_rules
from vllmdoctor.site.guides import GUIDES


@cache
def program() -> Any:
    return typer.main.get_command(app)


def calls(name: str) -> Iterator[list[str]]:
    """The arguments of every call of vllmdoctor in the guide's code."""
    for kind, text in blocks(name, "en"):
        if kind not in ("bash", "yaml", "groovy"):
            continue
        for line in text.splitlines():
            found = re.search(r"(?:^|\| |run: |sh ')\s*(vllmdoctor [^|>']*(?:'[^']*'[^|>']*)*)", line)
            if found:
                yield shlex.split(found[1].rstrip("' "))[1:]


@pytest.mark.parametrize("name", GUIDES)
def test_commands_have_options_that_exist(name: str) -> None:
    whole: Any = program()
    for words in calls(name):
        command = whole
        while words and words[0] in getattr(command, "commands", {}):
            command, words = command.commands[words[0]], words[1:]
        known = {option for parameter in command.params for option in parameter.opts}
        assert not hasattr(command, "commands"), words
        assert not [word for word in words if word.startswith("--") and word.partition("=")[0] not in known], words


def test_all_commands_are_shown_somewhere() -> None:
    shown = {words[0] for name in GUIDES for words in calls(name)}
    assert shown == {"analyze", "compare", "explain", "gpus", "plan", "rules"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_exit_codes_and_statuses_are_the_programs(language: str) -> None:
    rows = re.findall(r"^\| (\d) \| `([a-z-]+)` \|", prose("getting-started", language), re.MULTILINE)
    assert {status: int(code) for code, status in rows} == EXIT_CODES
    assert set(re.findall(r"^\| `([a-z-]+)` \|", prose("about", language), re.MULTILINE)) == set(EXIT_CODES)


def test_the_example_rule_is_a_rule(tmp_path: Path) -> None:
    rule = next(text for kind, text in blocks("write-a-rule", "en") if kind == "yaml" and text.startswith("id: "))
    folder = tmp_path / "my-rules"
    folder.mkdir()
    (folder / "licence-file-missing.yaml").write_text(rule, encoding="utf-8")
    assert not [str(problem) for problem in check_rules(folder)]
    log = tmp_path / "startup.log"
    lines = ["INFO {} non-default args: {{'model': 'org/name'}}", "ERROR {} ValueError: my plugin needs a licence file"]
    log.write_text("".join(line.format("11-29 10:00:02 [core.py:700]") + "\n" for line in lines), encoding="utf-8")
    report = analyze_inputs([str(log)], rules_folders=[folder])
    assert (report.findings[0].rule, report.status) == ("licence-file-missing", "failure")
    assert "org/name" in report.findings[0].summary


@pytest.mark.parametrize(
    "text, shown",
    [
        ("hf_abcdefghijklmnopqrstuvwx", "[redacted]"),
        ("sk-abcdefghijklmnopqrstuvwx", "[redacted]"),
        ("ghp_abcdefghijklmnopqrstuvwx", "[redacted]"),
        ("glpat-abcdefghijklmnopqrst", "[redacted]"),
        ("AKIAABCDEFGHIJKLMNOP", "[redacted]"),
        ("xoxb-1234567890-abcdef", "[redacted]"),
        ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "[redacted]"),
        ("nvapi-abcdefghijklmnopqrst", "[redacted]"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcDEF123", "[redacted]"),
        ("password=hunter22", "password=[redacted]"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: [redacted]"),
        ("https://me:secret@192.0.2.1/x", "https://[redacted]@192.0.2.1/x"),
        ("mail to me@example.com", "mail to [redacted]"),
        ("Received request 1: prompt: 'Hello there', params: x", "Received request 1: prompt: '[redacted]', params: x"),
        ("/home/me/models", "/home/user/models"),
        ("C:\\Users\\me\\models", "C:\\Users\\user\\models"),
        ("me@host:~/x$ ls", "user@host:~/x$ ls"),
        # what stays
        (
            "node-7.example.com 192.0.2.7 org/name /data/me/models",
            "node-7.example.com 192.0.2.7 org/name /data/me/models",
        ),
    ],
)
def test_what_the_guide_to_privacy_says_is_so(text: str, shown: str) -> None:
    assert redacted(text) == shown


def test_snippets_for_ci_are_those_that_are_tested(checkout: Path) -> None:
    """The guide shortens docs/ci.md, whose snippets are run by tests/cli/test_ci.py."""
    whole = {line.strip() for line in (checkout / "docs" / "ci.md").read_text(encoding="utf-8").splitlines()}
    for _kind, text in blocks("ci", "en"):
        assert not [line for line in text.splitlines() if line.strip() not in whole]


YES = {"en": {"yes": True, "no": False}, "vi": {"có": True, "không": False}, "ja": {"はい": True, "いいえ": False}}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_table_of_eras_is_that_of_the_arithmetic(language: str) -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in prose("memory", language).splitlines()
        if re.search(r"\| V[01] \|", line)
    ]
    assert len(rows) == 10
    for span, engine, _subtracted, others, checked in rows:
        for version in re.findall(r"\d+\.\d+\.\d+", span):
            era = era_of(version, engine=engine)
            assert era is not None
            assert (era.counts_others, era.free_check) == (YES[language][others], YES[language][checked]), span


SAYING = {
    "no-cache-blocks": [d.NO_BLOCKS],
    "max-model-len-exceeds-kv-cache": [d.V0_TOO_LONG, d.V1_TOO_LONG],
    "free-memory-below-utilization": [d.NOT_FREE],
    "cuda-oom-loading-weights": [d.OOM_LOADING],
    "cuda-oom-profiling": [d.OOM_PROFILING],
    "cuda-oom-kv-cache-allocation": [d.OOM_KV],
    "cuda-oom-graph-capture": [d.OOM_CAPTURE],
    "cuda-oom-inference": [d.OOM_SERVING],
}
WAYS = {
    "en": {d.UP: "**up**", d.DOWN: "**down**", d.NO_EFFECT: "no effect"},
    "vi": {d.UP: "**tăng**", d.DOWN: "**giảm**", d.NO_EFFECT: "không tác động"},
    "ja": {d.UP: "**上げる**", d.DOWN: "**下げる**", d.NO_EFFECT: "効果なし"},
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_table_of_directions_is_that_of_the_arithmetic(language: str) -> None:
    section = prose("memory", language).partition("{ #directions }")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| .*?rules/([\w-]+)\.md\) \|([^|]*)\|", section, re.MULTILINE))
    assert set(rows) == set(SAYING)
    for rule, symptoms in SAYING.items():
        ways = {direction.utilization for symptom in symptoms for direction in d.TABLE[symptom]} - {d.ABSENT}
        assert {way for way, word in WAYS[language].items() if word in rows[rule]} == ways, rule


@pytest.mark.parametrize("language", LANGUAGES)
def test_kv_cache_per_token_of_the_table(language: str) -> None:
    rows = re.findall(
        r"\| (\d+) × (\d+) × (\d+) \| (\d+) KiB \| ([\d.]+) GiB \|", prose("memory", language), re.MULTILINE
    )
    assert len(rows) == 4
    for layers, heads, size, kib, gib in rows:
        per_token_bytes = 2 * int(layers) * int(heads) * int(size) * 2
        assert per_token_bytes == int(kib) * 1024
        assert per_token_bytes * 32_768 == float(gib) * 2**30


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_of_the_worked_example_are_those_of_the_receipt(checkout: Path, language: str) -> None:
    report = analyze_inputs(
        [str(checkout / "examples" / "startup.log")], nvidia_smi=[str(checkout / "examples" / "nvidia-smi.txt")]
    )
    receipt, advice = report.findings[0].receipt, report.findings[0].advice
    assert receipt is not None and advice is not None and advice.longest_context is not None
    text = prose("memory", language)
    for name in ("total", "budget", "weights", "kv_available", "kv_needed", "deficit"):
        assert f"{receipt.gib(name):.2f} GiB" in text, name
    assert f"{advice.longest_context.tokens:,}" in text
    assert advice.utilization.empty
