"""axe-core on every kind of page, light and dark: no serious and no critical violation, the theme's own included."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.site.browser.test_pages import KINDS

GRAVE = ("serious", "critical")


@pytest.fixture(scope="session")
def axe(npm: Path | None) -> str:
    source = npm / "axe-core" / "axe.min.js" if npm else None
    if source is None or not source.is_file():
        pytest.skip("axe-core is not installed: run `make browser` (needs npm)")
    return source.read_text(encoding="utf-8")


def violations(page: Any, axe: str) -> list[str]:
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:160]} {node['failureSummary'][:300]}"
        for one in found
        if one["impact"] in GRAVE
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_grave_violation(open_page: Callable[..., Any], axe: str, kind: str, scheme: str) -> None:
    page = open_page(f"en/{KINDS[kind]}", scheme=scheme).page
    page.wait_for_timeout(300)  # colours fade in
    assert violations(page, axe) == []


@pytest.mark.parametrize("language", ["vi", "ja"])
def test_no_grave_violation_in_other_languages(open_page: Callable[..., Any], axe: str, language: str) -> None:
    for kind in ("rule", "analyze"):
        assert violations(open_page(f"{language}/{KINDS[kind]}", scheme="dark").page, axe) == []


def test_no_grave_violation_in_search_results(open_page: Callable[..., Any], axe: str) -> None:
    page = open_page("en/").page
    page.keyboard.press("s")
    page.keyboard.type("KV cache")
    page.locator(".md-search-result__item").first.wait_for()
    assert violations(page, axe) == []
