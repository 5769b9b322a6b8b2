"""The receipt as a Markdown table: every number of the picture, where it is from, and nothing of the log left raw."""

from __future__ import annotations

from pathlib import Path

from tests.memory.facts import facts
from vllmdoctor import analyze
from vllmdoctor.cli.app import run
from vllmdoctor.memory.advice import advice_for
from vllmdoctor.memory.receipt import receipt_of
from vllmdoctor.report.receipt_table import receipt_table
from vllmdoctor.report.words import Words

SHORT = {
    "vllm_version": "0.11.0", "gpu_total_gib": 24.0, "gpu_memory_utilization": 0.9, "weights_gib": 15.0,
    "activation_peak_gib": 1.5, "non_torch_gib": 0.1, "available_kv_gib": 5.0, "required_kv_gib": 8.0, "cuda_graph_gib": 0.5,
}  # fmt: skip


def test_the_table() -> None:
    told = facts(**SHORT)
    lines = receipt_table(receipt_of(told), Words(), lambda line: "start.log:7", advice_for(told))
    assert lines == [
        "**Memory** of a GPU with 24.00 GiB",
        "",
        "| Part | Size | From |",
        "| --- | --- | --- |",
        "| weights | 15.00 GiB | `start.log:7` |",
        "| activations (peak) | 1.50 GiB | `start.log:7` |",
        "| outside of PyTorch | 0.10 GiB | `start.log:7` |",
        "| KV cache | 5.00 GiB | `start.log:7` |",
        "| CUDA graphs | 0.50 GiB | beside the budget; `start.log:7` |",
        "| beyond the budget | 1.90 GiB |  |",
        "| budget (total × gpu_memory_utilization) | 21.60 GiB | estimate |",
        "| one request needs | 8.00 GiB | `start.log:7` |",
        "| **missing** | **3.00 GiB** |  |",
        "",
        # 21.6 - 5.0 + 8.0 = 24.6 of 24
        "no value of gpu_memory_utilization can work: more is needed than the GPU has",
        "",
    ]


def test_the_name_of_a_file_cannot_end_its_cell() -> None:
    lines = receipt_table(receipt_of(facts(**SHORT)), Words(), lambda line: "a|b`@all.log:7")
    rows = [line for line in lines if line.startswith("| ") and "GiB" in line]
    assert all(line.count("|") == 4 for line in rows)
    assert not any("@" in line.replace("&#64;", "") for line in rows)


def test_too_little_known_shows_nothing() -> None:
    assert receipt_table(receipt_of(facts(gpu_total_gib=24.0)), Words(), lambda line: "") == []


def test_markdown_of_a_log_has_it(tmp_path: Path, capsysbinary: object) -> None:
    log = tmp_path / "startup.log"
    log.write_text(
        "Loading model weights took 14.9888 GB\n"
        "Memory profiling results: total_gpu_memory=23.58GiB initial_memory_usage=15.34GiB peak_torch_memory=17.98GiB "
        "memory_usage_post_profile=15.35GiB non_torch_memory=0.35GiB kv_cache_size=2.89GiB gpu_memory_utilization=0.90\n"
        "ValueError: The model's max seq len (29000) is larger than the maximum number of tokens that can be stored in KV "
        "cache (23648). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.\n",
        encoding="utf-8",
    )
    assert analyze(log).findings[0].receipt is not None
    assert run(["analyze", str(log), "--format", "markdown"]) == 1
    shown = capsysbinary.readouterr().out.decode()  # type: ignore[attr-defined]
    assert "| weights | 14.99 GiB |" in shown
    assert "<svg" not in shown
