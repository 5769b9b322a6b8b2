"""The analyzer in Pyodide answers as the command does, byte for byte, and is small and quick enough for a page."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
import zstandard

from tests.site.built_engine import CHECKOUT, NPM, SCRIPTS, asked_in_node, engine_folder, needs_node
from vllmdoctor import __version__
from vllmdoctor.analysis import analyze_inputs
from vllmdoctor.cli import main
from vllmdoctor.languages import LANGUAGES
from vllmdoctor.report.json import report_json
from vllmdoctor.rules.load import load_catalogue
from vllmdoctor.site import in_browser
from vllmdoctor.site.candidates import candidates_document
from vllmdoctor.site.engine import (
    EXAMPLES,
    EngineError,
    compiled_modules,
    engine_modules,
    transfer_bytes,
    visitor_files,
    write_engine,
)
from vllmdoctor.site.engine_build.compiled_zip import imported_names, needed_modules

MOST_TRANSFER_BYTES = 7_000_000
FIRST_REPORT_SECONDS = 1.5
LARGE_LOG_SECONDS = 15  # of one core, on a machine that other tests share
FIXTURES = CHECKOUT / "tests" / "fixtures"
REAL = sorted((FIXTURES / "real").glob("*.log"))
OF_RULES = sorted((FIXTURES / "rules").glob("*/startup.log"))
CLEAN = [FIXTURES / "clean" / name for name in ("utf16-0.11.0.log", "nvidia-smi-and-log.log", "docker-json-0.9.2.log")]
CONFIG = {
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

Input = dict[str, Any]


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return engine_folder(tmp_path_factory.getbasetemp() / "engine")


def one(path: Path, name: str = "", *, table: bool = False) -> Input:
    return {"name": name or path.name, "path": str(path), "table": table}


def printed(inputs: Sequence[Input], language: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> str:
    """What `vllmdoctor analyze --format json` prints on files of these names."""
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    for given in inputs:
        Path(given["name"]).write_bytes(Path(given["path"]).read_bytes())
    logs = [given["name"] for given in inputs if not given["table"]]
    tables = [given["name"] for given in inputs if given["table"]]
    return report_json(analyze_inputs(logs, nvidia_smi=tables, language=language), version=__version__)


def packed(folder: Path) -> list[Input]:
    """One log in every form of file that a visitor may drop."""
    folder.mkdir()
    source = (CHECKOUT / "examples" / "startup.log").read_bytes()
    files = {
        "startup.log.gz": gzip.compress(source, mtime=0),
        "startup.log.bz2": bz2.compress(source),
        "startup.log.xz": lzma.compress(source),
        "startup.log.zst": zstandard.ZstdCompressor().compress(source),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    with zipfile.ZipFile(folder / "logs.zip", "w") as archive:
        archive.writestr("pod/startup.log", source)
        archive.writestr("pod/other.log", (FIXTURES / "real" / "port-in-use.log").read_bytes())
    return [one(path) for path in sorted(folder.iterdir())]


def large_log(path: Path) -> Path:
    """5 MB: a server that ran for long, then failed to start again."""
    line = "INFO 11-28 09:{:02d}:{:02d} [loggers.py:127] Engine 000: Avg prompt throughput: {}.0 tokens/s, Running: 3 reqs\n"
    body = "".join(line.format(number // 60 % 60, number % 60, number) for number in range(50_000))
    path.write_text(body + (CHECKOUT / "examples" / "startup.log").read_text(encoding="utf-8"), encoding="utf-8")
    assert path.stat().st_size > 5_000_000
    return path


@needs_node
@pytest.mark.slow
class TestInNode:
    def test_the_same_answers_as_the_command(
        self, engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        smi = one(CHECKOUT / "examples" / "nvidia-smi.txt", table=True)
        small: list[list[Input]] = [[one(path)] for path in (*REAL, *CLEAN, CHECKOUT / "examples" / "startup.log")]
        small += [[one(path, f"{path.parent.name}.log")] for path in OF_RULES[::6]]
        small += [[given] for given in packed(tmp_path / "packed")]
        small.append([one(CHECKOUT / "examples" / "startup.log"), smi])
        small.append([one(REAL[0], "rank0.log"), one(REAL[1], "rank1.log")])
        assert len(small) >= 40
        logs = [*small, [one(large_log(tmp_path / "large.log"))]]
        answers = asked_in_node(engine, {"language": "en", "logs": logs, "plans": []}, tmp_path)
        for number, (inputs, answer) in enumerate(zip(logs, answers["logs"], strict=True)):
            assert "error" not in answer, (inputs, answer)
            assert answer["json"] == printed(inputs, "en", monkeypatch, tmp_path / f"{number}"), inputs
            assert answer["status"] == json.loads(answer["json"])["status"]
            assert answer["html"].startswith('<section class="vd-report"')
        first = answers["logs"][small.index([one(CHECKOUT / "examples" / "startup.log")])]
        text = (CHECKOUT / "examples" / "startup.log").read_text(encoding="utf-8").split("\n")
        assert first["first"] == {"name": "startup.log", "total": 144, "lines": [[1, text[0]], [2, text[1]]]}
        assert max(answer["cpu"] for answer in answers["logs"][:-1]) <= FIRST_REPORT_SECONDS
        assert answers["logs"][-1]["cpu"] <= LARGE_LOG_SECONDS

    @pytest.mark.parametrize("language", ["vi", "ja"])
    def test_the_same_answers_in_other_languages(
        self, language: str, engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        logs = [[one(path)] for path in (CHECKOUT / "examples" / "startup.log", *REAL[:3])]
        plans = [{"config": json.dumps(CONFIG), "options": {"gpu": "RTX 4090", "max_model_len": "8,192"}}]
        plans.append({"config": "{", "options": {"gpu": "RTX 4090"}})
        answers = asked_in_node(engine, {"language": language, "logs": logs, "plans": plans}, tmp_path)
        for inputs, answer in zip(logs, answers["logs"], strict=True):
            assert answer["json"] == printed(inputs, language, monkeypatch, tmp_path / "files"), inputs
        fits, refused = answers["plans"]
        assert fits == in_browser.plan(plans[0]["config"], json.dumps(plans[0]["options"]), language)
        assert refused == in_browser.plan(plans[1]["config"], json.dumps(plans[1]["options"]), language)
        assert fits["fits"] is True
        assert refused["error"]["message"].startswith("config.json: ")

    def test_candidates_by_words_name_most_failures(self, engine: Path, tmp_path: Path) -> None:
        """They are shown while the analyzer loads: worth it only if they are mostly right."""
        folders = [path.parent for path in OF_RULES]
        roots = [yaml.safe_load((folder / "expected.yaml").read_text(encoding="utf-8"))["root"] for folder in folders]
        named = [(folder, root) for folder, root in zip(folders, roots, strict=True) if root]
        logs = [[one(folder / "startup.log")] for folder, _ in named]
        answers = asked_in_node(engine, {"language": "en", "logs": logs, "plans": []}, tmp_path)["logs"]
        right = [root in answer["candidates"] for (_, root), answer in zip(named, answers, strict=True)]
        assert sum(right) >= 0.7 * len(right), [root for (_, root), ok in zip(named, right, strict=True) if not ok]

    def test_a_visitor_loads_little(self, engine: Path) -> None:
        for language in LANGUAGES:
            assert transfer_bytes(engine, language) <= MOST_TRANSFER_BYTES, language

    def test_everything_is_there_with_its_digest(self, engine: Path) -> None:
        manifest = json.loads((engine / "manifest.json").read_text(encoding="utf-8"))
        for language in LANGUAGES:
            for name in visitor_files(language)[:-1]:
                data = (engine / name).read_bytes()
                digest = hashlib.sha256(data).hexdigest()[:12]
                assert manifest["files"][name] == {"bytes": len(data), "digest": digest}
        assert {path.name for path in (engine / "examples").iterdir()} == set(EXAMPLES)

    def test_licences_are_named(self, engine: Path) -> None:
        text = (engine / "LICENSES.txt").read_text(encoding="utf-8")
        version = json.loads((NPM / "pyodide" / "package.json").read_text(encoding="utf-8"))["version"]
        for part in (f"Pyodide {version}", "Mozilla Public License 2.0", "PSF-2.0", "Zstandard", "Apache License"):
            assert part in text
        assert "{" not in text.split("Apache License")[0]

    def test_no_sources_and_nothing_of_the_command_line(self, engine: Path) -> None:
        with zipfile.ZipFile(engine / "vllmdoctor.zip") as archive:
            names = archive.namelist()
        assert not [name for name in names if name.endswith(".py") or "/cli/" in name or "/report/text/" in name]
        assert names == sorted(names)

    def test_the_same_checkout_gives_the_same_bytes(self, engine: Path, tmp_path: Path) -> None:
        again = compiled_modules(NPM / "pyodide", tmp_path / "compiled")
        for name in ("python_stdlib.zip", "vllmdoctor.zip"):
            assert (again / name).read_bytes() == (engine / name).read_bytes(), name


def test_the_command_prints_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(CHECKOUT / "examples")
    monkeypatch.setattr("sys.argv", ["vllmdoctor", "analyze", "--format", "json", "startup.log"])
    with pytest.raises(SystemExit):
        main()
    answer = in_browser.analyze(["startup.log"], [], "en")
    assert str(answer["json"]).encode() == capfdbinary.readouterr().out


def test_an_input_that_cannot_be_read_is_told_in_the_language(tmp_path: Path) -> None:
    empty = tmp_path / "empty.log"
    empty.write_bytes(b"")
    english = in_browser.analyze([str(empty)], [], "en")["error"]
    japanese = in_browser.analyze([str(empty)], [], "ja")["error"]
    assert isinstance(english, dict) and isinstance(japanese, dict)
    assert english["message"] and english != japanese


def test_lines_of_the_last_analysis(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("one\n\x1b[31mtwo\x1b[0m\nthree\n", encoding="utf-8")
    in_browser.analyze([str(path)], [], "en")
    assert json.loads(in_browser.log_lines(0, 2, 9)) == {
        "name": str(path),
        "total": 3,
        "lines": [[2, "two"], [3, "three"]],
    }
    assert json.loads(in_browser.log_lines(1, 1, 9))["lines"] == []
    in_browser.forget()
    assert json.loads(in_browser.log_lines(0, 1, 9))["lines"] == []


@pytest.mark.parametrize(
    "options, said",
    [
        ({"gpu": "RTX 9999"}, "is not in the list of GPUs"),
        ({}, "no GPU given"),
        ({"gpu": "RTX 4090", "gpus": "0"}, "--gpus must be at least 1"),
        ({"gpu": "RTX 4090", "max_model_len": "-1"}, "--max-model-len must be at least 1"),
        ({"gpu": "RTX 4090", "max_model_len": "many"}, "--max-model-len 'many' is no number"),
        ({"gpu": "RTX 4090", "gpu_memory_utilization": "3"}, "is not between 0 and 1"),
        ({"gpu": "RTX 4090", "gpus": "8", "tensor_parallel_size": "3"}, "3"),
    ],
)
def test_the_calculator_refuses_what_the_command_refuses(options: dict[str, str], said: str) -> None:
    error = in_browser.plan(json.dumps(CONFIG), json.dumps(options), "en")["error"]
    assert isinstance(error, dict) and said in error["message"]


@pytest.mark.parametrize("config", ["", "[]", "{}", '{"model_type": "resnet"}', "[" * 100_000])
def test_the_calculator_refuses_what_is_no_config(config: str) -> None:
    error = in_browser.plan(config, json.dumps({"gpu": "RTX 4090"}), "en")["error"]
    assert isinstance(error, dict) and error["message"].startswith("config.json: ")


def test_the_calculator_is_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("llama.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    options = ["--gpu", "2x L40S", "--kv-cache-dtype", "fp8", "--format", "json"]
    monkeypatch.setattr("sys.argv", ["vllmdoctor", "plan", "llama.json", *options])
    with pytest.raises(SystemExit):
        main()
    command = json.loads(capfdbinary.readouterr().out)
    fields = {"gpu": "L40S", "gpus": "2", "kv_cache_dtype": "fp8", "tensor_parallel_size": ""}
    answer = in_browser.plan(json.dumps(CONFIG), json.dumps(fields), "en")
    assert json.loads(str(answer["json"])) == {**command, "model": "config.json"}


def test_a_missing_pyodide_is_told(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="npm ci"):
        write_engine(tmp_path, tmp_path / "engine")
    assert not (tmp_path / "engine").exists()


def test_the_engine_needs_none_of_our_optional_parts() -> None:
    modules = engine_modules()
    assert {"vllmdoctor.site.in_browser", "vllmdoctor.facts.gpus.table", "vllmdoctor.upstream.provenance"} <= modules
    assert not [name for name in modules if name.startswith(("vllmdoctor.cli", "vllmdoctor.report.text"))]
    assert "vllmdoctor.rules.yaml_source" not in modules


def test_imports_are_found_wherever_they_stand() -> None:
    source = b"""
