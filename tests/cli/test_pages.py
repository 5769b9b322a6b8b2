"""The address of a rule's page: only where a site is configured, and never for a user's own rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from vllmdoctor.cli.app import run
from vllmdoctor.report.pages import PACKAGED_ADDRESS, rule_page, site_address

RULE = "max-model-len-exceeds-kv-cache"
SITE = "https://docs.example.org/vllmdoctor"


@pytest.mark.parametrize(
    "value, address",
    [
        (SITE, SITE + "/"),
        (SITE + "///", SITE + "/"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/"),
        ("", ""),
        ("javascript:alert(1)", ""),
        ("docs.example.org", ""),
    ],
)
def test_only_an_http_address_is_a_site(value: str, address: str) -> None:
    assert site_address({"VLLMDOCTOR_SITE": value}) == address


def test_no_site_is_configured_by_default() -> None:
    assert site_address({}) == PACKAGED_ADDRESS == ""
    assert rule_page(RULE, "en", "") == ""


@pytest.mark.parametrize("output_format", ["text", "markdown"])
@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_page_takes_the_place_of_the_command(
    output_format: str,
    language: str,
    checkout: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = str(checkout / "examples" / "startup.log")
    page = f"{SITE}/{language}/rules/{RULE}/"
    command = f"vllmdoctor explain {RULE}"
    arguments = ["analyze", log, "--format", output_format, "--lang", language]
    assert run(arguments) == 1
    plain = capsys.readouterr().out
    assert command in plain and page not in plain
    monkeypatch.setenv("VLLMDOCTOR_SITE", SITE)
    assert run(arguments) == 1
    linked = capsys.readouterr().out
    assert page in linked and command not in linked  # on one line: it was found as a whole


def test_the_report_for_programs_is_the_same_with_and_without_a_site(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    arguments = ["analyze", str(checkout / "examples" / "startup.log"), "--format", "json"]
    run(arguments)
    plain = capfdbinary.readouterr().out
    monkeypatch.setenv("VLLMDOCTOR_SITE", SITE)
    run(arguments)
    assert capfdbinary.readouterr().out == plain


def test_a_rule_of_the_users_own_has_no_page(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / f"{RULE}.yaml"
    own.write_text((checkout / "rules" / "memory" / own.name).read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setenv("VLLMDOCTOR_SITE", SITE)
    run(["analyze", str(checkout / "examples" / "startup.log"), "--rules", str(tmp_path)])
    shown = capsys.readouterr().out
    assert SITE not in shown and f"vllmdoctor explain {RULE}" in shown
