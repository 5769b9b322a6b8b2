"""`vllmdoctor compare`: the first line, the exit code, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vllmdoctor.cli.app import run

CLEAN = "tests/fixtures/clean/v1-0.32.0.log"
OLDER = "tests/fixtures/clean/v1-0.19.0.log"
EXAMPLE = "examples/startup.log"


@pytest.fixture(autouse=True)
def in_checkout(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(checkout)
    monkeypatch.setenv("VLLMDOCTOR_LANG", "en")


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_the_first_line_names_the_difference(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", CLEAN, EXAMPLE]) == 1
    shown = lines(capsys)
    assert " ".join(line.strip() for line in shown[:2]) == (
        "✗ What most likely made the difference: --max-model-len: 8192 → not set (131,072 tokens)"
    )
    assert any("The KV cache cannot hold one request of 131,072 tokens" in line for line in shown[:4])
    assert max(map(len, shown)) <= 80


def test_a_new_log_without_a_failure_is_fine(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", OLDER, CLEAN]) == 0
    assert lines(capsys)[0] == "✓ Neither log shows a failure"
    assert run(["compare", EXAMPLE, CLEAN]) == 0
    assert lines(capsys)[0] == "✓ The new log shows no failure, the old one does"


def test_the_same_failure_on_both_sides(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", EXAMPLE, EXAMPLE]) == 1
    assert lines(capsys)[0].startswith("✗ Both logs show the same failure: The KV cache cannot hold")


def test_nothing_stands_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "tests/fixtures/clean/v1-0.8.5-tp4.log", "tests/fixtures/real/port-in-use.log"]) == 1
    assert lines(capsys)[0] == "✗ What made the difference is not clear from these logs"


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", CLEAN, EXAMPLE, "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["exit_code"] == 1 and document["clear"] is True
    assert document["suspects"][0] == {
        "kind": "argument",
        "name": "max_model_len",
        "old": "8192",
        "new": None,
        "text": "--max-model-len: 8192 → not set (131,072 tokens)",
    }
    assert document["new"]["rule"] == "max-model-len-exceeds-kv-cache"
    assert {row["name"]: row["kind"] for row in document["differences"]}["kv_cache_tokens"] is None


def test_bad_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prose = tmp_path / "prose.log"
    prose.write_text("Dear diary,\nnothing happened today.\n", encoding="utf-8")
    assert run(["compare", CLEAN, str(prose)]) == 2
    assert "holds no output of vLLM" in capsys.readouterr().err
    assert run(["compare", CLEAN, str(tmp_path / "missing.log")]) == 2
    assert run(["compare", "-", "-"]) == 2
    assert "standard input" in capsys.readouterr().err


def test_secrets_and_names_are_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path(EXAMPLE).read_text(encoding="utf-8")
    secret = "Zq81mPx0Lw77Rt5vKd93"
    marked = text.replace("'model_tag':", f"'api_key': ['{secret}'], 'download_dir': '/home/alice/hub', 'model_tag':")
    assert marked != text
    changed = tmp_path / "new.log"
    changed.write_text(marked, encoding="utf-8")
    for form in ("text", "json"):
        run(["compare", CLEAN, str(changed), "--format", form])
        shown = capsys.readouterr().out
        assert "download-dir" in shown
        assert secret not in shown and "alice" not in shown
