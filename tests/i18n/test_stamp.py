"""`rules stamp`: the digest of today's English texts goes into a translation, and nothing else changes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from vllmdoctor.cli.app import run
from vllmdoctor.rules.check import check_rules

RULE = "no-cache-blocks"


@pytest.fixture
def rules(checkout: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "my-rules"
    (folder / "memory").mkdir(parents=True)
    for path in (checkout / "rules" / "memory").glob(f"{RULE}*.yaml"):
        shutil.copy(path, folder / "memory")
    return folder


def stale(folder: Path) -> bool:
    return any("made from other English texts" in issue.text for issue in check_rules(folder, language="vi"))


def test_a_stale_translation_becomes_fresh(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    english, translation = rules / "memory" / f"{RULE}.yaml", rules / "memory" / f"{RULE}.vi.yaml"
    text = english.read_text(encoding="utf-8")
    english.write_text(text.replace("\ntitle: ", "\ntitle: Really, ", 1), encoding="utf-8")
    before = translation.read_text(encoding="utf-8").splitlines()
    assert stale(rules)
    assert run(["rules", "stamp", RULE, "--lang", "vi", "--dir", str(rules)]) == 0
    digest = capsys.readouterr().out.split()[-1]
    after = translation.read_text(encoding="utf-8").splitlines()
    assert not stale(rules)
    assert f'digest: "{digest}"' in after
    assert [line for line in after if not line.startswith("digest:")] == [
        line for line in before if not line.startswith("digest:")
    ]


@pytest.mark.parametrize("name, said", [("no-such-rule", "no rule or remedy"), (RULE, "no such translation yet")])
def test_what_is_not_there(name: str, said: str, rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rules / "memory" / f"{RULE}.ja.yaml").unlink()
    assert run(["rules", "stamp", name, "--lang", "ja", "--dir", str(rules)]) == 2
    assert said in capsys.readouterr().err
