"""An unknown message is found in vLLM's source, with what its placeholders held; nothing of vLLM is executed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.report import builders as made
from tests.upstream.trees import row, small_vllm, table
from vllmdoctor.analysis import analyze_inputs
from vllmdoctor.cli.app import run
from vllmdoctor.errors import InputError
from vllmdoctor.logs.model import Frame, Record
from vllmdoctor.report.build import build_report
from vllmdoctor.report.model import UnrecognizedReport
from vllmdoctor.upstream import provenance
from vllmdoctor.upstream.provenance import Provenance, provenance_of

KV_FILE = "vllm/v1/core/kv_cache_utils.py"
MESSAGE = "Cannot unify 7 groups. There are none at all."
LOG = f"""\
(EngineCore_DP0 pid=212) INFO 05-22 10:00:17 [core.py:77] Initializing a V1 LLM engine (v0.9.1) with config: model='m'
(EngineCore_DP0 pid=212) ERROR 05-22 10:00:31 [core.py:708] Traceback (most recent call last):
(EngineCore_DP0 pid=212) ERROR 05-22 10:00:31 [core.py:708]   File "/opt/site-packages/vllm/FILE", line 716, in plan
(EngineCore_DP0 pid=212) ERROR 05-22 10:00:31 [core.py:708]     raise NotImplementedError(msg)
(EngineCore_DP0 pid=212) ERROR 05-22 10:00:31 [core.py:708] NotImplementedError: {MESSAGE}
"""


def record(message: str, exception: str = "ValueError", *files: str) -> Record:
    line = made.line(5, f"{exception}: {message}")
    frames = tuple(Frame(f"/opt/site-packages/{file}", 1, "f") for file in files)
    return Record(
        0,
        "exception",
        line.text,
        line.process,
        "ERROR",
        None,
        None,
        "log",
        (line,),
        (0,),
        line,
        line,
        exception,
        frames,
    )


def unknown(log: Path, vllm: Path | None) -> UnrecognizedReport:
    report = analyze_inputs([str(log)], vllm=vllm)
    assert report.unrecognized is not None
    return report.unrecognized


@pytest.mark.parametrize("file", ["v1/core/kv_cache_utils.py", "elsewhere.py"])
def test_found_by_the_traceback_or_by_its_words(tmp_path: Path, file: str) -> None:
    log = tmp_path / "startup.log"
    log.write_text(LOG.replace("FILE", file), encoding="utf-8")
    place = unknown(log, small_vllm(tmp_path)).provenance
    assert place is not None
    assert (place.file, place.function) == (KV_FILE, "Planner.plan")
    assert dict(place.values) == {"len(groups)": "7"}


def test_values_of_every_placeholder(tmp_path: Path) -> None:
    tree = small_vllm(tmp_path)
    text = "max seq len (4096) needs 8.00 GiB, only 3.50 GiB of 'cuda:0' are left"
    found = provenance_of(record(text), tree)
    assert found is not None
    assert list(found.values.values()) == ["4096", "8.00", "3.50", "'cuda:0'"]


@pytest.mark.parametrize(
    "message",
    ["quux 7 failed", "groups of the other program are here", "No available memory in this wallet of mine", ""],
)
def test_a_strange_message_has_no_provenance(tmp_path: Path, message: str) -> None:
    assert provenance_of(record(message), small_vllm(tmp_path)) is None


def test_few_words_of_a_template_do_not_explain_a_long_message(tmp_path: Path) -> None:
    path = table(tmp_path, row("{a} does not support {b}", "0.9.0", "0.9.0"))
    long = "the library of somebody else, version 3, does not support whatever it was that you wanted from it today"
    assert provenance_of(record(long), path) is None
    assert provenance_of(record(long, "ValueError", "vllm/config/model.py"), path) is not None


def test_a_pydantic_line_is_unwrapped(tmp_path: Path) -> None:
    path = table(tmp_path, row("the widget {n} is much too small", "0.8.0", "0.9.0"))
    text = "1 validation error for ModelConfig Value error, the widget 7 is much too small [type=value_error, input_value=1]"
    found = provenance_of(record(text, "pydantic_core.ValidationError"), path)
    assert found is not None
    assert (dict(found.values), found.first_version) == ({"n": "7"}, "0.8.0")


def test_nothing_is_executed(tmp_path: Path) -> None:
    tree = small_vllm(tmp_path)
    (tree / "vllm" / "trap.py").write_text(
        "raise SystemExit('executed')\nraise ValueError('one two three four')\n", encoding="utf-8"
    )
    found = provenance_of(record("one two three four"), tree)
    assert found is not None
    assert found.file == "vllm/trap.py"


def test_an_installed_vllm_is_used_without_being_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = small_vllm(tmp_path)
    (tree / "vllm-0.9.1.dist-info").mkdir()
    (tree / "vllm-0.9.1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: vllm\nVersion: 0.9.1\n", encoding="utf-8"
    )
    (tree / "vllm" / "__init__.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    assert provenance.installed_vllm() is None
    monkeypatch.syspath_prepend(str(tree))
    assert provenance.installed_vllm() == tree / "vllm"
    found = provenance_of(record(MESSAGE))
    assert found is not None
    assert found.file == KV_FILE


def test_a_wrong_path_is_told_before_the_log_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no vLLM"):
        analyze_inputs(["no-such.log"], vllm=tmp_path)


def test_values_are_redacted() -> None:
    place = Provenance("vllm/a.py", "f", "token {t}", {"t": "hf_abcdefghijklmnopqrstuvwx", "u": "\x1b[31mred"})
    report = build_report(made.unrecognized(), made.CATALOGUE, made.INPUTS, provenance=place)
    assert report.unrecognized is not None
    assert report.unrecognized.provenance is not None
    assert dict(report.unrecognized.provenance.values) == {"t": "[redacted]", "u": "red"}


def test_text_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str], checkout: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    log = tmp_path / "startup.log"
    log.write_text(LOG.replace("FILE", "x.py"), encoding="utf-8")
    arguments = ["analyze", str(log), "--vllm", str(small_vllm(tmp_path))]
    assert run(arguments) == 3
    text = capsys.readouterr().out
    assert f"{KV_FILE} in Planner.plan" in text
    assert "len(groups) was 7" in text
    assert run([*arguments, "--format", "json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert document["unrecognized"]["provenance"]["values"] == {"len(groups)": "7"}
    schema = json.loads((checkout / "docs" / "schema" / "report.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)
