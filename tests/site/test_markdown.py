"""What the site shows of a text is that text: rendered with the site's own Markdown extensions."""

from __future__ import annotations

import html
import re
from pathlib import Path

import markdown
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from vllmdoctor.site import markdown as md

_PRINTABLE = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z"), include_characters=" `*_<>&|[](){}#!\\~$^=-+.:'\""),
    min_size=1,
    max_size=60,
).filter(lambda text: text.strip())


@pytest.fixture(scope="module")
def convert(checkout: Path) -> markdown.Markdown:
    extensions = yaml.safe_load((checkout / "mkdocs.yml").read_text(encoding="utf-8"))["markdown_extensions"]
    return markdown.Markdown(extensions=list(extensions), extension_configs=extensions)


def text_of(page: str) -> str:
    """The text of rendered HTML, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", page)).split())


def folded(text: str) -> str:
    return " ".join(text.split())


@settings(max_examples=150, deadline=None)
@given(text=_PRINTABLE)
def test_escaped_text_is_shown_as_it_is(convert: markdown.Markdown, text: str) -> None:
    shown = convert.reset().convert(md.at_line_start(md.escaped(text)))
    assert text_of(shown) == folded(text)
    assert re.sub(r"</?p>", "", shown).count("<") == 0, shown


@settings(max_examples=150, deadline=None)
@given(text=_PRINTABLE)
def test_code_is_shown_as_it_is(convert: markdown.Markdown, text: str) -> None:
    shown = convert.reset().convert("x " + md.code(text) + " y")
    assert text_of(shown) == folded(f"x {text} y")


@settings(max_examples=80, deadline=None)
@given(text=_PRINTABLE, other=_PRINTABLE)
def test_a_table_keeps_its_cells(convert: markdown.Markdown, text: str, other: str) -> None:
    rows = md.table(["a", "b"], [[md.cell_code(text), md.escaped(other)]])
    shown = convert.reset().convert("\n".join(rows))
    cells = [text_of(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", shown, re.DOTALL)]
    assert cells == [folded(text), folded(other)]


@settings(max_examples=80, deadline=None)
@given(text=_PRINTABLE)
def test_a_block_in_tabs_in_a_fold_is_shown_as_it_is(convert: markdown.Markdown, text: str) -> None:
    block = md.folded("note", "title", md.tabs({"A": md.fenced(text), "B": md.fenced("other")}))
    shown = convert.reset().convert("\n".join(block))
    code = re.findall(r"<code[^>]*>(.*?)</code>", shown, re.DOTALL)
    assert [text_of(one) for one in code] == [folded(text), "other"]


def test_rule_markdown_keeps_code_emphasis_and_links(convert: markdown.Markdown) -> None:
    source = (
        "Set `--a_b *x*` **now**, see [the docs](https://docs.vllm.ai/en/latest/) and <https://a.b/c_d_e>; 2 < 3 & 4"
    )
    assert convert.reset().convert(md.inline(source)) == (
        '<p>Set <code>--a_b *x*</code> <strong>now</strong>, see <a href="https://docs.vllm.ai/en/latest/">the docs</a> '
        'and <a href="https://a.b/c_d_e">https://a.b/c_d_e</a>; 2 &lt; 3 &amp; 4</p>'
    )


@pytest.mark.parametrize(
    "text", ["1. first", "- item", "+ item", "> quote", "# heading", ": definition", "=== tab", "!!! note"]
)
def test_nothing_becomes_a_block_by_how_it_begins(convert: markdown.Markdown, text: str) -> None:
    assert text_of(convert.reset().convert(md.at_line_start(md.escaped(text)))) == text
