"""A new rule made from a log builds, passes the checks, and knows the log's failure."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.upstream.test_provenance import LOG, record
from tests.upstream.trees import small_vllm
from vllmdoctor import analyze
from vllmdoctor.analysis import analyze_inputs
from vllmdoctor.cli.app import run
from vllmdoctor.cli.rules_stats import stats_of
from vllmdoctor.errors import UsageError
from vllmdoctor.rules.check import check_rules
from vllmdoctor.rules.load import load_catalogue
from vllmdoctor.upstream.provenance import Provenance
from vllmdoctor.upstream.scaffold import general_pattern, new_rule, template_pattern

MESSAGE = "Cannot unify 7 groups of '/home/alice/models' (0.25 of 3). There are none at all."


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "startup.log"
    text = LOG.replace("FILE", "v1/core/kv_cache_utils.py").replace(
        "Cannot unify 7 groups. There are none at all.", MESSAGE
    )
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "message, other",
    [
        (MESSAGE, "Cannot unify 12 groups of '/data' (3.50 of 9). There are none at all."),
        ("bad id 0x7f00 at tcp://192.0.2.1:80 [1, 2]", "bad id 0xab at http://example.org/x []"),
        ("no `a.b` in /opt/x/y.json: give a + b? (yes)", "no `c` in /srv/z.json: give a + b? (yes)"),
    ],
)
def test_a_general_pattern_takes_the_message_with_other_values(message: str, other: str) -> None:
    pattern = general_pattern(message)
    assert re.search(pattern, message)
    assert re.search(pattern, other)
    assert not re.search(pattern, "something else altogether")


def test_a_pattern_of_a_template() -> None:
    place = Provenance("vllm/a.py", "f", "{name}: block size {n} (of {path}) is not {m}", {"n": "16", "path": "/a"})
    pattern = template_pattern(place)
    assert pattern == r": block size -?\d{1,12}(?:\.\d{1,9})? \(of .{1,200}?\) is not"
    assert re.search(pattern, "x: block size 32 (of /b/c) is not 8")


def test_a_message_without_words_is_refused() -> None:
    rule = new_rule("my-rule", "config", record("7 / 8"), "7 / 8", "any", "", (), None)
    with pytest.raises(UsageError, match="no words of its own"):
        _ = rule.pattern


def test_a_user_rule(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "mine"
    assert (
        run(["rules", "new", "groups-not-unified", "--from", str(log), "--category", "memory", "--dir", str(folder)])
        == 0
    )
    assert "groups-not-unified.yaml" in capsys.readouterr().out
    text = (folder / "groups-not-unified.yaml").read_text(encoding="utf-8")
    document = yaml.safe_load(text)
    assert document["category"] == "memory"
    assert "alice" not in text
    assert document["signatures"][0]["raised"] == ["vllm/v1/core/kv_cache_utils.py"]
    assert [str(issue) for issue in check_rules(folder)] == []
    report = analyze_inputs([str(log)], rules_folders=[folder])
    assert [f.rule for f in report.findings if f.role == "root-cause"] == ["groups-not-unified"]


def test_with_provenance(log: Path, tmp_path: Path) -> None:
    log.write_text(
        log.read_text(encoding="utf-8").replace(MESSAGE, "Cannot unify 7 groups. There are none at all."),
        encoding="utf-8",
    )
    tree = small_vllm(tmp_path)
    assert run(["rules", "new", "a-b", "--from", str(log), "--dir", str(tmp_path / "mine"), "--vllm", str(tree)]) == 0
    signature = yaml.safe_load((tmp_path / "mine" / "a-b.yaml").read_text(encoding="utf-8"))["signatures"][0]
    assert signature["versions"] == ">=0.9.1"
    assert signature["pattern"].startswith("Cannot unify -?\\d{1,12}")


def test_in_a_folder_like_the_shipped_one(log: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "taxonomy.tsv").write_text("id\tcategory\tdescription\n", encoding="utf-8")
    assert run(["rules", "new", "a-b", "--from", str(log), "--category", "memory", "--dir", str(rules)]) == 0
    assert (rules / "memory" / "a-b.yaml").is_file()
    assert (rules / "taxonomy.tsv").read_text(encoding="utf-8").splitlines()[1].startswith("a-b\tmemory\t")
    fixture = tmp_path / "tests" / "fixtures" / "rules" / "a-b"
    expected = yaml.safe_load((fixture / "expected.yaml").read_text(encoding="utf-8"))
    assert (expected["status"], expected["root"], expected["line"]) == ("failure", "a-b", 5)
    assert "Cannot unify 7 groups" in (fixture / "startup.log").read_text(encoding="utf-8").splitlines()[4]
    assert analyze(fixture / "near-miss.log").status == "healthy"


@pytest.mark.parametrize(
    "arguments, problem",
    [
        (["No-Id"], "is no id"),
        (["no-cache-blocks"], "exists"),
        (["a-b", "--category", "weather"], "no category"),
    ],
)
def test_wrong_arguments(
    log: Path, tmp_path: Path, arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["rules", "new", *arguments, "--from", str(log), "--dir", str(tmp_path / "mine")]) == 2
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "mine").exists()


def test_a_failure_that_is_known(checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = checkout / "tests" / "fixtures" / "rules" / "no-cache-blocks" / "startup.log"
    assert run(["rules", "new", "a-b", "--from", str(known), "--dir", str(tmp_path)]) == 2
    assert "known as no-cache-blocks" in capsys.readouterr().err


def test_nothing_is_overwritten(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["rules", "new", "a-b", "--from", str(log), "--dir", str(tmp_path / "mine")]
    assert run(arguments) == 0
    (tmp_path / "mine" / "a-b.yaml").write_text("kept", encoding="utf-8")
    assert run(arguments) == 2
    assert (tmp_path / "mine" / "a-b.yaml").read_text(encoding="utf-8") == "kept"


def test_stats(capsys: pytest.CaptureFixture[str]) -> None:
    catalogue = load_catalogue()
    stats = stats_of(catalogue)
    assert sum(stats.categories.values()) == sum(stats.roles.values()) == sum(stats.severities.values()) == stats.rules
    assert sum(stats.origins.values()) == stats.signatures == len(catalogue.signatures())
    assert stats.languages["en"] == stats.rules
    assert run(["rules", "stats"]) == 0
    assert f"{stats.rules} rules" in capsys.readouterr().out
