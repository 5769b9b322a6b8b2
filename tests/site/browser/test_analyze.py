"""The page on which a log is pasted, in Chromium: the command's own answers, nothing uploaded, usable by keyboard."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.site.browser.test_accessibility import axe, violations  # noqa: F401
from tests.site.built_engine import CHECKOUT, needs_node
from vllmdoctor import __version__
from vllmdoctor.analysis import analyze_inputs
from vllmdoctor.languages import LANGUAGES
from vllmdoctor.report.json import report_json

pytestmark = [needs_node, pytest.mark.slow]

FIXTURES = CHECKOUT / "tests" / "fixtures"
STARTUP = CHECKOUT / "examples" / "startup.log"
TEN = [
    STARTUP,
    *(FIXTURES / "real" / f"{name}.log" for name in ("port-in-use", "sigkill-worker", "json-logging", "weights-shape")),
    *(
        FIXTURES / "real" / f"{name}.log"
        for name in ("pty-colour-failure", "missing-main-guard", "client-context-length")
    ),
    *(FIXTURES / "clean" / f"{name}.log" for name in ("utf16-0.11.0", "v1-0.32.0")),
]
FIRST_REPORT_MS = 60_000  # with the loading of the engine, on a machine that other tests share

Open = Callable[..., Any]


@pytest.fixture
def analyzer(open_page: Open) -> Callable[..., Any]:
    def opened(language: str = "en", **options: Any) -> Any:
        return open_page(f"{language}/analyze/", **options).page

    return opened


def report_of(page: Any) -> str:
    """The report as JSON, when it has come, as the page's button saves it."""
    page.locator("#vd-results:not([hidden]) .vd-report").wait_for(timeout=FIRST_REPORT_MS)
    with page.expect_download() as download:
        page.click("#vd-save-json")
    return Path(download.value.path()).read_text(encoding="utf-8")


def printed(names: list[str], language: str = "en", tables: tuple[str, ...] = ()) -> str:
    return report_json(analyze_inputs(names, nvidia_smi=tables, language=language), version=__version__)


