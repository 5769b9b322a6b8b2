"""The report as HTML: what it says and in what order, and that nothing in a log becomes markup."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.report import builders as made
from vllmdoctor.diagnosis.model import CAUSE_NOT_IN_LOG, HEALTHY, NO_VLLM_LOG, UNRECOGNIZED, ChosenFix, Diagnosis
from vllmdoctor.memory.config import read_config
from vllmdoctor.memory.files import ModelFiles
from vllmdoctor.memory.plan import NO
from vllmdoctor.memory.planning import PlanOptions, planned
from vllmdoctor.memory.receipt import Receipt, receipt_of
from vllmdoctor.report.build import build_report
from vllmdoctor.report.html import plan_html, report_html
from vllmdoctor.report.html.markup import code_block, element, inline, link, paragraphs
from vllmdoctor.report.html.receipt import receipt_figure
from vllmdoctor.report.words import Words
from vllmdoctor.rules.texts import parse_text

HOSTILE = (
    '<script>alert(1)</script> <img src=x onerror=alert(1)> "\' onclick="x" </code></button></section> &lt;b&gt; '
    "[a](javascript:alert(1)) <https://192.0.2.1/> `</code><b>` **<i>**\n- <u>\n```\n</pre><b>"
)
VOID = {"br", "wbr", "rect", "path", "line"}
TAGS = set(
    "a button code details div em figure h2 h3 h4 li ol p pre section span strong summary table tbody td th thead tr "
    "ul".split()
)
ATTRIBUTES = set(
    "aria-hidden aria-label class data-copy data-input data-line data-status data-verdict href lang rel role scope start "
    "tabindex title type".split()
)


@dataclass
class Parsed(HTMLParser):
    """The elements of a piece of HTML; an element that is not closed where it was opened fails."""

    source: str
    opened: list[str] = field(default_factory=list)
    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(self.source)
        self.close()
        assert self.opened == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.opened.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.opened[-1] if self.opened else "", data))

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self) -> str:
        return "".join(data for _, data in self.texts)


def page(diagnosis: Diagnosis, *, redact: bool = True) -> str:
    report = build_report(diagnosis, made.CATALOGUE, made.INPUTS, redact=redact)
    return report_html(report, language="en", rule_url=lambda rule: f"../rules/{rule}/")


def assert_harmless(source: str) -> Parsed:
    """Only elements and attributes of ours, and links to our rules and the rules' own references."""
    parsed = Parsed(source)
    for tag, attributes in parsed.elements:
        assert tag in TAGS
        assert set(attributes) <= ATTRIBUTES
        if tag == "a":
            href = attributes["href"] or ""
            assert href.startswith(("../rules/", "https://docs.vllm.ai/")), href
    return parsed


def in_order(text: str, *parts: str) -> bool:
    places = [text.find(part) for part in parts]
    return -1 not in places and places == sorted(places)


def test_a_failure_says_the_answer_first() -> None:
    parsed = assert_harmless(page(made.failure()))
    assert in_order(
        parsed.text(),
        "✗ The KV cache cannot hold one request of 32,768 tokens",
        "vLLM failed · max-model-len-exceeds-kv-cache",
        "startup.log:41 EngineCore " + made.MESSAGE,
        "One request needs 4.00 GiB of KV cache, 2.50 GiB is left.",
        "Check first",
        "Why here",
        "Long context (confirmed; context length: 32,768 tokens)",
        "Fixes",
        "Lower the context length to 20,480 tokens (costs: shorter prompts)",
        "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 20480",
        "Store the KV cache in fp8 (costs: small accuracy loss)",
        "depends on memory of other processes, not known from this log",
        "Causes",
        "(ruled out; KV cache memory: 2.50 GiB)",
        "Does not help",
        "Then expect",
        "GPU KV cache size: ≥ 20,490 tokens",
        "Also in the log",
        "(wrapper, line 97)",
        "(warning, line 12)",
        "Read more",
        "6 facts",
        "estimated_max_model_len",
    )
    assert parsed.elements[0] == ("section", {"class": "vd-report", "lang": "en", "data-status": "failure"})


def test_headings_go_down_one_level_at_a_time() -> None:
    for diagnosis in (made.failure(), *made.others().values()):
        levels = [int(tag[1]) for tag, _ in Parsed(page(diagnosis)).elements if re.fullmatch(r"h\d", tag)]
        assert levels[0] == 2
        assert all(after <= before + 1 for before, after in pairwise(levels))


