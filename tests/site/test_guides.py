"""The guides: the same in three languages, with links that lead somewhere and commands and numbers that are right."""

from __future__ import annotations

import re
import shutil
import sys
import types
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.site.guide_texts import HEADING, LINK, blocks, prose
from vllmdoctor.errors import InputError
from vllmdoctor.languages import LANGUAGES
from vllmdoctor.rules.load import load_catalogue
from vllmdoctor.site import guides
from vllmdoctor.site.guides import GUIDES, check_guides, guide_notice, guide_path, read_guide, stamp_guide
from vllmdoctor.site.markers import command_output, filled
from vllmdoctor.site.pages import changelog, cli_reference, schema_reference

EVERY = [(name, language) for name in GUIDES for language in LANGUAGES]
TRANSLATED = [(name, language) for name, language in EVERY if language != "en"]
each_guide = pytest.mark.parametrize("name, language", EVERY)
each_translation = pytest.mark.parametrize("name, language", TRANSLATED)


def test_every_language_has_the_same_files(checkout: Path) -> None:
    folder = checkout / "docs" / "guide"
    found = {language: {path.stem for path in (folder / language).glob("*.md")} for language in LANGUAGES}
    assert found == {"en": set(GUIDES), "vi": {*GUIDES, changelog.NAME}, "ja": {*GUIDES, changelog.NAME}}


@each_guide
def test_front_matter_serves_search_engines(name: str, language: str) -> None:
    guide = read_guide(name, language)
    assert guide.language == language
    assert 0 < len(guide.title) <= 60
    assert 40 <= len(guide.description) <= 160


@each_guide
def test_texts_are_composed_and_begin_with_their_title(name: str, language: str) -> None:
    guide = read_guide(name, language)
    assert guide.body == unicodedata.normalize("NFC", guide.body)
    assert guide.body.lstrip("\n").startswith(f"# {guide.title} {{ #{name} }}\n")


@each_guide
def test_every_heading_has_an_id_of_its_own(name: str, language: str) -> None:
    text = prose(name, language)
    ids = [anchor for _level, anchor in HEADING.findall(text)]
    assert len(re.findall(r"^#+ ", text, re.MULTILINE)) == len(ids) == len(set(ids))


@each_translation
def test_translations_have_the_headings_of_the_english_text(name: str, language: str) -> None:
    assert HEADING.findall(prose(name, language)) == HEADING.findall(prose(name, "en"))


@each_translation
def test_translations_have_the_code_of_the_english_text(name: str, language: str) -> None:
    """Drawings and formulas (`text`) may have words in them; commands and files are the same."""
    own, english = blocks(name, language), blocks(name, "en")
    assert [kind for kind, _ in own] == [kind for kind, _ in english]
    assert [block for block in own if block[0] != "text"] == [block for block in english if block[0] != "text"]


@each_translation
def test_translations_have_the_markers_links_and_names_of_the_english_text(name: str, language: str) -> None:
    for pattern in (r"<!--.*?-->", LINK.pattern, r"(?<![\w-])--[a-z][\w-]*", r"`[^`\n]+`"):
        own = sorted(set(re.findall(pattern, prose(name, language))))
        assert own == sorted(set(re.findall(pattern, prose(name, "en")))), pattern


@each_translation
def test_tables_have_the_same_rows_and_numbers(name: str, language: str) -> None:
    def cells(text: str) -> list[int]:
        return [line.count("|") for line in text.splitlines() if line.startswith("|")]

    assert cells(prose(name, language)) == cells(prose(name, "en"))


@each_translation
def test_translations_have_the_versions_and_sizes_of_the_english_text(name: str, language: str) -> None:
    def numbers(text: str) -> set[str]:
        """Decimals and versions: what is a digit in one language may be a word in another."""
        plain = re.sub(r"`[^`\n]+`", "", text)
        return set(re.findall(r"(?<![\d.,])(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)+)", plain)) - {"8.03", "80.3"}

    assert numbers(prose(name, language)) == numbers(prose(name, "en"))


@cache
def addresses() -> frozenset[str]:
    """Every page that a guide may name, by its file in the folder of a language."""
    catalogue = load_catalogue("en")
    pages = {f"guide/{name}.md" for name in GUIDES}
    pages |= {f"rules/{name}.md" for name in catalogue.rules} | {f"remedies/{name}.md" for name in catalogue.remedies}
    pages |= {"analyze/index.md", "messages/index.md", "remedies/index.md", "changelog.md"}
    return frozenset(pages | {f"reference/{name}.md" for name in ("cli", "report-schema", "rules-schema")})


@each_guide
def test_links_lead_to_pages_and_anchors(name: str, language: str) -> None:
    for link in LINK.findall(prose(name, language)):
        if link.startswith("https://"):
            continue
        page, _hash, anchor = link.partition("#")
        target = f"guide/{page or name + '.md'}" if not page.startswith("../") else page.removeprefix("../")
        assert target in addresses(), link
        if anchor:
            assert target.startswith("guide/"), link
            assert anchor in {found for _, found in HEADING.findall(prose(Path(target).stem, language))}, link


@pytest.fixture(scope="module")
def calculator() -> Iterator[None]:
    """The guides are filled whether the calculator's page is there or not."""
    name = "vllmdoctor.site.pages.calculator"
    before = sys.modules.get(name)
    module = types.ModuleType(name)
    module.widget = lambda language: f'<div data-calculator lang="{language}"></div>'  # type: ignore[attr-defined]
    sys.modules[name] = module
    yield
    del sys.modules[name]
    if before is not None:
        sys.modules[name] = before


