"""A model by folder, config file or id in the local cache; whatever cannot be read is an error that says so."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from tests.memory.facts import CONFIGS, document
from vllmdoctor.errors import InputError
from vllmdoctor.memory.files import read_model
from vllmdoctor.memory.weights import FROM_FILES, FROM_HEADERS, FROM_INDEX


def write_config(folder: Path, name: str = "llama-3.1-8b", **changes: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "config.json"
    path.write_text(json.dumps({**document(name), **changes}), encoding="utf-8")
    return path


def write_shard(path: Path, **tensors: tuple[str, list[int]]) -> None:
    """A file with a header and no tensors: nothing but the header may be read."""
    header = json.dumps({n: {"dtype": t, "shape": s, "data_offsets": [0, 0]} for n, (t, s) in tensors.items()}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header)


def test_a_config_file_alone() -> None:
    model = read_model(str(CONFIGS / "llama-3.1-8b.json"))
    assert (model.weights, model.served) == (None, "MODEL")


def test_headers_are_added_up(tmp_path: Path) -> None:
    write_config(tmp_path)
    write_shard(tmp_path / "model-00001-of-00002.safetensors", a=("BF16", [1000, 1000]))
    write_shard(tmp_path / "model-00002-of-00002.safetensors", b=("F32", [1000]))
    write_shard(tmp_path / "consolidated.safetensors", a=("BF16", [9000, 9000]))
    for given in (tmp_path, tmp_path / "config.json"):
        model = read_model(str(given))
        assert model.weights is not None and model.served == str(tmp_path)
        assert (model.weights.source, model.weights.size_bytes.low) == (FROM_HEADERS, 2_002_000)


def test_an_index_without_its_shards(tmp_path: Path) -> None:
    write_config(tmp_path)
    index = {"metadata": {"total_size": 16_060_522_496}, "weight_map": {"a": "model-00001-of-00001.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    weights = read_model(str(tmp_path)).weights
    assert weights is not None
    assert (weights.source, weights.size_bytes.best) == (FROM_INDEX, 16_060_522_496)


def test_an_index_that_names_the_shards_beside_others(tmp_path: Path) -> None:
    write_config(tmp_path)
    write_shard(tmp_path / "part-1.safetensors", a=("BF16", [10]))
    write_shard(tmp_path / "left-over.safetensors", a=("BF16", [99]))
    index = {"metadata": {"total_size": 20}, "weight_map": {"a": "part-1.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    weights = read_model(str(tmp_path)).weights
    assert weights is not None and weights.size_bytes.low == 20


def test_gguf_by_size(tmp_path: Path) -> None:
    write_config(tmp_path)
    (tmp_path / "model-q4.gguf").write_bytes(b"GGUF" + bytes(996))
    weights = read_model(str(tmp_path)).weights
    assert weights is not None
    assert (weights.source, weights.size_bytes.best) == (FROM_FILES, 1000)


def test_an_id_in_the_cache(tmp_path: Path) -> None:
    folder = tmp_path / "models--acme--small"
    write_config(folder / "snapshots" / "abc123")
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("abc123", encoding="utf-8")
    environment = {"HF_HUB_CACHE": str(tmp_path)}
    model = read_model("acme/small", environment=environment)
    assert (model.name, model.served, model.config.model_type) == ("acme/small", "acme/small", "llama")


@pytest.mark.parametrize("variable, below", [("HF_HOME", "hub"), ("XDG_CACHE_HOME", "huggingface/hub")])
def test_where_the_cache_lies(tmp_path: Path, variable: str, below: str) -> None:
    write_config(tmp_path / below / "models--acme--small" / "snapshots" / "only")
    assert read_model("acme/small", environment={variable: str(tmp_path)}).config.layers == 32


def test_two_revisions_without_main_are_not_chosen_between(tmp_path: Path) -> None:
    for revision in ("one", "two"):
        write_config(tmp_path / "models--acme--small" / "snapshots" / revision)
    with pytest.raises(InputError, match="2 revisions and no `main`"):
        read_model("acme/small", environment={"HF_HUB_CACHE": str(tmp_path)})


@pytest.mark.parametrize(
    "given, words",
    [
        ("acme/not-there", "not in the Hugging Face cache"),
        ("./not-there", "does not exist"),
        ("not-there.json", "does not exist"),
        ("a/b/c", "does not exist"),
        ("", "is no model"),
        (" ", "is no model"),
        ("../../etc", "does not exist"),
    ],
)
def test_a_path_or_id_that_is_not_there(
    given: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=words):
        read_model(given, environment={"HF_HUB_CACHE": str(tmp_path)})


@pytest.mark.parametrize(
    "content, words",
    [
        (b"", "is no JSON"),
        (b"{", "is no JSON"),
        (b"[1]", "no JSON object"),
        (b"\xff\xfe{}", "is no JSON"),
        (b"{}", "no model_type"),
        (b"[" * 100_000, "is no JSON"),
    ],
)
def test_a_broken_config(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        read_model(str(path))


def test_folders_that_are_no_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no config\.json"):
        read_model(str(tmp_path))
    (tmp_path / "adapter_config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="LoRA adapter"):
        read_model(str(tmp_path))
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    with pytest.raises(InputError, match="GGUF"):
        read_model(str(tmp_path / "model.gguf"))


def test_a_pointer_in_place_of_weights(tmp_path: Path) -> None:
    write_config(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    with pytest.raises(InputError, match="no safetensors file"):
        read_model(str(tmp_path))
