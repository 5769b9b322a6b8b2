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


SCHEMES = pytest.mark.parametrize("scheme", ["light", "dark"])


def unfolded(page: Any) -> Any:
    page.evaluate("document.querySelectorAll('article details').forEach(one => one.open = true)")
    # Two thousand rows of one kind would take half a minute.
    page.evaluate("document.querySelectorAll('.message-list li:nth-child(n + 50)').forEach(one => one.remove())")
    page.wait_for_timeout(300)  # colours fade in
    return page


@SCHEMES
@pytest.mark.parametrize("kind", [*KINDS, "404"])
def test_no_grave_violation(open_page: Callable[..., Any], axe: str, kind: str, scheme: str) -> None:
    path = KINDS.get(kind, "404.html")
    assert violations(unfolded(open_page(f"en/{path}", scheme=scheme).page), axe) == []


@SCHEMES
@pytest.mark.parametrize("kind", ["rule", "guide", "reference"])
def test_no_grave_violation_on_a_phone(open_page: Callable[..., Any], axe: str, kind: str, scheme: str) -> None:
    assert violations(unfolded(open_page(f"ja/{KINDS[kind]}", scheme=scheme, width=390).page), axe) == []


@pytest.mark.parametrize("language", ["vi", "ja"])
def test_no_grave_violation_in_other_languages(open_page: Callable[..., Any], axe: str, language: str) -> None:
    for kind in ("home", "rule", "analyze"):
        assert violations(unfolded(open_page(f"{language}/{KINDS[kind]}", scheme="dark").page), axe) == []


@pytest.mark.parametrize("path", ["", "404.html"])
def test_no_grave_violation_beside_the_languages(open_page: Callable[..., Any], axe: str, path: str) -> None:
    # Without its script the start page stays; axe needs scripts.
    page = open_page("404.html").page
    if not path:
        page.route("**/start.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
        page.goto(page.url.replace("404.html", ""))
    assert violations(page, axe) == []


@SCHEMES
def test_no_grave_violation_in_search_results(open_page: Callable[..., Any], axe: str, scheme: str) -> None:
    page = open_page("en/", scheme=scheme).page
    page.keyboard.press("s")
    page.keyboard.type("no available memory for the cache blocks")
    page.locator(".search-best").first.wait_for()
    page.locator(".md-search-result__item").first.wait_for()
    page.wait_for_timeout(500)
    # axe takes no stand on text above a moving background; this one once had the header's white on white.
    paper, *inks = page.evaluate(
        "['.md-search__output', '.search-label', '.search-above code', '.search-best'].map(name => {"
        " const style = getComputedStyle(document.querySelector(name));"
        " return name === '.md-search__output' ? style.backgroundColor : style.color; })"
    )
    assert paper not in inks and len(inks) == 3
    assert violations(page, axe) == []
