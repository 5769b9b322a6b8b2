"""The commands end to end: what they print, where, and with which exit code."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from vllmdoctor.cli.app import run
from vllmdoctor.cli.output import fitted
from vllmdoctor.cli.progress import total_bytes

RULE = "max-model-len-exceeds-kv-cache"
COMMANDS = (
    "analyze", "compare", "explain", "gpus", "rules list", "rules show", "rules check", "rules stamp", "rules drift", "rules new", "rules stats",
)  # fmt: skip


@pytest.fixture
def example(checkout: Path) -> str:
    return str(checkout / "examples" / "startup.log")


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def piped(monkeypatch: pytest.MonkeyPatch, data: bytes, *, terminal: bool = False) -> None:
    kind = Terminal if terminal else io.TextIOWrapper
    monkeypatch.setattr(sys, "stdin", kind(io.BytesIO(data), encoding="utf-8"))


def process(checkout: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "PYTHONPATH": str(checkout / "src"), "COLUMNS": "80", **environment}
    return subprocess.run([sys.executable, "-m", "vllmdoctor", *arguments], env=env, capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False)  # fmt: skip


def test_analyze_prints_the_answer_first(example: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", example]) == 1
    out = capsys.readouterr().out
    assert out.startswith("✗ The KV cache cannot hold one request of 131,072 tokens")
    assert RULE in out
    assert "--max-model-len 39888" in out
    assert "\x1b" not in out


def test_exit_zero(example: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", "--exit-zero", example]) == 0
    assert capsys.readouterr().out.startswith("✗")


def test_json_follows_the_schema(example: str, checkout: Path) -> None:
    result = process(checkout, "analyze", example, "--format", "json", PYTHONIOENCODING="ascii")
    assert result.returncode == 1
    document = json.loads(result.stdout.decode("utf-8"))
    schema = json.loads((checkout / "docs" / "schema" / "report.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(document)
    assert document["findings"][0]["rule"] == RULE
    assert result.stdout == process(checkout, "analyze", example, "--format", "json").stdout


@pytest.mark.parametrize("arguments", [["analyze"], ["analyze", "-"]])
def test_standard_input(
    arguments: list[str], example: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    piped(monkeypatch, Path(example).read_bytes())
    assert run(arguments) == 1
    assert "<stdin>:" in capsys.readouterr().out


def test_no_log_on_a_terminal_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    piped(monkeypatch, b"", terminal=True)
    assert run(["analyze"]) == 2
    assert capsys.readouterr().err.startswith("error: no log given")


@pytest.mark.parametrize(
    "arguments",
    [
        ["analyze", "no-such-file.log"],
        ["analyze", "--lang", "xx", "."],
        ["analyze", "--format", "xml", "."],
        ["analyze", "--rules", "no-such-folder", "."],
        ["explain", "no-such-rule"],
        ["gpus", "no-such-file.txt"],
        ["rules", "show", "no-such-rule"],
        ["rules", "list", "--category", "no-such-category"],
        ["no-such-command"],
        ["--no-such-option"],
    ],
    ids=" ".join,
)
def test_bad_usage_is_2_with_a_message_and_no_traceback(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.search(r"error: .+|Error: .+", shown.err)
    assert "Traceback" not in shown.err


def test_error_messages_do_not_pass_on_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", "no\x1b[31msuch.log"]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_explain_by_id(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", RULE]) == 0
    out = capsys.readouterr().out
    for part in (RULE, "Messages", "Fixes", "Does not help", "--max-model-len", "kv_cache_utils.py"):
        assert part in out


def test_explain_a_message_with_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    message = (
        "ValueError: To serve at least one request with the models's max seq len (65536), (8.00 GiB KV cache is needed, "
        "which is larger than the available KV cache memory (3.00 GiB)."
    )
    assert run(["explain", message]) == 0
    out = capsys.readouterr().out
    assert "8.00 GiB" in out
    assert "65,536" in out


def test_explain_a_part_of_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "No available memory for the cache blocks"]) == 0
    assert "no-cache-blocks" in capsys.readouterr().out


def test_explain_what_nobody_knows(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "the quick brown fox jumps over the lazy dog"]) == 3
    assert "No rule knows" in capsys.readouterr().out


def test_did_you_mean(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "max-model-len-exceeds-cache"]) == 2
    assert RULE in capsys.readouterr().err


def test_rules_list_and_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rules", "list", "--category", "memory"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert any(row.split()[:2] == ["memory", RULE] for row in rows)
    assert {row.split()[0] for row in rows} == {"memory"}
    assert run(["rules", "show", RULE]) == 0
    shown = capsys.readouterr().out
    assert "pattern" in shown
    assert "(?P<max_model_len>" in shown


def test_rules_list_as_json(checkout: Path) -> None:
    rules = json.loads(process(checkout, "rules", "list", "--format", "json").stdout)
    assert RULE in {rule["id"] for rule in rules}


def test_gpus(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(checkout / "examples" / "nvidia-smi.txt")
    assert run(["gpus", file]) == 0
    assert "24,564 MiB" in capsys.readouterr().out
    machine = json.loads(process(checkout, "gpus", file, "--format", "json").stdout)
    assert machine["gpus"][0]["total_mib"] == 24564


def test_gpus_of_another_text(example: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.txt"
    other.write_text("hello\n", encoding="utf-8")
    assert run(["gpus", str(other)]) == 2
    assert "says nothing of GPUs" in capsys.readouterr().err


def test_ascii_terminals_get_ascii(example: str, checkout: Path) -> None:
    result = process(checkout, "analyze", example, PYTHONIOENCODING="ascii")
    assert result.returncode == 1
    assert result.stdout.startswith(b"x The KV cache")
    assert result.stdout.isascii()
    assert result.stderr == b""


def test_fitted_text() -> None:
    assert fitted("✗ a … ≥ 日", "ascii") == "x a ... >= ?"
    assert fitted("✗ é", "latin-1") == "x é"
    assert fitted("✗ é", "utf-8") == "✗ é"


def test_closed_pipe_is_quiet_and_keeps_the_verdict(example: str, checkout: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    for arguments in (["analyze", example, "--all"], ["analyze", example, "--format", "json"]):
        read, write = os.pipe()
        os.close(read)
        result = subprocess.run([sys.executable, "-m", "vllmdoctor", *arguments], env=env, stdout=write, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=60, check=False)  # fmt: skip
        os.close(write)
        assert result.stderr == b""
        assert result.returncode == 1


def test_no_color_and_force_color(example: str, checkout: Path) -> None:
    assert b"\x1b[" in process(checkout, "analyze", example, FORCE_COLOR="1", TERM="xterm").stdout
    plain = process(checkout, "analyze", example, FORCE_COLOR="1", TERM="xterm", NO_COLOR="1").stdout
    assert not re.search(rb"\x1b\[[\d;]*3[0-7]", plain)


@pytest.mark.parametrize("command", COMMANDS)
def test_documented_help_is_the_real_one(command: str, checkout: Path) -> None:
    text = (checkout / "docs" / "cli.md").read_text(encoding="utf-8")
    documented = re.search(rf"<!-- help: {command} -->\n```text\n(.*?)```", text, re.DOTALL)
    assert documented
    helped = process(checkout, *command.split(), "--help", TERM="dumb").stdout.decode()
    assert documented[1].strip() == helped.strip()


def test_version_needs_no_heavy_import(checkout: Path) -> None:
    code = "import sys; sys.argv = ['vllmdoctor', '--version']; from vllmdoctor.cli import main; main(); print(*sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
    first, modules = out.split("\n")[:2]
    assert first.startswith("vllmdoctor ")
    assert not {"rich", "typer", "yaml", "vllmdoctor.rules"} & set(modules.split())


def test_total_bytes_is_told_only_when_it_is_known(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"12345")
    (tmp_path / "b.log.gz").write_bytes(b"12345")
    assert total_bytes([str(tmp_path / "a.log")]) == 5
    assert total_bytes([str(tmp_path / "b.log.gz")]) is None
    assert total_bytes(["-"]) is None
    assert total_bytes([str(tmp_path)]) is None
