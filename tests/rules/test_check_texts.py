"""Checks on texts: names in placeholders and conditions, Markdown, versions, translations and their stamps."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from tests.rules.helpers import Change, Folder, put
from vllmdoctor.errors import RuleError
from vllmdoctor.rules.check import stamp_translation
from vllmdoctor.rules.check.folder import open_rule_folder
from vllmdoctor.rules.check.markdown import MarkdownCheck, text_problems
from vllmdoctor.rules.check.names import NameCheck
from vllmdoctor.rules.check.prose import Wording
from vllmdoctor.rules.check.translations import TranslationCheck, translated_shares, wording_problems
from vllmdoctor.rules.check.versions import VersionCheck
from vllmdoctor.rules.fields import Field
from vllmdoctor.rules.translate import digest_of


@pytest.mark.parametrize(
    "change, place",
    [
        (lambda f: f.rule.update(summary="{max_modle_len|x}"), "summary"),
        (put("causes", 0, when="max_modle_len > 1"), "causes.0.when"),
        (put("causes", 0, text="{max_modle_len|x}"), "causes.0.text"),
        (put("verify", 0, log="{max_modle_len|x}"), "verify.0.log"),
        (put("verify", 0, command="{max_modle_len|x}"), "verify.0.command"),
        (put("fixes", 0, when="max_modle_len > 1"), "fixes.0.when"),
        (put("fixes", 0, arguments={"value": "max_modle_len"}), "fixes.0.arguments.value"),
        (put("signatures", 0, when="max_modle_len > 1"), "signatures.0.when"),
        (lambda f: f.remedy.update(text="{max_modle_len|x}"), "text"),
        (lambda f: f.remedy["changes"].update(shell=["run {max_modle_len|x}"]), "changes.shell.0"),
        (lambda f: f.remedy["changes"].update(environment={"A": "{max_modle_len|x}"}), "changes.environment.A"),
        (lambda f: f.facts.update(derived=[{"fact": "max_model_len", "value": "max_modle_len"}]), "derived.0.value"),
    ],
)
def test_unknown_names(folder: Folder, change: Change, place: str) -> None:
    change(folder)
    found = folder.found_by(NameCheck())
    assert len(found) == 1
    assert found[0].startswith(f"{place}: ")
    assert "'max_modle_len'" in found[0]


def test_facts_and_arguments_are_known(folder: Folder) -> None:
    put("signatures", 0, pattern=r"the length \((?P<max_model_len>\d{1,9})\) does not fit")(folder)
    folder.rule["summary"] = "{max_model_len|?}"
    put("fixes", 0, arguments={"value": "max_model_len / 2"}, text="{value|?} instead of {max_model_len|?}")(folder)
    assert folder.found_by(NameCheck()) == []


def test_groups_are_declared_facts(folder: Folder) -> None:
    """Nothing reads another one, so a text that uses it would always call it unknown."""
    put("signatures", 0, pattern=r"the length \((?P<asked>\d{1,9})\) does not fit")(folder)
    assert folder.found_by(NameCheck()) == [
        "signatures.0.pattern: the group 'asked' is no declared fact; declare it in facts/, or take its name off"
    ]
    folder.rule["summary"] = "{asked|?}"
    assert any("placeholder uses 'asked'" in text for text in folder.found_by(NameCheck()))


def test_unused_arguments(folder: Folder) -> None:
    put("fixes", 0, arguments={"value": "1", "vlaue": "2"})(folder)
    assert folder.found_by(NameCheck()) == ["fixes.0.arguments: no text of the remedy uses the argument 'vlaue'"]


def test_parameters_that_no_fix_gives(folder: Folder) -> None:
    del folder.rule["fixes"][0]["arguments"]
    assert [text.partition(":")[0] for text in folder.found_by(NameCheck())] == [
        "title.known",
        "changes.arguments.max_model_len",
    ]


@pytest.mark.parametrize(
    "condition, wrong",
    [
        ("vllm_version == '0.9.1'", True),
        ("known(vllm_version) and 9 < vllm_version", True),
        ("vllm_version in [v0.9.1, '0.9.2']", True),
        ("vllm_version >= v0.9.1 and max_model_len > 1", False),
        ("vllm_version in [v0.9.1, v0.9.2]", False),
    ],
)
def test_versions_are_compared_with_versions(folder: Folder, condition: str, wrong: bool) -> None:
    put("causes", 0, when=condition)(folder)
    assert bool(folder.found_by(VersionCheck())) is wrong


def problems(text: str, key: str = "text") -> list[str]:
    return list(text_problems(Wording(key, text, Field("f", key, text))))


@pytest.mark.parametrize(
    "text",
    [
        "Plain `code` with *emphasis* and **more**.",
        "- one\n- two\n\nAfter [a link](https://docs.vllm.ai/).",
        "1. first\n2. second",
        "{max_model_len:int|<unknown>} tokens",  # a placeholder is no HTML
        "Use `--max-model-len`, and `max_model_len` in Python.",
        "`kill <PID>` ends it; 3 < 4 and 5 > 4.",
        "snake_case_names stay as they are.",
    ],
)
def test_allowed_markdown(text: str) -> None:
    assert problems(text) == []


@pytest.mark.parametrize(
    "text, problem",
    [
        ("kill <PID>", "HTML"),
        ("<b>bold</b>", "HTML"),
        ("# Heading", "a heading"),
        ("Heading\n===", "a heading"),
        ("![x](https://x.org/y.png)", "an image"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a table"),
        ("```\ncode\n```", "a code block"),
        ("    indented", "an indented block"),
        ("> quoted", "a quotation"),
        ("---", "a horizontal line"),
        ("[x](http://x.org)", "not an https:// address"),
        ("[x](docs/x.md)", "not an https:// address"),
        ("Use --max_model_len.", "write --max-model-len instead of --max_model_len"),
        ("Use `--kv-cache_dtype fp8`.", "write --kv-cache-dtype"),
    ],
)
def test_refused_markdown(text: str, problem: str) -> None:
    found = problems(text)
    assert len(found) == 1
    assert problem in found[0]


def test_titles_are_one_line() -> None:
    assert problems("- item", "title") == ["a title cannot be a list"]


def test_all_texts_are_checked(folder: Folder) -> None:
    put("does_not_help", 0, text="<br>")(folder)
    folder.remedy["text"] = "<br>"
    assert [text.partition(":")[0] for text in folder.found_by(MarkdownCheck())] == ["does_not_help.0.text", "text"]


def translated(folder: Folder) -> dict[str, object]:
    """A good translation of the remedy."""
    words: dict[str, object] = {
        "digest": digest_of(folder.remedy),
        "title": {"known": "Giảm độ dài xuống {value:int} token", "unknown": "Giảm độ dài"},
        "text": "Dùng `--max-model-len`.",
        "cost": "Prompt dài hơn bị từ chối.",
    }
    folder.files["remedies/lower-length.vi.yaml"] = words
    return words


def test_a_good_translation(folder: Folder) -> None:
    translated(folder)
    assert folder.found_by(TranslationCheck()) == []
    assert translated_shares(open_rule_folder(folder.write())) == {"vi": (1, 2)}


@pytest.mark.parametrize(
    "change, problem",
    [
        ({"digest": "0" * 12}, "digest: made from other English texts than rules/remedies/lower-length.yaml"),
        ({"effect": "x"}, "effect: English has no `effect`"),
        ({"cost": None}, "cost: `cost` is not translated"),
        ({"title": "Giảm độ dài"}, "title: English has known, unknown here"),
        (
            {"cost": {"known": "a", "unknown": "b"}},
            "cost: has `known:` and `unknown:` wordings where English has one text",
        ),
        ({"text": "Dùng `max_model_len`."}, "text: code differ from English"),
        ({"text": "Dùng --max-model-len."}, "text: code differ from English (missing: --max-model-len)"),
        ({"text": "Dùng `--max-model-len` --x."}, "text: flags differ from English (not in English: --x)"),
        ({"title": {"known": "{valeu:int}", "unknown": "x"}}, "title.known: placeholders differ from English"),
        ({"cost": unicodedata.normalize("NFD", "dài")}, "cost: is not in Unicode's composed form"),
    ],
)
def test_bad_translations(folder: Folder, change: dict[str, object], problem: str) -> None:
    words = translated(folder)
    words.update(change)
    if change.get("cost", "") is None:
        del words["cost"]
    assert any(text.startswith(problem) for text in folder.found_by(TranslationCheck()))


def test_translations_of_nothing(folder: Folder) -> None:
    folder.files["memory/gone.ja.yaml"] = {"digest": "0" * 12}
    assert folder.found_by(TranslationCheck()) == [": translates 'gone', which is no rule or remedy"]


def test_a_language_asked_for_must_be_complete(folder: Folder) -> None:
    translated(folder)
    assert folder.found_by(TranslationCheck("vi")) == [": is not translated (no length-too-long.vi.yaml)"]
    assert len(folder.found_by(TranslationCheck("ja"))) == 2
    assert folder.found_by(TranslationCheck("en")) == []


def test_fallbacks_are_translated() -> None:
    assert list(wording_problems("{a:int|một số} token", "{a:int|some} tokens")) == []
    assert list(wording_problems("`{a|một}`", "`{a|some}`")) == []


def test_a_stamp_makes_a_translation_current(folder: Folder) -> None:
    translated(folder)["digest"] = "0" * 12
    path = folder.write()
    digest = stamp_translation(path, "lower-length", "vi")
    assert digest == digest_of(folder.remedy)
    assert list(TranslationCheck().issues(open_rule_folder(path))) == []


def test_a_stamp_keeps_the_rest_of_the_file(folder: Folder) -> None:
    folder.files["remedies/lower-length.vi.yaml"] = "# by hand\ntitle: x  # keep\n"
    path = folder.write() / "remedies" / "lower-length.vi.yaml"
    digest = stamp_translation(folder.path, "lower-length", "vi")
    assert path.read_text(encoding="utf-8") == f'digest: "{digest}"\n# by hand\ntitle: x  # keep\n'
    stamp_translation(folder.path, "lower-length", "vi")
    assert path.read_text(encoding="utf-8").count("digest") == 1


@pytest.mark.parametrize("name, problem", [("nowhere", "no rule or remedy"), ("length-too-long", "write it first")])
def test_a_stamp_needs_a_translation(folder: Folder, name: str, problem: str) -> None:
    path: Path = folder.write()
    with pytest.raises(RuleError, match=problem):
        stamp_translation(path, name, "vi")
