"""What stands on the terminal: the answer first, in every status, at every width, without markup from the log."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from tests.report import builders as made
from vllmdoctor.diagnosis.model import CAUSE_NOT_IN_LOG, HEALTHY, NO_VLLM_LOG, UNRECOGNIZED, ChosenFix, Diagnosis
from vllmdoctor.report.build import build_report
from vllmdoctor.report.text import write_rule, write_text
from vllmdoctor.report.text.inline import blocks_of, inline_text


def printed(diagnosis: Diagnosis, width: int = 80, *, show_all: bool = False, colour: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, markup=False, emoji=False, highlight=False, force_terminal=colour, color_system="standard" if colour else None)  # fmt: skip
    write_text(build_report(diagnosis, made.CATALOGUE, made.INPUTS), console, show_all=show_all)
    return out.getvalue()


def test_the_answer_is_the_first_line() -> None:
    rows = printed(made.failure(), 100).split("\n")
    assert rows[0].startswith("✗ The KV cache cannot hold one request of 32,768 tokens  ")
    assert rows[0].endswith("  max-model-len-exceeds-kv-cache")
    assert rows[1].startswith("  startup.log:41  EngineCore  ValueError: To serve")


def test_failure_at_80_columns() -> None:
    expected = """\
✗ The KV cache cannot hold one request of 32,768 tokens
  max-model-len-exceeds-kv-cache
  startup.log:41  EngineCore  ValueError: To serve at least one request with th…

  One request needs 4.00 GiB of KV cache, 2.50 GiB is left.
  Check first     Do you need that context length?
  Why here        Long context (confirmed; context length: 32,768 tokens)

  Fixes
  1  Lower the context length to 20,480 tokens   costs: shorter prompts
       vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 20480
  2  Store the KV cache in fp8                   costs: small accuracy loss
     depends on memory of other processes, not known from this log
       vllm serve meta-llama/Llama-3.1-8B-Instruct --kv-cache-dtype fp8
  Does not help   Lowering --gpu-memory-utilization: the cache shrinks with it.
  Then expect     GPU KV cache size: ≥ 20,490 tokens
  Also in the log RuntimeError: Engine core initialization f… (wrapper, line 97)
                  Swap is large (warning, line 12)
  Read more       vllmdoctor explain max-model-len-exceeds-kv-cache
                  --all shows every fix, cause and fact