@each_guide
def test_markers_are_filled_with_the_programs_output(name: str, language: str, calculator: None) -> None:
    guide = read_guide(name, language)
    shown = filled(guide.body, language, name=guide.file)
    assert "<!--" not in shown
    if "<!--" not in guide.body:
        assert shown == guide.body


def test_output_is_that_of_the_command_in_the_language() -> None:
    japanese = command_output("vllmdoctor analyze examples/startup.log", "ja")
    assert japanese.startswith("✗ KVキャッシュ")
    assert "\x1b" not in japanese
    assert "max-model-len-exceeds-kv-cache" in japanese
    assert japanese == command_output("vllmdoctor analyze examples/startup.log", "ja")


def test_the_readers_terminal_does_not_matter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = command_output("vllmdoctor gpus examples/nvidia-smi.txt", "en")
    monkeypatch.chdir(tmp_path)
    for variable, value in {"COLUMNS": "40", "FORCE_COLOR": "1", "VLLMDOCTOR_LANG": "vi", "LC_ALL": "C"}.items():
        monkeypatch.setenv(variable, value)
    assert command_output("vllmdoctor gpus examples/nvidia-smi.txt", "en") == before
    assert Path.cwd() == tmp_path
    assert "RTX 4090" in before


def test_an_old_code_block_below_a_marker_is_replaced() -> None:
    source = "a\n<!-- output: vllmdoctor gpus examples/nvidia-smi.txt -->\n```text\nold\n```\nb\n"
    shown = filled(source, "en")
    assert shown.startswith("a\n```text\ndriver 580.126.09, CUDA 13.0\n")
    assert shown.endswith("```\nb\n")
    assert "old" not in shown


def test_a_marker_in_a_code_block_stays() -> None:
    source = "````text\n```\n<!-- nonsense -->\n```\n````\n"
    assert filled(source, "en") == source


@pytest.mark.parametrize(
    "marker, problem",
    [
        ("<!-- nonsense: 1 -->", "unknown marker 'nonsense'"),
        ("<!-- output: ls -->", "no call of vllmdoctor"),
        ("<!-- output: vllmdoctor analyze no-such-file.log -->", "exit code 2"),
        ("<!-- receipt: no-such-file.log -->", "no-such-file.log"),
        ("<!-- receipt: examples/startup.log -->", "no memory receipt"),
    ],
)
def test_a_wrong_marker_is_named_with_file_and_line(marker: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as raised:
        filled(f"# Title\n\n{marker}\n", "en", name="docs/guide/en/x.md")
    assert raised.value.name == "docs/guide/en/x.md:3"


def test_lines_of_a_body_are_numbered_as_in_the_file(checkout: Path) -> None:
    guide = read_guide("memory", "ja")
    lines = (checkout / guide.file).read_text(encoding="utf-8").splitlines()
    number = lines.index("<!-- calculator -->")
    assert guide.body.splitlines()[number] == lines[number]


def test_translations_are_fresh() -> None:
    """`python -m vllmdoctor.site.guides stamp NAME LANGUAGE` after reading one against the English."""
    assert check_guides() == []


@pytest.fixture
def copied(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(checkout / "docs" / "guide", tmp_path / "docs" / "guide")
    shutil.copy(checkout / "CHANGELOG.md", tmp_path)
    monkeypatch.setattr(guides, "checkout_root", lambda: tmp_path)
    return tmp_path


def test_a_changed_english_text_makes_its_translations_stale_until_they_are_stamped(copied: Path) -> None:
    english = guide_path("plan", "en")
    english.write_text(english.read_text(encoding="utf-8") + "\nOne more sentence.\n", encoding="utf-8")
    assert [guide_notice("plan", language) for language in LANGUAGES] == ["", "stale", "stale"]
    before = guide_path("plan", "vi").read_text(encoding="utf-8")
    stamp_guide("plan", "vi")
    assert [guide_notice("plan", language) for language in LANGUAGES] == ["", "", "stale"]
    after = guide_path("plan", "vi").read_text(encoding="utf-8")
    assert re.sub("source_digest.*", "", after) == re.sub("source_digest.*", "", before)


def test_blanks_at_line_ends_do_not_make_a_translation_stale(copied: Path) -> None:
    english = guide_path("plan", "en")
    english.write_text(english.read_text(encoding="utf-8").replace("\n", "  \n") + "\n", encoding="utf-8")
    assert guide_notice("plan", "ja") == ""


def test_a_missing_translation_is_shown_in_english(copied: Path) -> None:
    guide_path("plan", "vi").unlink()
    assert guide_notice("plan", "vi") == "missing"
    assert read_guide("plan", "vi") == read_guide("plan", "en")
    assert check_guides() == ["docs/guide/vi/plan.md: missing"]


@pytest.mark.parametrize("text", ["# Plan\n", "---\ntitle: Plan\n---\n# Plan\n", "---\ntitle: A\nother: B\n---\n"])
def test_front_matter_without_its_fields_is_an_error(copied: Path, text: str) -> None:
    guide_path("plan", "vi").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="front matter"):
        read_guide("plan", "vi")


def test_pages_of_the_reference_that_guides_link_to_are_made() -> None:
    for made in (cli_reference.page, schema_reference.report_page, schema_reference.rules_page, changelog.page):
        assert made("en").startswith("---\ntitle: ")
