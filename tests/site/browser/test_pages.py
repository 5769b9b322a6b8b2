"""The pages as a reader meets them: in three languages, light and dark, wide and narrow, with and without scripts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

LANGUAGES = ("en", "vi", "ja")
RULE = "max-model-len-exceeds-kv-cache"
KINDS = {
    "home": "",
    "rule": f"rules/{RULE}/",
    "remedy": "remedies/raise-gpu-memory-utilization/",
    "category": "categories/memory/",
    "messages": "messages/",
    "analyze": "analyze/",
    "guide": "guide/memory/",
    "reference": "reference/cli/",
}
TITLES = {
    "en": "The KV cache cannot hold one request of full length",
    "vi": "KV cache không chứa nổi một request có độ dài tối đa",
    "ja": "KVキャッシュに最大長のリクエスト1件が収まらない",
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_page_loads_from_here_alone_and_fits_a_phone(open_page: Callable[..., Any], kind: str, language: str) -> None:
    page = open_page(f"{language}/{KINDS[kind]}", width=390).page
    assert page.evaluate("document.documentElement.lang") == language
    wide = page.evaluate("document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth")
    assert wide <= 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_rule_page_is_in_its_language_with_english_ids(open_page: Callable[..., Any], language: str) -> None:
    page = open_page(f"{language}/rules/{RULE}/").page
    assert page.locator("h1").inner_text().rstrip("¶").strip() == TITLES[language]
    headings = page.locator("article h2[id]").evaluate_all("found => found.map(one => one.id)")
    assert headings == [
        "message", "meaning", "example", "causes", "fixes", "does-not-help", "verify", "wordings", "related",
        "references", "more",
    ]  # fmt: skip
    output = page.locator("#example ~ div.highlight, #example ~ .language-text").all_inner_texts()
    assert any("39" in text and RULE in text for text in output)  # the analyzer's own words on the example


def test_tabs_change_together_and_code_is_copied(open_page: Callable[..., Any]) -> None:
    page = open_page(f"en/rules/{RULE}/", permissions=["clipboard-read", "clipboard-write"]).page
    first = page.locator("#fix-lower-max-model-len ~ .tabbed-set").first
    first.get_by_text("Kubernetes", exact=True).click()
    assert first.locator(".tabbed-block:visible").inner_text().lstrip().startswith("args:")
    others = page.locator(".tabbed-set").nth(2).locator(".tabbed-block:visible")
    assert others.inner_text().lstrip().startswith("args:")  # one choice holds for every set of tabs
    first.get_by_text("Command line", exact=True).click()
    first.locator(".tabbed-block:visible").hover()
    first.locator(".tabbed-block:visible button").first.click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("vllm serve MODEL --max-model-len")


@pytest.mark.parametrize("scripts", [True, False])
def test_switcher_keeps_the_page_without_scripts_too(
    open_page: Callable[..., Any], address: str, scripts: bool
) -> None:
    page = open_page(f"en/rules/{RULE}/", scripts=scripts).page
    links = page.locator("header .md-select__link")
    targets = [link.get_attribute("href") for link in links.all()]
    resolved = [page.url.replace("/en/", f"/{language}/") for language in LANGUAGES]
    page.locator("header .md-select button").hover()
    links.nth(2).click()
    page.wait_for_url(f"{address}ja/rules/{RULE}/")
    assert page.locator("h1").inner_text().rstrip("¶").strip() == TITLES["ja"]
    assert len(targets) == len(resolved) == 3


def test_switcher_keeps_the_place_on_the_page(open_page: Callable[..., Any], address: str) -> None:
    page = open_page(f"vi/rules/{RULE}/#does-not-help").page
    page.locator("header .md-select button").hover()
    page.locator("header .md-select__link[hreflang=en]").click()
    page.wait_for_url(f"{address}en/rules/{RULE}/#does-not-help")


@pytest.mark.parametrize("wish, language", [("ja-JP", "ja"), ("vi-VN", "vi"), ("de-DE", "en"), ("en-US", "en")])
def test_root_goes_to_the_readers_language(
    open_page: Callable[..., Any], address: str, wish: str, language: str
) -> None:
    page = open_page("", locale=wish).page
    page.wait_for_url(f"{address}{language}/")


def test_root_without_scripts_offers_all_languages(open_page: Callable[..., Any]) -> None:
    page = open_page("", scripts=False).page
    assert page.locator("a[data-language]").count() == 3


def test_dark_mode_follows_the_system_and_the_button(open_page: Callable[..., Any]) -> None:
    page = open_page("ja/", scheme="dark").page
    assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"
    page.locator("form[data-md-component=palette] label:visible").click()
    assert page.locator("body").get_attribute("data-md-color-scheme") == "default"


def test_messages_are_filtered(open_page: Callable[..., Any]) -> None:
    page = open_page("en/messages/").page
    rows = page.locator(".message-list li:visible")
    before = rows.count()
    page.locator("#message-filter").fill("no available memory for the cache blocks")
    after = rows.all_inner_texts()
    assert 0 < len(after) < before / 20
    assert all("no available memory for the cache blocks" in text.lower() for text in after)
    assert page.locator("output[for=message-filter]").inner_text().startswith(str(len(after)))


def test_keyboard_alone_reaches_content_and_search(open_page: Callable[..., Any]) -> None:
    page = open_page(f"en/rules/{RULE}/").page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.matches('a.md-skip')")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    # After the link that skips the header the next stop is in the content, and it can be seen.
    assert page.evaluate("document.activeElement.closest('article') !== null")
    assert page.evaluate("document.activeElement.matches(':focus-visible')")
    page.keyboard.press("s")
    assert page.evaluate("document.activeElement.name") == "query"
    page.keyboard.type("no-cache-blocks")
    page.locator("a.search-best").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**/en/rules/no-cache-blocks/**")


def test_keyboard_alone_unfolds_changes_tabs_and_language(open_page: Callable[..., Any]) -> None:
    page = open_page(f"en/rules/{RULE}/").page
    page.locator("details.example summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("details.example pre").first.is_visible()
    page.locator("#fix-lower-max-model-len ~ .tabbed-set input").first.focus()
    page.keyboard.press("ArrowRight")
    blocks = page.locator("#fix-lower-max-model-len ~ .tabbed-set").first.locator(".tabbed-block:visible")
    assert blocks.inner_text().lstrip().startswith("LLM(")
    page.locator("header .md-select button").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.hreflang") == "vi"
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/vi/rules/{RULE}/")


def test_print_shows_what_is_folded(open_page: Callable[..., Any]) -> None:
    page = open_page(f"en/rules/{RULE}/").page
    log = page.locator("details.example pre").first
    assert not log.is_visible()
    page.emulate_media(media="print")
    assert not page.locator("header.md-header").is_visible()
    assert log.is_visible()
    blocks = page.locator("#fix-lower-max-model-len ~ .tabbed-set").first.locator(".tabbed-block:visible")
    assert blocks.count() == 4
    wide = page.evaluate("document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth")
    assert wide <= 0


@pytest.mark.parametrize("path", [f"rules/{RULE}/", "reference/cli/", "guide/memory/"])
def test_names_in_tables_stay_whole(open_page: Callable[..., Any], path: str) -> None:
    """On a phone a table scrolls for itself instead of breaking `--max-model-len` in two."""
    page = open_page(f"en/{path}", width=390).page
    names = page.locator("article table:not(.wordings table) td code")
    lines = names.evaluate_all(
        "found => found.filter(one => /^[-\\w]{8,30}$/.test(one.textContent)).map(one => one.getClientRects().length)"
    )
    assert lines and set(lines) == {1}


def test_start_page_hands_its_paste_to_the_analyzer(open_page: Callable[..., Any], address: str) -> None:
    page = open_page("vi/").page
    page.locator("#paste").fill("ValueError: No available memory for the cache blocks.")
    page.locator("form.paste-box button").click()
    page.wait_for_url(f"{address}vi/analyze/")
    page.wait_for_function("document.querySelector('#vd-log').value.includes('No available memory')")


def test_every_page_forbids_other_hosts(open_page: Callable[..., Any]) -> None:
    for kind in KINDS.values():
        policy = (
            open_page(f"en/{kind}").page.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
        )
        rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
        assert rules["default-src"] == rules["connect-src"] == "'self'"
        assert rules["form-action"] == rules["object-src"] == "'none'"
        assert ("'wasm-unsafe-eval'" in rules["script-src"]) == (kind in ("analyze/", "guide/memory/"))
