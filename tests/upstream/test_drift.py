"""Claims of rules against what vLLM's source has, and the share of its messages that rules know."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.rules.helpers import Folder
from tests.upstream.trees import row, signature, small_vllm, table
from vllmdoctor.cli.app import run
from vllmdoctor.errors import UsageError
from vllmdoctor.rules.model import Catalogue, FactBook, Rule, Signature
from vllmdoctor.rules.texts import parse_text
from vllmdoctor.upstream.areas import area_of
from vllmdoctor.upstream.drift import Drift, drift_of, read_source
from vllmdoctor.upstream.internal import internal_keys, internal_rows, key_of

PATTERN = r"the widget \d+ does not fit"
TEXT = "the widget {n} does not fit"
# Rows that make the table span these releases: 0.6.0, 0.7.0, 0.8.0, 0.9.0, 0.10.0
SPAN = (row("alpha beta gamma", "0.6.0", "0.7.0", "vllm/a.py"), row("delta beta gamma", "0.8.0", "0.9.0", "vllm/a.py"),
        row("epsilon beta gamma", "0.10.0", "0.10.0", "vllm/a.py"))  # fmt: skip


def rule(rule_id: str, *signatures: Signature) -> Rule:
    text = parse_text("x")
    return Rule(rule_id, "config", "cause", "fatal", "any", text, text, signatures)


def drift(path: Path, *rules: Rule, version: str = "") -> Drift:
    return drift_of(Catalogue("en", {one.id: one for one in rules}, {}, FactBook()), read_source(path, version))


def faults(path: Path, one: Signature) -> list[tuple[str, str]]:
    return [(fault.kind, fault.text) for fault in drift(path, rule("widget", one)).faults]


@pytest.mark.parametrize(
    "versions, kinds",
    [
        (">=0.8.0, <=0.9.0", []),
        (">=0.7.0, <=0.10.0", []),  # one sampled release more on either side may be the table's gap
        (">=0.6.0, <=0.9.0", ["versions"]),
        (">=0.8.0, <=0.8.0", []),
        (">=0.2.0, <0.7.0", ["versions"]),
        (">=0.10.0", ["versions"]),
    ],
)
def test_a_range_that_the_table_contradicts(tmp_path: Path, versions: str, kinds: list[str]) -> None:
    path = table(tmp_path, *SPAN, row(TEXT, "0.8.0", "0.9.0"))
    assert [kind for kind, _ in faults(path, signature(PATTERN, versions=versions))] == kinds


def test_a_range_that_stops_while_the_message_goes_on(tmp_path: Path) -> None:
    path = table(tmp_path, *SPAN, row(TEXT, "0.6.0", "0.10.0"))
    [(kind, text)] = faults(path, signature(PATTERN, versions="<=0.7.0"))
    assert kind == "versions"
    assert "0.10.0 has its wording" in text


def test_another_file_may_have_the_message_when_the_table_does_not_know_it(tmp_path: Path) -> None:
    path = table(tmp_path, *SPAN, row(TEXT, "0.6.0", "0.7.0"))
    here = signature(PATTERN, versions=">=0.6.0")
    assert [kind for kind, _ in faults(path, here)] == ["versions"]
    elsewhere = signature(PATTERN, versions=">=0.6.0", raised=("vllm/config/model.py", "vllm/exceptions.py"))
    assert faults(path, elsewhere) == []


def test_a_wrong_file(tmp_path: Path) -> None:
    path = table(tmp_path, *SPAN, row(TEXT, "0.6.0", "0.10.0", "vllm/config/new.py"))
    [(kind, text)] = faults(path, signature(PATTERN))
    assert kind == "file"
    assert "vllm/config/new.py" in text
    assert faults(path, signature(PATTERN, raised=("vllm/config",))) == []


def test_a_table_does_not_prove_that_a_wording_is_gone_a_tree_does(tmp_path: Path) -> None:
    gone = rule("widget", signature("a wording that nobody prints"))
    in_table = drift(table(tmp_path, *SPAN), gone)
    assert (in_table.faults, [place.rule for place in in_table.unfound]) == ((), ["widget"])
    [fault] = drift(small_vllm(tmp_path), gone).faults
    assert (fault.kind, fault.rule, fault.number) == ("wording", "widget", 1)


def test_what_no_python_file_prints_is_not_asked_about(tmp_path: Path) -> None:
    tree = small_vllm(tmp_path)
    for one in (signature("gone for good", raised=("csrc/a.cu",)), signature("gone for good", versions="<=0.8.0")):
        assert drift(tree, rule("widget", one)).faults == ()


def test_a_tree_contradicts_a_range(tmp_path: Path) -> None:
    tree = small_vllm(tmp_path)
    old = signature(
        "No available memory for the cache blocks", versions="<=0.8.5", raised=("vllm/v1/core/kv_cache_utils.py",)
    )
    [fault] = drift(tree, rule("widget", old)).faults
    assert fault.kind == "versions"


def test_coverage_counts_families_apart(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        row("the gadget has no room", "0.9.0", "0.9.0"),
        row(TEXT, "0.9.0", "0.9.0"),
        row("nobody knows this message", "0.9.0", "0.9.0"),
        row("an older message of long ago", "0.8.0", "0.8.0"),
        row("{error}", "0.9.0", "0.9.0"),
        row("the kernel has no shape", "0.9.0", "0.9.0", "vllm/model_executor/models/llama.py"),
    )
    found = drift(
        path, rule("widget", signature(PATTERN)), rule("invalid-argument-value", signature("the gadget has no room"))
    )
    share = found.coverage.share(["configuration"])
    assert (share.total, share.specific, share.generic) == (3, 1, 1)
    assert [t.text for t in found.coverage.uncovered] == ["nobody knows this message"]
    assert found.coverage.wordless == 1
    assert found.coverage.categories == {"config": 2}
    older = drift(path, rule("widget", signature(PATTERN)), version="0.8.0").coverage
    assert [t.text for t in older.uncovered] == ["an older message of long ago"]


def test_internal_messages_are_left_out_of_the_operators_share(tmp_path: Path) -> None:
    row_of = internal_rows()[0]  # its placeholders may be spelt in another way by what reads the source
    respelt = re.sub(r"\{[^{}]*\}", "{x}", row_of["template"])
    path = table(
        tmp_path,
        row(respelt, "0.9.0", "0.9.0", row_of["file"]),
        row(respelt, "0.9.0", "0.9.0", "vllm/config/elsewhere.py"),
        row(TEXT, "0.9.0", "0.9.0"),
    )
    found = drift(path, rule("widget", signature(PATTERN))).coverage
    share = found.share(["configuration"])
    assert (share.total, share.known, share.internal, share.operator_facing) == (3, 1, 1, 2)
    assert round(share.percent) == 33
    assert round(share.operator_percent) == 50
    assert [t.file for t in found.uncovered] == ["vllm/config/elsewhere.py"]


def test_an_internal_message_that_a_rule_knows_counts_as_known(tmp_path: Path) -> None:
    path = table(tmp_path, row(internal_rows()[0]["template"], "0.9.0", "0.9.0", internal_rows()[0]["file"]))
    words = re.escape(max(re.split(r"\{[^{}]*\}", internal_rows()[0]["template"]), key=len))
    share = drift(path, rule("widget", signature(words))).coverage.share(["configuration"])
    assert (share.known, share.internal, share.operator_percent) == (1, 0, 100)


def test_the_table_of_internal_messages() -> None:
    rows = internal_rows()
    assert all(row["reason"] and row["template"] and row["file"].startswith("vllm/") for row in rows)
    assert [row for row in rows if area_of(row["file"]) is None] == []
    keys = [key_of(row["file"], row["template"]) for row in rows]
    assert len(set(keys)) == len(keys)
    assert set(keys) == internal_keys()


def test_the_most_important_comes_first(tmp_path: Path) -> None:
    request = "vllm/sampling_params.py"
    path = table(
        tmp_path,
        ("warning", "", "vllm/config/model.py", "f", "a warning at the start", "0.6.0", "0.9.0"),
        row("a raise of a request", "0.6.0", "0.9.0", request),
        row("a young raise at the start", "0.9.0", "0.9.0"),
        row("an old raise at the start", "0.6.0", "0.9.0"),
        row("an assertion at the start", "0.6.0", "0.9.0", exception="AssertionError"),
        ("error", "", request, "f", "an error line of a request", "0.6.0", "0.9.0"),
    )
    assert [t.text for t in drift(path).coverage.uncovered] == [
        "an old raise at the start",
        "a young raise at the start",
        "a raise of a request",
        "an assertion at the start",
        "an error line of a request",
        "a warning at the start",
    ]


def test_areas() -> None:
    names = {
        "vllm/config/cache.py": "configuration",
        "vllm/entrypoints/cli/serve.py": "server start",
        "vllm/entrypoints/openai/serving_chat.py": "requests",
        "vllm/distributed/kv_transfer/factory.py": "KV transfer",
        "vllm/distributed/parallel_state.py": "distributed",
    }
    assert {file: area.name if (area := area_of(file)) else "" for file in names} == names
    assert area_of("vllm/model_executor/models/llama.py") is None


def test_a_tree_without_a_version_needs_one(tmp_path: Path) -> None:
    tree = small_vllm(tmp_path, version="")
    with pytest.raises(UsageError, match="--version"):
        read_source(tree)
    assert read_source(tree, "0.9.1").releases == ((0, 9, 1),)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Folder(tmp_path).write()  # its rule says that vllm/engine.py prints "the length (n) does not fit"
    for unwanted in (folder / "taxonomy.tsv", folder / "facts" / "names.yaml"):
        unwanted.unlink()
    path = table(tmp_path, *SPAN, row("the length ({n}) does not fit", "0.6.0", "0.7.0", "vllm/engine.py"))
    arguments = ["rules", "drift", "--vllm", str(path), "--rules", str(folder)]
    assert run(arguments) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert re.search(r"length-too-long signature 1: claims '>=0.2.0', but its wording ends with 0.7.0", text)
    assert run([*arguments, "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert {"kind": "versions", "rule": "length-too-long", "signature": 1} in [
        {key: fault[key] for key in ("kind", "rule", "signature")} for fault in document["faults"]
    ]
    assert document["version"] == "0.10.0"


def test_the_command_on_something_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rules", "drift", "--vllm", str(tmp_path)]) == 2
    assert "is no vLLM" in capsys.readouterr().err
