"""The Markdown report: what it says, and that nothing in a log gets out of its place in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.report import builders as made
from vllmdoctor.diagnosis.model import CAUSE_NOT_IN_LOG, HEALTHY, NO_VLLM_LOG, UNRECOGNIZED, ChosenFix, Diagnosis
from vllmdoctor.report.build import build_report
from vllmdoctor.report.markdown import MOST_CHARACTERS, report_markdown
from vllmdoctor.report.model import Report
from vllmdoctor.report.safe_markdown import cell_code, code, fenced, inline, paragraphs, prose, table
from vllmdoctor.rules.texts import parse_text

PARSER = MarkdownIt("commonmark").enable("table").enable("strikethrough")
REFERENCE = "https://docs.vllm.ai/"
# What GitHub and GitLab look for in text, but not in code
MEANT = re.compile(r"@\w|://|www\.|#\d|!\d|:\w+:")
HOSTILE = "".join(
    [
        "ValueError: @octocat #1 GH-2 !3 owner/repo#4 user@example.com https://192.0.2.1/x www.example.com :tada: ",
        "<img src=x onerror=alert(1)> </details> <!-- [a](http://192.0.2.1) ![b](http://192.0.2.1) a | b | `tick` ",
        "~~s~~ **bold** __bold__ $x$ 0a1b2c3d4e5f",
        "\n```\n# heading\n- item\n| a | b |\n|---|---|\n/close\n~~~~\n`````\n</details>\n[x]: http://192.0.2.1",
    ]
)
SPECIAL = st.text(alphabet="ab1 `*_~<>[]()|&\\#@:/!-=+.\n$\"'{}é", max_size=60)


def markdown(diagnosis: Diagnosis, *, show_all: bool = False, redact: bool = True) -> str:
    report = build_report(diagnosis, made.CATALOGUE, made.INPUTS, redact=redact)
    return report_markdown(report, version="0.1.0", show_all=show_all)


def tokens(source: str) -> list[Token]:
    return PARSER.parse(source)


def leaves(found: Iterable[Token]) -> list[Token]:
    """All tokens, those within a line in place of the line; what stands between code tags is code."""
    result: list[Token] = []
    in_code = False
    for leaf in (leaf for token in found for leaf in (token.children or [token])):
        if leaf.content in ("<code>", "</code>") and leaf.type == "html_inline":
            in_code = leaf.content == "<code>"
        else:
            result.append(replace(leaf, type="code_inline") if in_code else leaf)
    assert not in_code
    return result


def shown(source: str) -> str:
    """The text that a reader sees of one line of Markdown."""
    return "".join(" " if t.type == "softbreak" else t.content for t in leaves(tokens(source)))


def assert_nothing_gets_out(source: str) -> None:
    parsed = leaves(tokens(source))
    assert {t.content.strip() for t in parsed if t.type.startswith("html")} <= {
        "<details>\n<summary>6 facts</summary>",
        "</details>",
    }
    assert {t.attrGet("href") for t in parsed if t.type == "link_open"} <= {REFERENCE}
    assert not [t for t in parsed if t.type in ("image", "s_open", "blockquote_open", "hr")]
    assert not [t.content for t in parsed if t.type == "text" and MEANT.search(t.content)]


def test_a_failure() -> None:
    expected = """\
## ✗ The KV cache cannot hold one request of 32,768 tokens

`max-model-len-exceeds-kv-cache`

```text
startup.log:41  EngineCore  {message}
```

One request needs 4.00 GiB of KV cache, 2.50 GiB is left.

**Check first**

Do you need that context length?

**Why here**

- Long context (confirmed; context length: 32,768 tokens)

### Fixes

1. **Lower the context length to 20,480 tokens** (costs: shorter prompts)

   ```sh
   vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 20480
   ```

2. **Store the KV cache in fp8** (costs: small accuracy loss)

   depends on memory of other processes, not known from this log

   ```sh
   vllm serve meta-llama/Llama-3.1-8B-Instruct --kv-cache-dtype fp8
   ```

### Does not help

- Lowering `--gpu-memory-utilization`: the cache shrinks with it.

### Then expect

```text
GPU KV cache size: ≥ 20,490 tokens
```

**Also in the log**

- `RuntimeError: Engine core initialization failed. See root cause above.` (wrapper, line 97)
- Swap is large (warning, line 12)

**Read more**

