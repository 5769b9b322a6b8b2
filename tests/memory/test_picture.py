"""The bar: parts as long as their sizes, the budget's end in its place, readable without colour in 80 columns."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from rich.console import Console

from tests.memory.facts import facts
from vllmdoctor.cli.app import run
from vllmdoctor.memory import receipt as r
from vllmdoctor.memory.advice import UtilizationInterval
from vllmdoctor.memory.picture import OUTSIDE, UNTOLD, cells, picture_of
from vllmdoctor.memory.receipt import Receipt, receipt_of
from vllmdoctor.report.receipt_rows import utilization_words
from vllmdoctor.report.text.page import Page
from vllmdoctor.report.text.receipt import write_receipt
from vllmdoctor.report.words import Words

TOLD = {
    "vllm_version": "0.11.0", "gpu_total_gib": 24.0, "gpu_memory_utilization": 0.9, "weights_gib": 15.0,
    "activation_peak_gib": 1.5, "non_torch_gib": 0.1, "available_kv_gib": 5.0, "required_kv_gib": 8.0, "cuda_graph_gib": 0.5,
}  # fmt: skip


def drawn(receipt: Receipt, width: int = 80) -> list[str]:
    out = io.StringIO()
    write_receipt(Page(Console(file=out, width=width)), Words(), receipt, lambda line: "startup.log:7")
    return out.getvalue().splitlines()


def test_parts_and_their_order() -> None:
    picture = picture_of(receipt_of(facts(**TOLD)))
    assert picture is not None
    assert [(part.name, round(part.gib, 2)) for part in picture.segments] == [
        (r.WEIGHTS, 15.0), (r.ACTIVATION, 1.5), (r.NON_TORCH, 0.1), (r.KV_AVAILABLE, 5.0), (r.CUDA_GRAPHS, 0.5), (OUTSIDE, 1.9),
    ]  # fmt: skip
    assert picture.budget_gib == 21.6


def test_what_the_log_does_not_tell_is_shown_as_such() -> None:
    told = {**TOLD, "activation_peak_gib": 0.5}
    picture = picture_of(receipt_of(facts(**told)))
    assert picture is not None
    assert {part.name: round(part.gib, 2) for part in picture.segments}[UNTOLD] == 1.0


def test_the_page() -> None:
    lines = drawn(receipt_of(facts(**TOLD)))
    assert lines[0] == "  Memory  of a GPU with 24.00 GiB"
    assert set(lines[1].strip()) == {"W", "A", "N", "K", "G", "."}
    assert lines[2].index("^") in (lines[1].rindex("K"), lines[1].rindex("K") + 1), "the budget ends with the KV cache"
    assert "  W  weights                      15.00 GiB  startup.log:7" in lines
    assert any("beside the budget" in line for line in lines)
    assert any(line.split()[:1] == ["missing"] and "3.00 GiB" in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_graphs_inside_the_budget_stand_before_the_cache() -> None:
    lines = drawn(receipt_of(facts(**{**TOLD, "vllm_version": "0.20.0", "available_kv_gib": 4.5})))
    assert lines[1].index("G") < lines[1].index("K")
    assert any("in the budget; startup.log:7" in line for line in lines)


def test_a_cache_below_zero_is_told_in_words() -> None:
    lines = drawn(
        receipt_of(facts(gpu_total_gib=8.0, gpu_memory_utilization=0.7, weights_gib=5.2, available_kv_gib=-1.05))
    )
    assert "K" not in lines[1].replace("KV", "")
    assert any("KV cache" in line and "-1.05 GiB" in line for line in lines)


def test_weights_larger_than_the_gpu_do_not_break_the_bar() -> None:
    lines = drawn(
        receipt_of(facts(gpu_total_gib=24.0, gpu_memory_utilization=0.9, weights_gib=65.0, available_kv_gib=-45.0))
    )
    assert set(lines[1].strip()) == {"W"}
    assert "budget 21.60 GiB" in lines[2]


def test_too_little_known_draws_nothing() -> None:
    assert drawn(receipt_of(facts(gpu_total_gib=24.0, weights_gib=15.0))) == []


sizes = st.floats(0.0, 300.0, allow_nan=False)


@given(st.floats(1.0, 300.0), sizes, sizes, sizes, st.floats(-50.0, 300.0), sizes, sizes, st.integers(1, 100))
def test_the_bar_is_always_as_wide_as_asked(
    total: float, weights: float, peak: float, graphs: float, kv: float, others: float, budget: float, width: int
) -> None:
    receipt = receipt_of(
        facts(vllm_version="0.11.0", gpu_total_gib=total, weights_gib=weights, activation_peak_gib=peak, cuda_graph_gib=graphs,
              available_kv_gib=kv, other_processes_gib=others, requested_gib=budget)
    )  # fmt: skip
    picture = picture_of(receipt)
    assert picture is not None
    counts = cells(picture, width)
    assert sum(counts) == width
    assert all(count >= 0 for count in counts)
    if width >= 2 * len(counts):
        assert all(counts)


def test_analyze_shows_it_for_gpu_memory_and_only_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = (
        "INFO 02-26 09:54:05 worker.py:267] the current vLLM instance can use total_gpu_memory (24.00GiB) x "
        "gpu_memory_utilization (0.90) = 21.60GiB\n"
        "INFO 02-26 09:54:05 worker.py:267] model weights take 20.00GiB; non_torch_memory takes 0.10GiB; PyTorch activation "
        "peak memory takes 2.00GiB; the rest of the memory reserved for KV Cache is -0.50GiB.\n"
    )
    gpu = "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.\n"
    host = "RuntimeError: unable to mmap 2147483648 bytes from file </torch_4711_1804289383_0>: Cannot allocate memory (12)\n"
    for text, shown in ((gpu, True), (host, False)):
        log = tmp_path / "startup.log"
        log.write_text(numbers + text, encoding="utf-8")
        assert run(["analyze", str(log)]) == 1
        assert ("of a GPU with 24.00 GiB" in capsys.readouterr().out) is shown


def test_the_json_holds_it_and_follows_the_schema(
    tmp_path: Path, checkout: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    log = tmp_path / "startup.log"
    log.write_text(
        "Loading model weights took 14.9888 GB\n"
        "Memory profiling results: total_gpu_memory=23.58GiB initial_memory_usage=15.34GiB peak_torch_memory=17.98GiB "
        "memory_usage_post_profile=15.35GiB non_torch_memory=0.35GiB kv_cache_size=2.89GiB gpu_memory_utilization=0.90\n"
        "# GPU blocks: 1478, # CPU blocks: 2048\n"
        "ValueError: The model's max seq len (29000) is larger than the maximum number of tokens that can be stored in KV "
        "cache (23648). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.\n",
        encoding="utf-8",
    )
    assert run(["analyze", str(log), "--format", "json"]) == 1
    document = json.loads(capsysbinary.readouterr().out)
    schema = json.loads((checkout / "docs" / "schema" / "report.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(document)
    finding = document["findings"][0]
    lines = {line["name"]: line for line in finding["receipt"]["lines"]}
    assert lines["weights"] == {"name": "weights", "gib": 14.9888, "kind": "read", "origin": {"input": 0, "line": 1}}
    assert lines["activation_peak"]["kind"] == "computed"
    assert lines["cuda_graphs"] == {"name": "cuda_graphs", "gib": None, "kind": None, "origin": None}
    assert finding["advice"]["longest_context"]["tokens"] == 23_648
    # 23.58 × 0.90 - 2.89 + 2.89 × 29000 ÷ 23648 = 21.88; ÷ 23.58
    assert finding["advice"]["gpu_memory_utilization"]["above"] == pytest.approx(0.928, abs=0.001)


@pytest.mark.parametrize(
    "low, high, words",
    [
        (0.8625, 0.95, "above 0.86, up to 0.95"),
        (0.8625, None, "must be free at the start"),
        (0.9, 0.8, "above 0.90 is needed, 0.80 of the GPU is free"),
        (1.3, None, "more is needed than the GPU has"),
    ],
)
def test_which_utilizations_can_work(low: float, high: float | None, words: str) -> None:
    assert words in " ".join(utilization_words(UtilizationInterval(low, high), Words()))


def test_an_unknown_lower_bound_says_nothing() -> None:
    assert utilization_words(UtilizationInterval(None, 0.9), Words()) == []
