"""A model as a user names it (folder, config.json, or an id in the local Hugging Face cache) in, its config and the
size of its weights out. Reads headers and indexes only, never a tensor, and never the network."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vllmdoctor.errors import InputError
from vllmdoctor.languages import Message
from vllmdoctor.memory import weights as w
from vllmdoctor.memory.config import ModelConfig, read_config

_ID = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[\w.-]+)?")
_MAX_JSON_BYTES = 64 * 2**20
_INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """`name` as given, `served` what stands behind `vllm serve`. `weights` is None when there are no weight files."""

    name: str
    served: str
    config: ModelConfig
    weights: w.Weights | None


def read_model(given: str, *, environment: dict[str, str] | None = None) -> ModelFiles:
    """Raises InputError when the path, the id or the files are not what they should be."""
    if not given.strip():
        raise InputError(
            given, Message("is no model"), Message("Give a model folder, its config.json, or an id in the local cache")
        )
    path = Path(given).expanduser()
    if path.is_file():
        return _from_config_file(path, given)
    if path.is_dir():
        return _from_folder(path, given, given)
    if _looks_like_path(given):
        raise InputError(
            given,
            Message("does not exist"),
            Message("Give a model folder, its config.json, or an id in the local cache"),
        )
    snapshot = _cached_snapshot(given, dict(os.environ) if environment is None else environment)
    return _from_folder(snapshot, given, str(snapshot))


def _from_config_file(path: Path, given: str) -> ModelFiles:
    """A config.json stands for its folder when the weights are beside it."""
    config = _config_at(path, given)
    if path.name != "config.json":
        return ModelFiles(given, "MODEL", config, None)
    folder = str(path.parent)
    return ModelFiles(
        given, folder if folder != "." else str(path.parent.resolve()), config, _weights_in(path.parent, config)
    )


def _looks_like_path(given: str) -> bool:
    return given.startswith((".", "/", "~", "\\")) or given.endswith(".json") or not _ID.fullmatch(given)


def _config_at(path: Path, name: str) -> ModelConfig:
    if path.suffix.lower() == ".gguf":
        raise InputError(
            name, Message("is a GGUF file, which has no config.json"), Message("Give the folder of the original model")
        )
    return read_config(_json_at(path, name), name)


def _from_folder(folder: Path, given: str, shown: str) -> ModelFiles:
    path = folder / "config.json"
    if not path.is_file():
        adapter = (folder / "adapter_config.json").is_file()
        problem = Message("holds a LoRA adapter, no model") if adapter else Message("has no config.json")
        raise InputError(shown, problem, Message("Give the folder that `vllm serve` would be given"))
    config = read_config(_json_at(path, str(path)), str(path))
    return ModelFiles(given, given, config, _weights_in(folder, config))


def _json_at(path: Path, name: str) -> object:
    try:
        if path.stat().st_size > _MAX_JSON_BYTES:
            raise InputError(name, Message("is too large to be a config"), Message("Give the model's config.json"))
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise InputError(name, Message("cannot be read ({reason})", reason=problem.strerror or problem)) from problem
    except (ValueError, RecursionError) as problem:
        raise InputError(
            name, Message("is no JSON"), Message("Give the model's config.json, or download it again")
        ) from problem


def _cached_snapshot(model_id: str, environment: dict[str, str]) -> Path:
    """The revision that `main` points to, or the only one (the layout of `huggingface_hub`)."""
    hub = _hub_folder(environment)
    folder = hub / ("models--" + model_id.replace("/", "--"))
    if not folder.is_dir():
        raise InputError(
            model_id,
            Message("is no folder here and not in the Hugging Face cache ({hub})", hub=hub),
            Message(
                "Download its config first (`hf download {model_id} config.json`), or give a folder", model_id=model_id
            ),
        )
    main = folder / "refs" / "main"
    if main.is_file():
        snapshot = folder / "snapshots" / main.read_text(encoding="utf-8", errors="replace").strip()
        if snapshot.is_dir():
            return snapshot
    snapshots = sorted(one for one in (folder / "snapshots").glob("*") if one.is_dir())
    if len(snapshots) != 1:
        problem = Message("has no revision in the Hugging Face cache")
        if snapshots:
            problem = Message("has {count} revisions and no `main` in the Hugging Face cache", count=len(snapshots))
        raise InputError(
            model_id,
            problem,
            Message("Give the folder of the revision"),
        )
    return snapshots[0]


def _hub_folder(environment: dict[str, str]) -> Path:
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if environment.get(name):
            return Path(environment[name]).expanduser()
    if environment.get("HF_HOME"):
        return Path(environment["HF_HOME"]).expanduser() / "hub"
    cache = environment.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "huggingface" / "hub"


def _weights_in(folder: Path, config: ModelConfig) -> w.Weights | None:
    index = next((folder / name for name in _INDEXES if (folder / name).is_file()), None)
    named: list[str] = []
    if index is not None:
        document = _json_at(index, str(index))
        named = w.index_files(document)
        present = [folder / name for name in named]
        if not present or not all(path.is_file() for path in present):
            return w.from_index(w.index_total(document, str(index)))
    shards = [folder / name for name in named if name.endswith(".safetensors")] or _safetensors_in(folder)
    if shards:
        quantized = w.quantized_method(config)
        return w.from_headers(sum(_header_bytes(path, None if quantized else config.dtype_bytes) for path in shards))
    for pattern in ("*.gguf", "pytorch_model*.bin", "*.pt"):
        files = sorted(folder.glob(pattern))
        if files:
            return w.from_files(sum(path.stat().st_size for path in files))
    return None


def _safetensors_in(folder: Path) -> Sequence[Path]:
    """Mistral's repositories hold every weight twice: consolidated files beside the usual ones."""
    files = sorted(folder.glob("*.safetensors"))
    usual = [path for path in files if not path.name.startswith("consolidated")]
    return [path for path in usual or files if not path.name.startswith("adapter_")]


def _header_bytes(path: Path, dtype_bytes: int | None) -> int:
    try:
        with path.open("rb") as file:
            length = w.header_length(file.read(8), str(path))
            return w.tensor_bytes(file.read(length), str(path), dtype_bytes)
    except OSError as problem:
        raise InputError(
            str(path), Message("cannot be read ({reason})", reason=problem.strerror or problem)
        ) from problem