import a.b
from . import c
from .d import e as f
from ..g import h
if TYPE_CHECKING:
    import never
try:
    import i
except ImportError:
    import j
def function():
    import k
"""
    top = ["a.b", "p.q", "p.q.c", "p.q.d", "p.q.d.e", "p.g", "p.g.h", "i", "j"]
    assert imported_names(source, "p.q", inside_functions=False) == top
    assert imported_names(source, "p.q", inside_functions=True) == [*top, "k"]


def test_of_the_library_only_what_is_reached_is_kept() -> None:
    library = {
        "used.py": b"import deeper\ndef f():\n    import lazily",
        "deeper.py": b"def f():\n    import far",
        "lazily.py": b"",
        "far.py": b"",
        "package/__init__.py": b"",
        "package/inner.py": b"from . import sibling",
        "package/sibling.py": b"",
        "unused.py": b"",
    }
    sources = {"ours/__init__.py": b"", "ours/x.py": b"import used\ndef f():\n    from package.inner import y"}
    kept = needed_modules(library, sources)
    assert kept == {"used", "deeper", "lazily", "package", "package.inner", "package.sibling"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_candidates_have_titles_in_the_language_and_literals_of_their_own(language: str) -> None:
    document = candidates_document(load_catalogue(language))
    rules = {rule["id"]: rule for rule in document["rules"]}
    title = rules["max-model-len-exceeds-kv-cache"]["title"]
    assert title and "{" not in title and (language == "en") == title.isascii()
    assert "engine-core-init-failed" not in rules  # a wrapper is never an answer
    literals = [literal for rule in rules.values() for literal in rule["own"]]
    assert len(set(literals)) == len(literals) and min(map(len, literals)) >= 14


def test_the_scripts_import_what_is_there() -> None:
    names = {path.name for path in SCRIPTS.glob("*.mjs")}
    for path in SCRIPTS.glob("*.mjs"):
        source = path.read_text(encoding="utf-8")
        for line in source.split("\n"):
            if line.startswith("import ") and '"./' in line:
                assert line.split('"./')[1].split('"')[0] in names