- `vllmdoctor explain max-model-len-exceeds-kv-cache`
- [vLLM documentation](<https://docs.vllm.ai/>)

<details>
<summary>6 facts</summary>

| Fact | Value | From |
| --- | --- | --- |
| `available_kv_gib` | `2.50 GiB` | `startup.log:41` |
| `estimated_max_model_len` | `20,490 tokens` | estimate |
| `gpu_memory_utilization` | `0.9` | default |
| `max_model_len` | `32,768 tokens` | `startup.log:41` |
| `model` | `meta-llama/Llama-3.1-8B-Instruct` | `startup.log:41` |
| `required_kv_gib` | `4.00 GiB` | `startup.log:41` |

</details>

Versions: vllmdoctor `0.1.0`
"""
    assert markdown(made.failure()) == expected.replace("{message}", made.MESSAGE)


def test_the_structure_is_what_a_parser_sees() -> None:
    parsed = tokens(markdown(made.failure()))
    assert [t.info for t in parsed if t.type == "fence"] == ["text", "sh", "sh", "text"]
    ordered = [t for t in parsed if t.type == "ordered_list_open"]
    assert len(ordered) == 1  # the commands do not break the list of fixes
    assert len([t for t in parsed if t.type == "table_open"]) == 1
    assert len([t for t in parsed if t.type == "tr_open"]) == 1 + len(made.FACTS)


def test_all_shows_causes_and_forms() -> None:
    page = markdown(made.failure(), show_all=True)
    for part in (
        "### Causes",
        "(ruled out; KV cache memory: 2.50 GiB)",
        "```python\n   LLM(model=",
        "```yaml\n   args: [",
    ):
        assert part in page


def test_fixes_after_the_third_are_folded() -> None:
    fixes = tuple(ChosenFix(replace(made.RULE.fixes[1], id=f"fix-{n}"), True) for n in range(11))
    page = markdown(replace(made.failure(), findings=(replace(made.root_finding(), fixes=fixes),)))
    assert "<summary>8 more fixes</summary>\n\n4. **Store" in page
    lists = [t for t in tokens(page) if t.type == "ordered_list_open"]
    assert [t.attrGet("start") for t in lists] == [None, 4]
    # the command of the tenth fix is inside its item too, whose number is wider
    assert "\n11. **Store" in page and page.count("\n    ```sh") == 2


def test_other_statuses() -> None:
    diagnoses = made.others()
    assert markdown(diagnoses[HEALTHY]).startswith("## ✓ No failure in this log; 1 warning\n\n### Swap is large\n")
    unknown = markdown(diagnoses[UNRECOGNIZED])
    assert unknown.startswith(
        "## ? vLLM failed with an error that no rule knows: RuntimeError: quux 7 failed\n\n```text\nstartup.log:63  EngineCore"
    )
    assert "**Last good phase**: `loading-weights`" in unknown
    missing = markdown(diagnoses[CAUSE_NOT_IN_LOG])
    assert missing.startswith("## ? vLLM failed, but the cause is not in this log\n\n```text\nstartup.log:97")
    assert "**To name the cause**\n\n- " in missing
    assert markdown(diagnoses[NO_VLLM_LOG]).startswith("## ? This is not a vLLM log\n\n**Recognised in it**")


def test_two_root_causes() -> None:
    second = replace(made.root_finding(), rule=replace(made.WRAPPER, title=parse_text("Another failure")))
    page = markdown(replace(made.failure(), findings=(made.root_finding(), second)))
    assert page.index("## ✗ The KV") < page.index("**A second, independent failure**") < page.index("## ✗ Another")


def test_secrets_are_redacted_unless_asked_otherwise() -> None:
    secret = "hf_" + "abcdefghij" * 3
    assert secret not in markdown(made.failure(f"ValueError: token {secret} of /home/alice/x"))
    assert "/home/user/x" in markdown(made.failure(f"ValueError: token {secret} of /home/alice/x"))
    assert secret in markdown(made.failure(f"ValueError: token {secret}"), redact=False)


@pytest.mark.parametrize("show_all", [False, True])
def test_hostile_text_of_the_log_stays_in_its_place(show_all: bool) -> None:
    facts = {**made.FACTS, "model": made.fact("model", HOSTILE)}
    rule = replace(made.RULE, title=parse_text("{model|?} failed"), summary=parse_text("{model|?} and `{model|?}`"))
    root = replace(made.root_finding(HOSTILE, facts), rule=rule)
    wrapper = made.wrapper_finding()
    wrapper = replace(wrapper, evidence=(replace(wrapper.evidence[0], text=HOSTILE),))
    page = markdown(replace(made.failure(facts=facts), findings=(root, wrapper)), show_all=show_all)
    assert_nothing_gets_out(page)
    first = next(t for t in tokens(page) if t.type == "fence")
    assert first.content.endswith("\n`````\n</details>\n[x]: http://192.0.2.1\n")
    assert "## ✗ " in page.split("\n")[0]


def test_hostile_text_where_no_rule_knows() -> None:
    for status in (UNRECOGNIZED, HEALTHY, CAUSE_NOT_IN_LOG):
        diagnosis = made.unrecognized(HOSTILE) if status == UNRECOGNIZED else made.others()[status]
        assert_nothing_gets_out(markdown(replace(diagnosis, notices={"log-ends-early": HOSTILE})))


def test_names_of_inputs_stay_in_their_place() -> None:
    report = build_report(made.failure(), made.CATALOGUE, (replace(made.INPUTS[0], name="a|`@b` <i>.log"),))
    page = report_markdown(report, version="0.1.0")
    assert_nothing_gets_out(page)
    rows = [row for row in page.split("\n") if row.startswith("| `model`")]
    assert shown(f"| a | b | c |\n|---|---|---|\n{rows[0]}").endswith("a|`@b` <i>.log:41")


def huge(characters: int) -> Report:
    report = build_report(made.failure(), made.CATALOGUE, made.INPUTS)
    facts = {f"fact_{n}": made.fact(f"fact_{n}", "x" * 250) for n in range(characters // 250)}
    return replace(report, facts=facts)


def test_what_would_not_fit_into_an_issue_is_left_out_and_said() -> None:
    assert "fact_199" in report_markdown(huge(50_000), version="0.1.0")
    page = report_markdown(huge(70_000), version="0.1.0")
    assert len(page) < MOST_CHARACTERS
    assert "fact_199" not in page
    assert "Shortened: `vllmdoctor analyze`" in page
    assert page.endswith("Versions: vllmdoctor `0.1.0`\n")


# What follows is about safe_markdown.


@given(SPECIAL)
@example("a `b @c` d")
@example("@a`b`@c")
@example("1. x")
@example("a_b_ _c_ snake_case")
def test_prose_shows_exactly_the_text(text: str) -> None:
    # "x " keeps the beginning out of it: prose is for the middle of a line
    assert shown("x " + prose(text)) == ("x " + " ".join(text.split())).strip()


@given(SPECIAL)
def test_prose_holds_nothing_but_text_and_code(text: str) -> None:
    parsed = leaves(tokens("x " + prose(text)))
    assert {t.type for t in parsed} <= {
        "paragraph_open",
        "paragraph_close",
        "text",
        "text_special",
        "code_inline",
        "inline",
    }
    assert not [t.content for t in parsed if t.type == "text" and MEANT.search(t.content)]


@given(SPECIAL)
@example("# a")
@example("/close")
@example("12) a")
@example("--- a\n\n=== b")
def test_a_paragraph_stays_a_paragraph_or_a_list(text: str) -> None:
    parsed = leaves(tokens("\n".join(paragraphs(text))))
    assert not [t for t in parsed if t.type.startswith(("heading", "html", "link", "image", "hr", "blockquote"))]


@given(SPECIAL)
def test_code_shows_exactly_the_text(text: str) -> None:
    assert shown(f"x {code(text)} y").replace("  ", " ") == " ".join(f"x {text} y".split())


@given(st.lists(st.text(alphabet="`~ a\\<\n", max_size=30), min_size=1, max_size=3).map("\n".join))
def test_a_fence_holds_everything(text: str) -> None:
    parsed = tokens("\n".join([*fenced(text), "", "after"]))
    assert [t.type for t in parsed] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    assert parsed[0].content == text.rstrip("\n") + "\n"


@given(SPECIAL, SPECIAL)
@example("a\\|b", "c|`d`")
def test_a_table_keeps_its_columns(left: str, right: str) -> None:
    rows = [(cell_code(left), prose(right)), (prose(left), cell_code(right))]
    parsed = tokens("\n".join(table(("a", "b"), rows)))
    assert [t.type for t in parsed].count("td_open") == 4
    assert [t.type for t in parsed].count("tr_open") == 3


def test_rule_markdown_keeps_its_code_emphasis_and_known_links() -> None:
    source = "Use `--x` **now**, see [docs](https://docs.vllm.ai/) and [a](http://192.0.2.1) or <http://192.0.2.2>"
    kept = inline(source, ["https://docs.vllm.ai/"])
    assert kept == (
        "Use `--x` **now**, see [docs](<https://docs.vllm.ai/>) and a `http://192.0.2.1` or `http://192.0.2.2`"
    )


def test_only_web_addresses_become_links() -> None:
    assert inline("[a](javascript:x)", ["javascript:x"]) == "a `javascript:x`"


def test_lists_and_code_blocks_of_rules() -> None:
    assert paragraphs("Do:\n- one\n- two\n\n```\nx @y\n```\nEnd") == [
        "Do:", "", "- one", "- two", "", "```text", "x @y", "```", "", "End", "",
    ]  # fmt: skip


@pytest.mark.parametrize("word", ["max_model_len", "torch.bfloat16", "Llama-3.1-8B", "1,024", "UTF-8", "(a+b)", "C++"])
def test_plain_words_are_left_alone(word: str) -> None:
    assert prose(word) == word