def test_ten_logs_answer_as_the_command_does(
    analyzer: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = analyzer()
    for path in TEN:
        Path(path.name).write_bytes(path.read_bytes())
        page.set_input_files("#vd-file", tmp_path / path.name)
        page.click("#vd-analyze")
        assert report_of(page) == printed([path.name]), path.name
        page.click("#vd-clear")
    assert "1 INFO" not in page.inner_text("#vd-report")


@pytest.mark.parametrize("language", LANGUAGES)
def test_pasting_in_every_language(
    analyzer: Callable[..., Any], language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = STARTUP.read_text(encoding="utf-8")
    table = (CHECKOUT / "examples" / "nvidia-smi.txt").read_text(encoding="utf-8")
    Path("pasted.log").write_text(text, encoding="utf-8")
    Path("nvidia-smi.txt").write_text(table, encoding="utf-8")
    page = analyzer(language)
    page.fill("#vd-log", text)
    page.click("details:has(#vd-table) > summary")
    page.fill("#vd-table", table)
    page.locator("#vd-log").press("Control+Enter")
    assert report_of(page) == printed(["pasted.log"], language, ("nvidia-smi.txt",))
    assert page.locator(".vd-report").get_attribute("lang") == language
    assert page.locator(".vd-receipt svg[role=img]").count() == 1
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    rule = page.locator(".vd-status a")
    assert rule.get_attribute("href") == "../rules/max-model-len-exceeds-kv-cache/"
    page.wait_for_load_state("networkidle")  # leaving would break off what still loads, which is no fault of the page
    rule.click()
    page.wait_for_url(f"**/{language}/rules/max-model-len-exceeds-kv-cache/")
    page.wait_for_load_state("networkidle")
    assert page.locator("h1").count() == 1


def test_several_files_also_compressed(
    analyzer: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rank0.log.gz").write_bytes(gzip.compress((FIXTURES / "real" / "gloo-bad-ifname.log").read_bytes(), mtime=0))
    Path("rank1.log").write_bytes((FIXTURES / "real" / "execute-timeout.log").read_bytes())
    page = analyzer()
    page.set_input_files("#vd-file", [tmp_path / "rank0.log.gz", tmp_path / "rank1.log"])
    assert page.locator("#vd-chosen li").count() == 2
    page.click("#vd-analyze")
    assert report_of(page) == printed(["rank0.log.gz", "rank1.log"])
    assert page.locator("#vd-input option").all_inner_texts() == ["rank0.log.gz", "rank1.log"]


def test_evidence_leads_to_the_log_and_back_and_commands_are_copied(analyzer: Callable[..., Any]) -> None:
    page = analyzer(permissions=["clipboard-read", "clipboard-write"])
    page.click("[data-example=kv-cache]")
    report_of(page)
    proof = page.locator(".vd-evidence .vd-line").first
    line = proof.get_attribute("data-line")
    proof.focus()
    page.keyboard.press("Enter")
    marked = page.locator(".vd-row--marked")
    assert marked.locator(".vd-number").inner_text() == line
    assert "To serve at least one request" in marked.inner_text()
    assert page.evaluate("document.activeElement.id") == "vd-lines"
    box, row = page.locator("#vd-lines").bounding_box(), marked.bounding_box()
    assert box["y"] <= row["y"] <= box["y"] + box["height"]
    page.click("#vd-back")
    assert page.evaluate("document.activeElement.dataset.line") == line
    page.click("#vd-copy-markdown")
    page.locator("#vd-state:has-text('Copied')").wait_for()
    assert page.evaluate("navigator.clipboard.readText()").startswith("## ✗ The KV cache cannot hold one request")
    page.locator(".vd-fix .vd-copy").first.click()
    page.wait_for_timeout(200)
    assert page.evaluate("navigator.clipboard.readText()").startswith("vllm serve meta-llama/Llama-3.1-8B-Instruct")


def test_the_answer_is_announced_and_focused(analyzer: Callable[..., Any]) -> None:
    page = analyzer()
    page.click("[data-example=port-in-use]")
    report_of(page)
    assert page.locator("#vd-state").get_attribute("role") == "status"
    page.click("[data-example=healthy]")
    page.locator(".vd-report[data-status=healthy]").wait_for(timeout=FIRST_REPORT_MS)
    assert "Done in" in page.inner_text("#vd-state")
    assert page.evaluate("document.activeElement.tagName") == "H2"


def test_a_log_from_the_search_is_analyzed_at_once(analyzer: Callable[..., Any]) -> None:
    page = analyzer()
    text = (FIXTURES / "real" / "port-in-use.log").read_text(encoding="utf-8")
    page.evaluate("text => sessionStorage.setItem('vllmdoctor-paste', text)", text)
    page.wait_for_load_state("networkidle")
    page.reload()
    assert json.loads(report_of(page))["findings"][0]["rule"] == "port-in-use"
    assert page.evaluate("sessionStorage.getItem('vllmdoctor-paste')") is None


def test_nothing_is_loaded_before_the_visitor_starts(analyzer: Callable[..., Any]) -> None:
    asked: list[str] = []
    page = analyzer()
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_load_state("networkidle")
    page.reload()
    page.wait_for_load_state("networkidle")
    assert not [url for url in asked if "/engine/" in url]
    page.focus("#vd-log")
    page.locator("#vd-state:has-text('ready')").wait_for(timeout=FIRST_REPORT_MS)
    assert [url for url in asked if "/engine/manifest.json" in url]


def test_candidates_while_it_loads(analyzer: Callable[..., Any]) -> None:
    page = analyzer()
    page.context.route("**/catalogue.en.json*", lambda route: held.append(route))
    held: list[Any] = []
    page.fill("#vd-log", STARTUP.read_text(encoding="utf-8"))
    page.click("#vd-analyze")
    first = page.locator("#vd-candidates a").first
    first.wait_for(timeout=FIRST_REPORT_MS)
    assert first.get_attribute("href") == "../rules/max-model-len-exceeds-kv-cache/"
    assert "no diagnosis" in page.inner_text("#vd-candidates")
    while not held:
        page.wait_for_timeout(100)
    held[0].continue_()
    report_of(page)
    assert page.locator("#vd-candidates").is_hidden()


class Foreign(BaseHTTPRequestHandler):
    """Another origin, which takes requests from anywhere."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def foreign() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Foreign) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_neither_page_nor_worker_can_send_anything_elsewhere(browser: Any, address: str, foreign: str) -> None:
    """The policy is what the page promises; it has to hold for the worker, in which the log is."""
    page = browser.new_page()
    page.goto(f"{address}en/analyze/")
    page.click("[data-example=port-in-use]")
    page.locator(".vd-report").wait_for(timeout=FIRST_REPORT_MS)
    sends = "url => fetch(url).then(() => 'reached', () => 'refused')"
    (worker,) = [one for one in page.workers if one.url.startswith("blob:")]  # another one serves the theme's search
    assert page.evaluate(sends, foreign + "page") == "refused"
    assert worker.evaluate(sends, foreign + "worker") == "refused"
    assert Foreign.asked == []
    page.close()


def test_a_large_log_in_seconds(analyzer: Callable[..., Any], tmp_path: Path) -> None:
    line = "INFO 11-28 09:00:00 [loggers.py:127] Engine 000: Avg prompt throughput: 7.0 tokens/s, Running: 3 reqs\n"
    text = line * 50_000 + STARTUP.read_text(encoding="utf-8")
    (tmp_path / "large.log").write_text(text, encoding="utf-8")
    page = analyzer()
    page.set_input_files("#vd-file", tmp_path / "large.log")
    page.click("#vd-analyze")
    report = json.loads(report_of(page))
    assert report["findings"][0]["rule"] == "max-model-len-exceeds-kv-cache"
    assert report["findings"][0]["evidence"][0]["line"] == 50_053
    assert float(page.inner_text("#vd-state").split()[2]) <= 20
    assert page.locator(".vd-row--marked .vd-number").inner_text() == "50053"
    page.click("#vd-earlier")
    page.wait_for_timeout(200)
    assert page.locator(".vd-row").count() > 300


def test_too_much_is_refused_politely(analyzer: Callable[..., Any], tmp_path: Path) -> None:
    huge = tmp_path / "huge.log"
    with huge.open("wb") as file:
        file.truncate(51 << 20)
    page = analyzer()
    page.set_input_files("#vd-file", huge)
    page.click("#vd-analyze")
    said = page.inner_text("#vd-problem")
    assert "51 MB" in said and "vllmdoctor analyze" in said


def test_what_cannot_be_read_is_told(analyzer: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "broken.log.gz").write_bytes(b"\x1f\x8b\x08\x00garbage")
    page = analyzer("ja")
    page.click("#vd-analyze")
    assert page.inner_text("#vd-problem") != ""
    page.set_input_files("#vd-file", tmp_path / "broken.log.gz")
    page.click("#vd-analyze")
    page.locator("#vd-problem:has-text('broken.log.gz')").wait_for(timeout=FIRST_REPORT_MS)
    assert page.locator("#vd-results").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_has_no_grave_violation(analyzer: Callable[..., Any], axe: str, scheme: str) -> None:  # noqa: F811
    page = analyzer(scheme=scheme)
    page.click("[data-example=kv-cache]")
    report_of(page)
    page.evaluate("document.querySelectorAll('.vd-report details').forEach(one => one.open = true)")
    page.locator(".vd-evidence .vd-line").first.click()
    page.wait_for_timeout(300)  # colours fade in
    assert violations(page, axe) == []


def test_without_scripts_the_command_line_is_named(analyzer: Callable[..., Any]) -> None:
    page = analyzer(scripts=False)
    assert "vllmdoctor analyze FILE" in page.inner_text("#vd-app noscript")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_calculator(open_page: Open, language: str) -> None:
    page = open_page(f"{language}/guide/memory/").page
    page.click("#vd-example")
    page.locator("#vd-estimate .vd-plan[data-verdict=does-not-fit]").wait_for(timeout=FIRST_REPORT_MS)
    assert page.locator("#vd-estimate svg").count() == 1
    page.fill("#vd-length", "8192")
    page.fill("#vd-model", "meta-llama/Llama-3.1-8B-Instruct")
    page.locator("#vd-length").press("Enter")
    page.locator("#vd-estimate .vd-plan[data-verdict=fits]").wait_for(timeout=FIRST_REPORT_MS)
    command = page.locator("#vd-estimate pre").first.inner_text()
    assert command == "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 8192"
    page.fill("#vd-config", "{}")
    page.locator("#vd-plan button[type=submit]").click()
    page.locator("#vd-problem:has-text('config.json')").wait_for()
