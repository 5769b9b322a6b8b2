"""The analyzer's page and the calculator: what their scripts look for is there, in every language."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from tests.site.built_engine import CHECKOUT, SCRIPTS
from vllmdoctor.errors import UsageError
from vllmdoctor.languages import LANGUAGES
from vllmdoctor.memory.gpus import gpu_choices, gpu_from
from vllmdoctor.site.engine import EXAMPLES
from vllmdoctor.site.pages import analyze, calculator

PAGES = {"analyze.mjs": analyze.page, "calculator.mjs": calculator.widget}
SHARED = ("page-tools.mjs", "log-pane.mjs")


class Elements(HTMLParser):
    """Every element with its attributes."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def having(self, attribute: str) -> list[str | None]:
        return [attributes[attribute] for _, attributes in self.found if attribute in attributes]


def script(name: str) -> str:
    return (SCRIPTS / name).read_text(encoding="utf-8")


def sentences(source: str) -> dict[str, str]:
    found = re.search(r'<script type="application/json" id="vd-sentences">(.*?)</script>', source)
    assert found
    loaded: dict[str, str] = json.loads(found[1])
    return loaded


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", PAGES)
def test_what_a_script_looks_for_is_there(name: str, language: str) -> None:
    source = PAGES[name](language)
    ids = Elements(source).having("id")
    assert len(ids) == len(set(ids))
    code = script(name) + (script("log-pane.mjs") if name == "analyze.mjs" else "")
    assert set(re.findall(r'byId\("([\w-]+)"\)', code)) <= set(ids)
    assert '"vd-sentences"' in code
    said = sentences(source)
    wanted = set(re.findall(r'say\((?:\w+(?:\.\w+)? \? )?"(\w+)"', code)) | set(
        re.findall(r'\? "(\w+)" : "\w+"\)', code)
    )
    assert wanted <= set(said)
    assert {"python", "rules"} <= set(said)  # the stages of loading


@pytest.mark.parametrize("language", ["vi", "ja"])
@pytest.mark.parametrize("name", PAGES)
def test_every_sentence_is_translated_with_its_places(name: str, language: str) -> None:
    english, translated = sentences(PAGES[name]("en")), sentences(PAGES[name](language))
    for key, text in english.items():
        assert translated[key] != text, key
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", translated[key])), key


@pytest.mark.parametrize("name", PAGES)
def test_every_control_has_a_label(name: str) -> None:
    elements = Elements(PAGES[name]("en"))
    labelled = set(elements.having("for"))
    for tag, attributes in elements.found:
        if tag in ("textarea", "select", "input"):
            assert attributes["id"] in labelled or "aria-label" in attributes or attributes["id"] == "vd-wrap"


@pytest.mark.parametrize("name", PAGES)
def test_no_handlers_and_no_empty_line_within_the_block(name: str) -> None:
    """An empty line would end the HTML in the Markdown; handlers have no place beside a script."""
    source = PAGES[name]("en")
    block = source[source.index('<div class="vd-app') : source.rindex("</script>")]
    assert "\n\n" not in block
    assert not re.search(r"\son\w+=", block)


def test_every_example_is_shipped() -> None:
    elements = Elements(analyze.page("en"))
    names = [str(name) for name in elements.having("data-example")]
    assert [f"{name}.log" for name in names] == [name for name in EXAMPLES if name.endswith(".log")]
    assert all((CHECKOUT / source).is_file() for source in EXAMPLES.values())
    with_table = [a["data-example"] for _, a in elements.found if "data-table" in a]
    assert [f"{name}.nvidia-smi.txt" for name in with_table] == [n for n in EXAMPLES if n.endswith(".txt")]


def test_the_page_has_its_template_and_promises_what_the_policy_holds() -> None:
    page = analyze.page("en")
    assert 'template: "analyze.html"' in page
    assert "connect-src 'self'" in page
    template = (SCRIPTS.parents[1] / "analyze.html").read_text(encoding="utf-8")
    assert "connect-src 'self';" in template and "'wasm-unsafe-eval'" in template and "form-action 'none'" in template
    # A worker from an address would not be held by the page's policy.
    assert "worker-src 'self' blob:" in template and "URL.createObjectURL" in script("engine-client.mjs")


def test_every_gpu_of_the_calculator_is_one_that_plan_takes() -> None:
    choices = gpu_choices()
    assert len(set(choices)) == len(choices) > 30
    for choice in choices:
        try:
            assert gpu_from(choice).kind.total_gib > 0
        except UsageError as problem:
            pytest.fail(str(problem))