def test_every_quoted_line_leads_to_the_log() -> None:
    buttons = [one for one in Parsed(page(made.failure())).named("button") if "data-line" in one]
    places = {(one["data-input"], one["data-line"]) for one in buttons}
    assert {("0", "41"), ("0", "97"), ("0", "12")} <= places
    assert all(one["type"] == "button" and one["title"] for one in buttons)


def test_every_command_has_a_copy_button_with_its_form() -> None:
    parsed = Parsed(page(made.failure()))
    text = parsed.text()
    assert in_order(text, "Command line", "vllm serve", "Python", "LLM(model=", "Kubernetes", "args: [")
    assert len([one for one in parsed.named("button") if "data-copy" in one]) >= 4


def test_rules_are_linked() -> None:
    links = {one["href"] for one in Parsed(page(made.failure())).named("a")}
    assert {"../rules/max-model-len-exceeds-kv-cache/", "../rules/engine-core-init-failed/"} <= links


def test_fixes_after_the_third_are_folded_and_numbered_on() -> None:
    fixes = tuple(ChosenFix(replace(made.RULE.fixes[1], id=f"fix-{n}"), True) for n in range(5))
    parsed = Parsed(page(replace(made.failure(), findings=(replace(made.root_finding(), fixes=fixes),))))
    assert "2 more fixes" in parsed.text()
    assert [one.get("start") for one in parsed.named("ol")] == [None, "4"]


def test_other_statuses() -> None:
    diagnoses = made.others()
    healthy = Parsed(page(diagnoses[HEALTHY]))
    assert in_order(healthy.text(), "✓ No failure in this log; 1 warning", "Swap is large")
    unknown = Parsed(page(diagnoses[UNRECOGNIZED])).text()
    assert in_order(unknown, "? vLLM failed with an error that no rule knows", "startup.log:63", "Last good phase")
    missing = Parsed(page(diagnoses[CAUSE_NOT_IN_LOG])).text()
    assert in_order(missing, "? vLLM failed, but the cause is not in this log", "startup.log:97", "To name the cause")
    assert in_order(Parsed(page(diagnoses[NO_VLLM_LOG])).text(), "? This is not a vLLM log", "Recognised in it")


def test_two_root_causes() -> None:
    second = replace(made.root_finding(), rule=replace(made.WRAPPER, title=parse_text("Another failure")))
    text = Parsed(page(replace(made.failure(), findings=(made.root_finding(), second)))).text()
    assert in_order(text, "✗ The KV", "A second, independent failure", "✗ Another failure")


def test_secrets_are_redacted() -> None:
    secret = "hf_" + "abcdefghij" * 3
    assert secret not in page(made.failure(f"ValueError: token {secret} of /home/alice/x"))
    assert "alice" not in page(made.failure(f"ValueError: token {secret} of /home/alice/x"))
    assert secret in page(made.failure(f"ValueError: token {secret}"), redact=False)


def hostile_page(text: str) -> str:
    facts = {**made.FACTS, "model": made.fact("model", text)}
    rule = replace(made.RULE, title=parse_text("{model|?} failed"), summary=parse_text("{model|?} and `{model|?}`"))
    root = replace(made.root_finding(text, facts), rule=rule)
    wrapper = made.wrapper_finding()
    wrapper = replace(wrapper, evidence=(replace(wrapper.evidence[0], text=text),))
    return page(replace(made.failure(facts=facts), findings=(root, wrapper)), redact=False)


def test_hostile_text_stays_text() -> None:
    parsed = assert_harmless(hostile_page(HOSTILE))
    assert "<script>alert(1)</script> <img src=x onerror=alert(1)>" in parsed.text()


def test_hostile_text_where_no_rule_knows() -> None:
    for status in (UNRECOGNIZED, HEALTHY, CAUSE_NOT_IN_LOG):
        diagnosis = made.unrecognized(HOSTILE) if status == UNRECOGNIZED else made.others()[status]
        assert_harmless(page(replace(diagnosis, notices={"log-ends-early": HOSTILE})))


def test_names_of_inputs_stay_text() -> None:
    name = "a<b>\"'&.log"
    report = build_report(made.failure(), made.CATALOGUE, (replace(made.INPUTS[0], name=name),))
    parsed = assert_harmless(report_html(report, language="en", rule_url=lambda rule: f"../rules/{rule}/"))
    assert f"{name}:41" in parsed.text()


