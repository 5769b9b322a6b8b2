"""The whole walk from files to the report: real logs, several inputs, large inputs, what the library promises."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from vllmdoctor import analyze
from vllmdoctor.analysis import analyze_inputs
from vllmdoctor.errors import InputError, RuleError
from vllmdoctor.report.json import report_json
from vllmdoctor.report.model import Report

FIXTURES = Path(__file__).parent / "fixtures"
REAL = FIXTURES / "real"
EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load((REAL / "expected.yaml").read_text(encoding="utf-8"))
FAILED = FIXTURES / "rules" / "no-cache-blocks" / "startup.log"
HEALTHY = FIXTURES / "clean" / "v1-0.11.0-4xx.log"
SMI = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 570.124.06             Driver Version: 570.124.06     CUDA Version: 12.8     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA L4                      On  |   00000000:00:03.0 Off |                    0 |
| N/A   33C    P0             31W /   72W |       1MiB /  23034MiB |      0%      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+
"""


def verdict(report: Report) -> str:
    return next((finding.rule for finding in report.findings if finding.role == "root-cause"), report.status)


def close(want: Any, got: Any) -> bool:
    """Equal, or numbers within the rounding of the log line."""
    if isinstance(want, bool) or not isinstance(want, int | float):
        return str(want) == str(got)
    return bool(got == pytest.approx(want, rel=0.02, abs=0.011))


@pytest.mark.parametrize("name", EXPECTED)
def test_a_real_log(name: str) -> None:
    want, report = EXPECTED[name], analyze(REAL / f"{name}.log")
    assert verdict(report) == want["verdict"], report.headline
    if "line" in want:
        assert report.findings[0].evidence[0].line == want["line"], report.findings[0].evidence[0].text
    got = {key: report.facts[key].value if key in report.facts else None for key in want.get("facts") or {}}
    assert {k: v for k, v in (want.get("facts") or {}).items() if not close(v, got[k])} == {}


def test_every_real_log_has_an_expectation() -> None:
    assert {path.stem for path in REAL.glob("*.log")} == set(EXPECTED)


@pytest.mark.parametrize("name", [name for name, want in EXPECTED.items() if "line" in want and not name.startswith("client")])  # fmt: skip
def test_evidence_is_a_quotation(name: str) -> None:
    """The line that the report names is part of what it quotes (an error object of a client is put into words)."""
    path = REAL / f"{name}.log"
    lines = path.read_bytes().decode("utf-8", "replace").split("\n")
    for finding in analyze_inputs([str(path)], redact=False).findings:
        for evidence in finding.evidence:
            quoted = "".join(evidence.text.split())
            assert "".join(lines[evidence.line - 1].split())[-12:] in quoted or quoted.endswith("…"), evidence


def test_the_same_input_gives_the_same_report() -> None:
    first = json.dumps(report_json(analyze(FAILED), version="0"), sort_keys=True)
    assert json.dumps(report_json(analyze(FAILED), version="0"), sort_keys=True) == first


# Several inputs


def test_nvidia_smi_output_tells_the_card(tmp_path: Path) -> None:
    smi = tmp_path / "smi.txt"
    smi.write_text(SMI, encoding="utf-8")
    report = analyze(HEALTHY, nvidia_smi=[smi])
    assert (report.facts["gpu_name"].value, report.facts["driver_version"].value) == ("NVIDIA L4", "570.124.06")
    assert (report.status, len(report.inputs)) == ("healthy", 2)


def test_nvidia_smi_output_among_the_logs_is_known_by_itself(tmp_path: Path) -> None:
    smi = tmp_path / "smi.txt"
    smi.write_text(SMI, encoding="utf-8")
    report = analyze(HEALTHY, smi)
    assert report.facts["gpu_name"].value == "NVIDIA L4"
    assert [run.status for run in report.runs] == ["healthy"]


def test_what_the_log_says_wins_over_nvidia_smi(tmp_path: Path) -> None:
    smi = tmp_path / "smi.txt"
    smi.write_text(SMI, encoding="utf-8")
    log = tmp_path / "startup.log"
    log.write_text("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.19 GiB of which 1.10 GiB is free.\n", encoding="utf-8")  # fmt: skip
    assert analyze(log, nvidia_smi=[smi]).facts["gpu_total_gib"].value == 79.19


def test_of_two_starts_the_last_is_diagnosed(tmp_path: Path) -> None:
    """On the next day: at the same time both logs would be two processes of one start."""
    later = tmp_path / "later.log"
    later.write_text(HEALTHY.read_text(encoding="utf-8").replace(" 05-22 ", " 05-23 "), encoding="utf-8")
    report = analyze(FAILED, later)
    assert report.status == "healthy"
    assert [(run.rule, run.input) for run in report.runs] == [("no-cache-blocks", 0), ("", 1)]
    assert verdict(analyze(HEALTHY, FAILED)) == "no-cache-blocks"


