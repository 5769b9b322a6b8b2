"""Loading: compiled rules equal the YAML, user folders add to them, wrong folders are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.rules.helpers import Folder
from vllmdoctor.errors import RuleError
from vllmdoctor.rules import load
from vllmdoctor.rules.compiled import bundle_of, catalogue_of
from vllmdoctor.rules.load import checkout_rules, load_bundle, load_catalogue
from vllmdoctor.rules.yaml_source import read_rules_folder


def test_the_compiled_rules_equal_the_yaml(folder: Folder) -> None:
    folder.files["memory/length-too-long.ja.yaml"] = {"digest": "0" * 12, "title": "題"}
    bundle = bundle_of(read_rules_folder(folder.write()))
    through_json = json.loads(json.dumps(bundle, ensure_ascii=False))
    for language in ("en", "ja"):
        assert catalogue_of(through_json, language) == catalogue_of(bundle, language)
    assert catalogue_of(through_json, "ja").rules["length-too-long"].title.known.source == "題"
    assert through_json["rules"]["length-too-long"]["signatures"][0]["literals"] == [
        [") does not fit"],
        ["the length ("],
    ]


def test_notices_tell_missing_and_stale_translations(folder: Folder) -> None:
    folder.files["memory/length-too-long.ja.yaml"] = {"digest": "0" * 12, "title": "題"}
    bundle = bundle_of(read_rules_folder(folder.write()))
    assert catalogue_of(bundle, "ja").notices == {"length-too-long": "stale", "lower-length": "missing"}
    assert catalogue_of(bundle, "en").notices == {}


def test_shipped_rules_load() -> None:
    assert checkout_rules() is not None
    catalogue = load_catalogue()
    assert catalogue.rules
    assert not any(rule.user_supplied for rule in catalogue.rules.values())
    assert "no-cache-blocks" in load_bundle()["rules"]


@pytest.fixture
def user_folder(tmp_path: Path) -> Folder:
    """A rule of the user's own that uses a shipped remedy and a shipped fact."""
    folder = Folder(tmp_path)
    folder.files.pop("remedies/lower-length.yaml")
    folder.rule["fixes"] = [{"remedy": "lower-max-model-len"}]
    folder.files["facts/names.yaml"] = {
        "lines": [{"pattern": r"our wrapper: length (?P<max_model_len>\d+)", "samples": ["our wrapper: length 16"]}]
    }
    return folder


def test_a_user_folder_adds_rules_and_facts(user_folder: Folder) -> None:
    shipped = load_catalogue()
    catalogue = load_catalogue(extra_folders=[user_folder.write()])
    assert catalogue.rules.keys() == shipped.rules.keys() | {"length-too-long"}
    assert catalogue.rules["length-too-long"].user_supplied
    assert catalogue.rules["length-too-long"].fixes[0].remedy is catalogue.remedies["lower-max-model-len"]
    assert len(catalogue.facts.lines) == len(shipped.facts.lines) + 1
    assert catalogue.facts.names == shipped.facts.names


def test_a_user_rule_replaces_a_shipped_one_of_the_same_id(user_folder: Folder) -> None:
    name = next(iter(load_catalogue().rules))
    user_folder.rule["id"] = name
    rules = load_catalogue(extra_folders=[user_folder.write()]).rules
    assert rules[name].user_supplied
    assert rules[name].signatures[0].samples == ("ValueError: the length (4096) does not fit",)


def test_wrong_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match=r"no-such-folder.*is not a folder"):
        load_catalogue(extra_folders=[tmp_path / "no-such-folder"])
    with pytest.raises(RuleError, match="no rule files"):
        load_catalogue(extra_folders=[tmp_path])


def test_a_checkout_keeps_its_compiled_rules_until_a_file_changes(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "checkout_rules", folder.write)
    assert load_bundle()["rules"]["length-too-long"]["summary"].startswith("The KV cache")
    assert (folder.path.parent / "build" / "rules-cache.json").is_file()
    folder.rule["summary"] = "Changed."
    assert load_bundle()["rules"]["length-too-long"]["summary"] == "Changed."


def test_a_damaged_cache_is_made_again(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder.write()
    monkeypatch.setattr(load, "checkout_rules", lambda: path)
    load_bundle()
    (path.parent / "build" / "rules-cache.json").write_text("{", encoding="utf-8")
    assert "length-too-long" in load_bundle()["rules"]