@given(st.text(alphabet=st.sampled_from("ab1 <>&\"'`*_[]()/=:;-\n\x00\x1b\u202e\ud800é"), max_size=50))
@example("</code><script>")
@example("<!--")
@example("<![CDATA[")
def test_any_text_stays_text(text: str) -> None:
    source = hostile_page(text)
    source.encode()  # lone surrogates cannot be sent
    parsed = assert_harmless(source)
    assert not any("\x1b" in data or "\u202e" in data for _, data in parsed.texts)


def test_only_web_addresses_become_links() -> None:
    assert link("x", "https://docs.vllm.ai/a?b=1&c=2").startswith('<a href="https://docs.vllm.ai/a?b=1&amp;c=2"')
    for address in ("javascript:alert(1)", "data:text/html,x", 'https://a.example/"onclick=x', "//a.example"):
        assert "<a" not in link("x", address)


def test_rule_markdown_keeps_code_emphasis_and_known_links() -> None:
    source = "**a** *b* `c<d` [e](https://docs.vllm.ai/x) [f](https://a.example/)"
    assert inline(source, ["https://docs.vllm.ai/x"]) == (
        "<strong>a</strong> <em>b</em> <code>c&lt;d</code> "
        '<a href="https://docs.vllm.ai/x" rel="noopener noreferrer">e</a> f <code>https://a.example/</code>'
    )


def test_lists_and_code_blocks_of_rules() -> None:
    source = "Intro\n\n- one\n  - inner\n- two\n\n1. first\n2. second\n\n```\n<x>\n```"
    assert paragraphs(source) == (
        "<p>Intro</p><ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul>"
        '<ol><li>first</li><li>second</li></ol><pre tabindex="0"><code>&lt;x&gt;</code></pre>'
    )


def test_elements_and_code_blocks() -> None:
    assert (
        element("p", "x", class_="a", data_line=3, hidden=True, title=None) == '<p class="a" data-line="3" hidden>x</p>'
    )
    assert code_block("a<b", "Copy").endswith("data-copy>Copy</button></div>")


@pytest.mark.parametrize("language", ["en", "vi", "ja"])
def test_the_memory_picture_has_a_table_with_its_sources(language: str) -> None:
    facts = {
        name: made.fact(name, value)
        for name, value in {
            "vllm_version": "0.32.0",
            "gpu_total_gib": 23.5,
            "gpu_memory_utilization": 0.9,
            "weights_gib": 14.9,
            "activation_peak_gib": 0.9,
            "non_torch_gib": 0.1,
            "cuda_graph_gib": 0.4,
            "available_kv_gib": 4.87,
            "required_kv_gib": 16.0,
        }.items()
    }
    words = Words(language)
    source = receipt_figure(receipt_of(facts), None, words, lambda origin: f"<b>line {origin.line}</b>")
    assert "<svg" in source and "<b>line 41</b>" in source
    text = Parsed(re.sub(r"<svg.*?</svg>", "", source, flags=re.DOTALL)).text()
    assert in_order(text, "14.90 GiB", "4.87 GiB", "16.00 GiB", "11.13 GiB")


def test_no_picture_where_too_little_is_known() -> None:
    empty = receipt_of({})
    assert isinstance(empty, Receipt)
    assert receipt_figure(empty, None, Words()) == ""


def plan(length: int | None) -> str:
    config = {
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "max_position_embeddings": 131072,
        "model_type": "llama",
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "num_key_value_heads": 8,
        "torch_dtype": "bfloat16",
        "vocab_size": 128256,
    }
    model = ModelFiles("<b>", "org/model", read_config(config, "config.json"), None)
    found = planned(model, PlanOptions(gpu="RTX 4090", max_model_len=length))
    assert (found.plan.verdict == NO) == (length is None)
    return plan_html(model.name, model.served, found.plan, found.changes, found.gpus, Words())


def test_a_plan_that_does_not_fit_says_what_would() -> None:
    source = plan(None)
    text = Parsed(re.sub(r"<svg.*?</svg>", "", source, flags=re.DOTALL)).text()
    assert in_order(
        text, "✗ <b> does not fit on RTX 4090", "One of these would fit", "vllm serve org/model --max-model-len"
    )
    assert "longest context" in text and "131,072 B" in text


def test_a_plan_that_fits_says_how_to_run() -> None:
    text = Parsed(re.sub(r"<svg.*?</svg>", "", plan(8192), flags=re.DOTALL)).text()
    assert in_order(text, "✓ <b> ", "Then run", "vllm serve org/model --max-model-len 8192")
