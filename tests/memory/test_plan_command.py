"""`vllmdoctor plan` end to end: verdict first, exit codes, JSON, errors without a traceback."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.memory.facts import CONFIGS
from vllmdoctor.cli.app import run

LLAMA = str(CONFIGS / "llama-3.1-8b.json")
SMI = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
|   0  NVIDIA GeForce RTX 3090        Off |   00000000:01:00.0  On |                  N/A |
|  0%   47C    P8             18W / 350W  |    3587MiB /  24576MiB |      5%      Default |
+-----------------------------------------+------------------------+----------------------+
"""


def test_it_fits(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", LLAMA, "--gpu", "RTX 3090", "--max-model-len", "8192"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("✓ ")
    assert "vllm serve MODEL --max-model-len 8192" in out
    assert max(map(len, out.splitlines())) <= 80


def test_it_does_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", LLAMA, "--gpu", "24GiB"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("✗ ")
    assert "One of these would fit" in out


def test_json(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["plan", LLAMA, "--gpu", "2x H100", "--format", "json"]) == 0
    document = json.loads(capsysbinary.readouterr().out)
    assert (document["fits"], document["verdict"]) == (True, "fits")
    assert document["options"]["tensor_parallel_size"] == 2
    assert document["kv_bytes_per_token"] == 65_536
    assert document["command"] == "vllm serve MODEL --tensor-parallel-size 2"


def test_free_memory_from_nvidia_smi(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    smi = tmp_path / "smi.txt"
    smi.write_text(SMI, encoding="utf-8")
    assert run(["plan", LLAMA, "--nvidia-smi", str(smi), "--max-model-len", "4096"]) == 1
    out = capsys.readouterr().out
    assert "does not start on RTX 3090" in " ".join(out.split())
    assert "--gpu-memory-utilization 0.8" in out


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["plan", LLAMA], "no GPU given"),
        (["plan", LLAMA, "--gpu", "RTX 9999"], "not in the list"),
        (["plan", "./no-such-model", "--gpu", "24GiB"], "does not exist"),
        (["plan", LLAMA, "--gpu", "24GiB", "--tensor-parallel-size", "3"], "does not divide"),
        (["plan", LLAMA, "--gpu", "24GiB", "--gpus", "1", "--tensor-parallel-size", "2"], "needs 2 GPUs"),
        (["plan", LLAMA, "--gpu", "24GiB", "--max-model-len", "0"], "at least 1"),
        (["plan", LLAMA, "--gpu", "24GiB", "--vllm-version", "latest"], "no version"),
        (["plan", LLAMA, "--nvidia-smi", LLAMA], "says nothing of GPUs"),
    ],
)
def test_errors(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ") and words in captured.err


def test_a_broken_config_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "perceiver", "num_hidden_layers": 3}', encoding="utf-8")
    assert run(["plan", str(tmp_path), "--gpu", "24GiB"]) == 2
    assert "which layers keep a KV cache" in capsys.readouterr().err


def test_documented_help_and_example_are_the_real_ones(
    checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(checkout)
    text = (checkout / "docs" / "plan.md").read_text(encoding="utf-8")
    documented = re.search(r"<!-- help: plan -->\n```text\n(.*?)```", text, re.DOTALL)
    example = re.search(
        r"```text\n\$ vllmdoctor plan (\S+) --gpu \"RTX 3090\" --max-model-len 16384\n(.*?)```", text, re.DOTALL
    )
    assert documented and example
    assert run(["plan", "--help"]) == 0
    assert capsys.readouterr().out.strip() == documented[1].strip()
    assert run(["plan", example[1], "--gpu", "RTX 3090", "--max-model-len", "16384"]) == 0
    assert capsys.readouterr().out.strip() == example[2].strip()