"""
    assert printed(made.failure()) == expected


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
@pytest.mark.parametrize("name", ["failure", *made.others()])
def test_prose_keeps_to_the_width(width: int, name: str) -> None:
    diagnosis = made.failure() if name == "failure" else made.others()[name]
    for row in printed(diagnosis, width).split("\n"):
        assert cell_len(row) <= width or re.match(r"\s+(?:vllm|--)|.*vllmdoctor explain", row), row


def test_all_shows_every_form_cause_and_fact() -> None:
    shown = printed(made.failure(), show_all=True)
    for part in (
        'LLM(model="meta-llama/Llama-3.1-8B-Instruct", max_model_len=20480)',
        '"--max-model-len", "20480"',
        "(ruled out; KV cache memory: 2.50 GiB)",
        "estimated_max_model_len  20,490 tokens  (estimate)",
        "gpu_memory_utilization   0.9  (default)",
        "max_model_len            32,768 tokens  (startup.log:41)",
    ):
        assert part in shown


def test_only_three_fixes_unless_asked() -> None:
    fixes = tuple(ChosenFix(replace(made.RULE.fixes[1], id=f"fix-{n}"), True) for n in range(5))
    diagnosis = replace(made.failure(), findings=(replace(made.root_finding(), fixes=fixes),))
    assert printed(diagnosis).count("Store the KV cache in fp8") == 3
    assert "2 more with --all" in printed(diagnosis)
    assert printed(diagnosis, show_all=True).count("Store the KV cache in fp8") == 5


def test_a_fix_without_command_shows_its_text() -> None:
    remedy = replace(made.FP8, changes=made.Changes())
    finding = replace(made.root_finding(), fixes=(ChosenFix(replace(made.RULE.fixes[1], remedy=remedy), True),))
    assert "Tokens need half." in printed(replace(made.failure(), findings=(finding,)))


def test_earlier_runs_are_folded() -> None:
    assert "the same failure 14 times before" in printed(made.failure(runs=15))
    runs = (made.verdict(1, HEALTHY, ""), made.verdict(2), made.verdict(3))
    shown = printed(replace(made.failure(), runs=runs))
    assert "the same failure 1 time before" in shown
    assert "lines 10-19: No failure in this log" in shown


def test_two_root_causes() -> None:
    second = replace(made.root_finding(), rule=replace(made.WRAPPER, title=made.parse_text("Another failure")))
    shown = printed(replace(made.failure(), findings=(made.root_finding(), second)))
    assert (
        shown.index("✗ The KV cache") < shown.index("A second, independent failure") < shown.index("✗ Another failure")
    )


def test_other_statuses() -> None:
    diagnoses = made.others()
    healthy = printed(diagnoses[HEALTHY])
    assert healthy.startswith("✓ No failure in this log; 1 warning\n")
    assert "model meta-llama/Llama-3.1-8B-Instruct" in healthy
    assert "3 requests were rejected" in healthy
    unknown = printed(diagnoses[UNRECOGNIZED])
    assert unknown.startswith("? vLLM failed with an error that no rule knows: RuntimeError: quux 7 failed\n")
    for part in ("startup.log:63", "worker.py:12 in load_model", "loading-weights", made.RULE.id, "vllm collect-env"):
        assert part in unknown
    missing = printed(diagnoses[CAUSE_NOT_IN_LOG])
    assert missing.startswith("? vLLM failed, but the cause is not in this log\n  startup.log:97")
    assert "2>&1" in missing
    assert "dmesg -T" in missing
    assert printed(diagnoses[NO_VLLM_LOG]).startswith("? This is not a vLLM log\n")


HOSTILE = (
    "ValueError: [bold red]x[/] [link=http://192.0.2.1]y[/link] :smile: \x1b[2J\x1b]8;;http://192.0.2.1\x07z \u202eabc"
)


@pytest.mark.parametrize("colour", [False, True])
def test_markup_and_escapes_of_the_log_do_nothing(colour: bool) -> None:
    shown = printed(made.failure(HOSTILE), 200, colour=colour)
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert "[bold red]x[/] [link=http://192.0.2.1]y[/link] :smile: z abc" in plain
    assert not set(plain) & set(map(chr, [*range(10), *range(11, 32), 127, 0x202E]))


def test_colours_are_the_16_standard_ones() -> None:
    shown = printed(made.failure(), colour=True, show_all=True)
    codes = {int(code) for codes in re.findall(r"\x1b\[([\d;]*)m", shown) for code in codes.split(";") if code}
    assert codes <= {0, 1, 22, 3, 23, *range(31, 38), 39}
    assert 31 in codes


def test_wide_characters_line_up() -> None:
    wide = replace(made.FP8, title=made.parse_text("KVキャッシュを小さくする"))
    finding = made.root_finding()
    fixes = (finding.fixes[0], ChosenFix(replace(made.RULE.fixes[1], remedy=wide), True))
    shown = printed(replace(made.failure(), findings=(replace(finding, fixes=fixes),)))
    columns = {cell_len(row[: row.index("costs:")]) for row in shown.split("\n") if "costs:" in row}
    assert len(columns) == 1


def test_rule_page_without_a_log() -> None:
    out = io.StringIO()
    console = Console(file=out, width=80, markup=False, highlight=False)
    write_rule(made.RULE, made.CATALOGUE, console)
    shown = out.getvalue()
    for part in (
        "ValueError: To serve",
        "Long context",
        "vllm serve MODEL --max-model-len TOKENS",
        "https://docs.vllm.ai/",
        "Does not help",
    ):
        assert part in shown
    assert "{" not in shown


def test_inline_markdown() -> None:
    text = inline_text("run `a b` with `--x` **now** or *later*, see [docs](https://e.org) and my_snake_name 2*3*4")
    assert text.plain == "run `a b` with --x now or later, see docs (https://e.org) and my_snake_name 2*3*4"
    assert {str(span.style) for span in text.spans} == {"cyan", "bold", "italic"}


def test_blocks() -> None:
    blocks = list(blocks_of("One\ntwo.\n\n- a\n  more\n  - b\n1. c\n\n```\ncode  x\n```\nend"))
    shown = [(block.text.plain, block.marker, block.depth, block.code) for block in blocks]
    assert shown == [
        ("One two.", "", 0, False),
        ("a more", "-", 0, False),
        ("b", "-", 1, False),
        ("c", "1.", 0, False),
        ("code  x", "", 0, True),
        ("end", "", 0, False),
    ]


@given(st.text(max_size=80), st.integers(20, 120))
def test_any_log_text_and_width_can_be_printed(text: str, width: int) -> None:
    assert "max-model-len-exceeds-kv-cache" in printed(made.failure(text or "x"), width)