def test_ranks_in_files_of_their_own_are_one_start(tmp_path: Path) -> None:
    head, rank = tmp_path / "head.log", tmp_path / "rank1.log"
    head.write_text(
        "(APIServer pid=1) INFO 05-22 10:00:00 [api_server.py:1896] vLLM API server version 0.11.0\n"
        "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}\n",
        encoding="utf-8",
    )
    rank.write_text(
        "(Worker_TP1 pid=9) ERROR 05-22 10:00:20 [multiproc_executor.py:596] RuntimeError: CUDA error: no kernel image is available for execution on the device\n",
        encoding="utf-8",
    )
    report = analyze(head, rank)
    assert (len(report.runs), verdict(report)) == (1, "no-kernel-image")
    assert report.findings[0].evidence[0].input == 1


def test_standard_input() -> None:
    report = analyze_inputs(["-"], stdin=io.BytesIO(FAILED.read_bytes()))
    assert verdict(report) == "no-cache-blocks"
    assert report.inputs[0].name == "<stdin>"


# Large inputs


def healthy_line(number: int) -> str:
    return (
        f"(APIServer pid=31) INFO 05-22 09:{number // 60 % 60:02d}:{number % 60:02d} [loggers.py:123] Engine 000: "
        f"Avg prompt throughput: {number % 90}.5 tokens/s, Avg generation throughput: {number % 9}.0 tokens/s, "
        f"Running: {number % 7} reqs, Waiting: 0 reqs, GPU KV cache usage: {number % 60}.1%, Prefix cache hit rate: 61.2%\n"
    )


@pytest.fixture(scope="module")
def padding() -> str:
    """More healthy lines than an input is kept of."""
    return "".join(healthy_line(number) for number in range(120_000))


def test_a_failure_at_the_end_of_a_large_log(padding: str, tmp_path: Path) -> None:
    log = tmp_path / "serve.log"
    log.write_text(padding + FAILED.read_text(encoding="utf-8"), encoding="utf-8")
    report = analyze(log)
    assert verdict(report) == "no-cache-blocks"
    assert report.findings[0].evidence[0].line == analyze(FAILED).findings[0].evidence[0].line + 120_000


def test_a_failure_in_the_middle_of_a_large_log(padding: str, tmp_path: Path) -> None:
    """The server came up again afterwards: the earlier start is still told."""
    log = tmp_path / "serve.log"
    again = HEALTHY.read_text(encoding="utf-8")
    log.write_text(again + padding + FAILED.read_text(encoding="utf-8") + again + padding, encoding="utf-8")
    report = analyze(log)
    assert report.status == "healthy"
    assert [run.rule for run in report.runs] == ["", "no-cache-blocks", ""]


def test_a_large_healthy_log(padding: str, tmp_path: Path) -> None:
    log = tmp_path / "serve.log"
    log.write_text(HEALTHY.read_text(encoding="utf-8") + padding, encoding="utf-8")
    report = analyze(log)
    assert (report.status, report.findings) == ("healthy", ())
    assert report.facts["vllm_version"].value == "0.11.0"


# What a caller may count on


def test_exit_codes_follow_the_status() -> None:
    assert (analyze(FAILED).exit_code, analyze(HEALTHY).exit_code) == (1, 0)


def test_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no-such\.log"):
        analyze(tmp_path / "no-such.log")


def test_a_wrong_rule_is_a_rule_error(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("id: x\n", encoding="utf-8")
    with pytest.raises(RuleError, match=r"mine\.yaml"):
        analyze_inputs([str(FAILED)], rules_folders=[tmp_path])


@pytest.mark.parametrize("language", ["en", "vi", "ja"])
def test_the_verdict_is_the_same_in_every_language(language: str) -> None:
    assert verdict(analyze(FAILED, language=language)) == "no-cache-blocks"


def test_secrets_are_redacted_unless_asked_for(tmp_path: Path) -> None:
    log = tmp_path / "startup.log"
    secret = "hf_" + "a1B2" * 9
    log.write_text(f"huggingface_hub.errors.HfHubHTTPError: 401 Client Error: Unauthorized for url: https://huggingface.co/acme/m?token={secret}\n", encoding="utf-8")  # fmt: skip
    told = json.dumps(report_json(analyze(log), version="0"))
    assert secret not in told
    assert secret in json.dumps(report_json(analyze(log, redact=False), version="0"))
