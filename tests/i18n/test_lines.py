"""Lines on a terminal: real logs in three languages within 80 cells; Japanese broken where it may be."""

from __future__ import annotations

import io
import re
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from vllmdoctor.analysis import analyze_inputs
from vllmdoctor.report.inline import within_sentence
from vllmdoctor.report.text import write_rule, write_text
from vllmdoctor.report.text.wrapping import stretches, wrapped, wrapped_plain
from vllmdoctor.rules.load import load_catalogue

LANGUAGES = ("en", "vi", "ja")
# One log of each kind of failure: memory, config, model, build, distributed, server; one whose cause is not in it.
LOGS = (
    "real/fake-oom-weights.log",
    "real/cli-unknown-arg.log",
    "real/weights-shape.log",
    "real/torchvision-mismatch.log",
    "real/gloo-bad-ifname.log",
    "real/port-in-use.log",
    "real/max-model-len-stdout-only.log",
)
NOT_FIRST = "、。，．）」』】！？ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ)],.:;"
NOT_LAST = "（「『【(["


def printed(path: str, language: str, *, show_all: bool) -> tuple[str, str]:
    report = analyze_inputs([path], language=language)
    stream = io.StringIO()
    write_text(report, Console(file=stream, width=80, markup=False, emoji=False, highlight=False), show_all=show_all)
    return report.status, stream.getvalue()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("log", LOGS)
def test_real_logs_fit_the_terminal(log: str, language: str, checkout: Path) -> None:
    path = str(checkout / "tests" / "fixtures" / log)
    status, shown = printed(path, language, show_all=False)
    assert status == ("cause-not-in-log" if "stdout-only" in log else "failure")
    rows = shown.splitlines()
    # Commands are broken only where a shell allows it.
    assert not [row for row in rows if cell_len(row) > 80 and not row.startswith("       ")]
    assert shown == unicodedata.normalize("NFC", shown)
    if language == "ja":
        assert not [
            row
            for row in rows
            if row.strip()[:1] and row.strip()[0] in NOT_FIRST and not row.strip().startswith(("[", "(", "."))
        ]
        assert not [row for row in rows if row.rstrip()[-1:] and row.rstrip()[-1] in "（「『【"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_rule_pages_fit_the_terminal(language: str) -> None:
    catalogue = load_catalogue(language)
    for rule in list(catalogue.rules.values())[::6]:
        stream = io.StringIO()
        write_rule(rule, catalogue, Console(file=stream, width=80, markup=False, emoji=False, highlight=False))
        wide = [row for row in stream.getvalue().splitlines() if cell_len(row) > 80]
        # Commands and YAML are broken only where a shell allows it.
        assert not [row for row in wide if not row.startswith(("       ", "    "))], rule.id


def test_labels_line_up(checkout: Path) -> None:
    """The values beside labels begin at one column, in cells."""
    for language in LANGUAGES:
        _, shown = printed(str(checkout / "examples" / "startup.log"), language, show_all=False)
        labelled = [
            row for row in shown.splitlines() if re.match(r"  \S.*(?:vllmdoctor explain|GPU KV cache size: )", row)
        ]
        assert len(labelled) == 2
        columns = {cell_len(re.split(r"vllmdoctor explain|GPU KV cache size", row)[0]) for row in labelled}
        assert len(columns) == 1, language


JAPANESE = st.text(alphabet="メモリ割当量がGPU、。（）「」っー a1", min_size=1, max_size=60)


@settings(max_examples=60)
@given(JAPANESE, st.integers(min_value=8, max_value=40))
def test_lines_hold_the_whole_text_within_the_width(text: str, width: int) -> None:
    rows = wrapped_plain(text, width)
    assert all(cell_len(row) <= width for row in rows)
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")


@settings(max_examples=60)
@given(st.text(alphabet="割当量メモリ、。（）っ", min_size=1, max_size=60))
def test_lines_begin_and_end_as_they_may(text: str) -> None:
    """Unless there is nothing but such characters for a whole line."""
    width = 12
    rows = wrapped_plain(text, width)
    for before, after in pairwise(rows):
        if cell_len(before) < width - 1:
            assert after[0] not in NOT_FIRST
            assert before[-1] not in NOT_LAST


@pytest.mark.parametrize(
    "text, width, rows",
    [
        ("残りは 16.00 GiB です", 10, ["残りは", "16.00 GiB", "です"]),
        ("値をもっと大きくし`--max-len 9`に", 28, ["値をもっと大きくし", "`--max-len 9`に"]),
        ("空き0.12 GiBに対して", 10, ["空き", "0.12 GiBに", "対して"]),
        ("割り当てた。", 10, ["割り当て", "た。"]),
        ("確保（割当）", 6, ["確保", "（割", "当）"]),
        ("割り当ては32,768トークン", 16, ["割り当ては", "32,768トークン"]),
        ("GPUメモリに残るKVキャッシュ", 24, ["GPUメモリに残る", "KVキャッシュ"]),
        ("a bc  def", 4, ["a bc", "def"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("bộ nhớ GPU", 6, ["bộ nhớ", "GPU"]),
        ("", 5, []),
    ],
)
def test_examples(text: str, width: int, rows: list[str]) -> None:
    assert wrapped_plain(text, width) == rows


def test_styles_and_code_stay_together() -> None:
    text = Text("run ").append("vllm serve", "cyan").append(" now", "bold")
    rows = wrapped(text, 20)
    assert [row.plain for row in rows] == ["run vllm serve now"]
    rows = wrapped(Text("please run ").append("a b", "cyan").append(" x"), 13)
    assert [row.plain for row in rows] == ["please run", "a b x"]
    assert rows[1].spans[0].style == "cyan"


def test_stretches_are_in_order() -> None:
    found = stretches("割り当て 16.00 GiB を（割当）確保", 10)
    assert found == sorted(found)


@pytest.mark.parametrize(
    "language, text, shown",
    [
        ("en", "Some speed", "some speed"),
        ("en", "Ray needs it", "Ray needs it"),
        ("en", "PyTorch and a GPU", "PyTorch and a GPU"),
        ("en", "GPU memory", "GPU memory"),
        ("vi", "Độ trễ cao hơn", "độ trễ cao hơn"),
        ("vi", "RAM của máy", "RAM của máy"),
        ("ja", "Ray が必要です", "Ray が必要です"),
    ],
)
def test_what_stands_behind_a_colon(language: str, text: str, shown: str) -> None:
    assert within_sentence(text, language) == shown
