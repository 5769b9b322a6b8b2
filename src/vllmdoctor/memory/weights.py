"""File sizes, safetensors headers or a config in, the memory of a model's weights out, with bounds.

The nearer the source, the narrower the bounds: headers of the tensors, else the index's total, else the size of files,
else the parameters that the config implies. Bytes only; reading the files is `memory.files`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vllmdoctor.errors import InputError
from vllmdoctor.languages import Message
from vllmdoctor.memory.config import ModelConfig
from vllmdoctor.memory.parameters import Parameters, parameters_of
from vllmdoctor.memory.ranges import Range

MAX_HEADER_BYTES = 100 * 2**20  # safetensors' own limit
_LENGTH_BYTES = 8
_TENSOR_BITS = {
    "F64": 64, "I64": 64, "U64": 64, "F32": 32, "I32": 32, "U32": 32, "F16": 16, "BF16": 16, "I16": 16, "U16": 16,
    "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "I8": 8, "U8": 8, "BOOL": 8, "F4": 4,
}  # fmt: skip
_HIGH = 1.03  # rotary tables, padding of the vocabulary, workspaces of quantized kernels

FROM_HEADERS = Message("safetensors headers")
FROM_INDEX = Message("index of the weight files")
FROM_FILES = Message("size of the weight files")
FROM_CONFIG = Message("parameters in config.json")


@dataclass(frozen=True, slots=True)
class Weights:
    """Bytes of all weights, before they are divided over GPUs. `source` says where the number comes from."""

    size_bytes: Range
    source: str
    parameters: int | None = None


def header_length(first_bytes: bytes, name: str) -> int:
    """The length of a safetensors header, from the first 8 bytes of the file."""
    length = int.from_bytes(first_bytes[:_LENGTH_BYTES], "little")
    if len(first_bytes) < _LENGTH_BYTES or not 2 <= length <= MAX_HEADER_BYTES:
        raise InputError(
            name, Message("is no safetensors file"), Message("A git-lfs pointer or a broken download looks like this")
        )
    return length


def tensor_bytes(header: bytes, name: str, dtype_bytes: int | None) -> int:
    """Bytes of all tensors of one file as vLLM holds them.

    `dtype_bytes` is the size that floating tensors are cast to when they are loaded; None leaves them as they are.
    """
    try:
        entries = json.loads(header)
        if not isinstance(entries, dict):
            raise ValueError("no object")
        tensors = [entry for key, entry in entries.items() if key != "__metadata__"]
        return sum(_tensor_bytes(entry["dtype"], entry["shape"], dtype_bytes) for entry in tensors)
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise InputError(
            name, Message("has a header that is no safetensors header"), Message("Download the file again")
        ) from problem


def _tensor_bytes(dtype: str, shape: Iterable[int], dtype_bytes: int | None) -> int:
    values = 1
    for size in shape:
        values *= int(size)
    bits = _TENSOR_BITS[dtype]
    if dtype_bytes is not None and dtype in ("F32", "F16", "BF16"):
        bits = 8 * dtype_bytes
    return (values * bits + 7) // 8


def index_total(document: object, name: str) -> int:
    """`total_size` of a model.safetensors.index.json or pytorch_model.bin.index.json."""
    metadata = document.get("metadata") if isinstance(document, dict) else None
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    if not isinstance(total, (int, float)) or isinstance(total, bool) or total <= 0:
        raise InputError(name, Message("has no metadata.total_size"), Message("Download the index again"))
    return int(total)


def index_files(document: object) -> list[str]:
    """The weight files that an index names."""
    table = document.get("weight_map") if isinstance(document, dict) else None
    return sorted({str(file) for file in table.values()}) if isinstance(table, dict) else []


def from_headers(total_bytes: int) -> Weights:
    return Weights(Range.about(total_bytes, 1.0, _HIGH), FROM_HEADERS)


def from_index(total_bytes: int) -> Weights:
    return Weights(Range.about(total_bytes, 0.98, _HIGH), FROM_INDEX)


def from_files(total_bytes: int) -> Weights:
    """GGUF and .bin files: the tensors and little else."""
    return Weights(Range.about(total_bytes, 0.97, 1.06), FROM_FILES)


def from_config(config: ModelConfig, quantization: str = "") -> Weights:
    """Parameters × bits per weight; `quantization` as given on the command line, else the config's own."""
    parameters = parameters_of(config)
    plan = quantized_bits(config, quantization)
    if plan is None:
        best = float(parameters.total * config.dtype_bytes)
        return Weights(Range.about(best, 0.99, _HIGH), FROM_CONFIG, parameters.total)
    best = _quantized_bytes(parameters, plan, config.dtype_bytes)
    return Weights(Range.about(best, 0.96, 1.06), FROM_CONFIG, parameters.total)


def requantized(weights: Weights, config: ModelConfig, quantization: str) -> Weights:
    """16-bit weights that are quantized while they are loaded (fp8, bitsandbytes)."""
    full, small = from_config(config), from_config(config, quantization)
    factor = small.size_bytes.best / full.size_bytes.best
    best = weights.size_bytes.best * factor
    return Weights(
        Range.about(best, 0.95, 1.10),
        Message("{source}, {quantization}", source=weights.source, quantization=quantization),
        full.parameters,
    )


@dataclass(frozen=True, slots=True)
class QuantizedBits:
    """Bits per weight of the matrices, scales included. `experts_only`: attention and dense MLPs stay 16-bit."""

    bits: float
    experts_only: bool = False


_GROUP_BITS = 16 + 4  # a 16-bit scale and a 4-bit zero point for each group
_METHOD_BITS = {
    "fp8": 8.02, "fbgemm_fp8": 8.02, "modelopt": 8.02, "ptpc_fp8": 8.02, "experts_int8": 8.05, "int8": 8.05,
    "bitsandbytes": 4.5, "modelopt_fp4": 4.5, "nvfp4": 4.5, "mxfp4": 4.25, "mxfp8": 8.25, "fp6": 6.25,
    "awq": 4 + _GROUP_BITS / 128, "awq_marlin": 4 + _GROUP_BITS / 128, "gptq_marlin": 4 + _GROUP_BITS / 128,
}  # fmt: skip


def quantized_bits(config: ModelConfig, quantization: str = "") -> QuantizedBits | None:
    """How the checkpoint is quantized, None when it is not. Raises InputError for a method that is not known."""
    own, method = _own_quantization(config), quantized_method(config)
    wanted = (quantization or method).lower()
    if not wanted or wanted == "none":
        return None
    if wanted == "mxfp4":
        return QuantizedBits(_METHOD_BITS["mxfp4"], experts_only=True)
    bits, group = own.get("bits") or own.get("w_bit"), own.get("group_size")
    if own and isinstance(bits, int) and (not quantization or method in wanted or wanted in method):
        size = group if isinstance(group, int) and group > 0 else 4096
        return QuantizedBits(bits + _GROUP_BITS / size)
    if own and wanted == "bitsandbytes" and own.get("load_in_8bit") is True:
        return QuantizedBits(8.05)
    if wanted in ("compressed-tensors", "quark", "torchao", "auto-round"):
        return QuantizedBits(_group_bits(own))
    if wanted in _METHOD_BITS:
        return QuantizedBits(_METHOD_BITS[wanted])
    raise InputError(
        config.name,
        Message("quantization {wanted!r} has an unknown number of bits per weight", wanted=wanted),
        Message("Give the folder with the weight files: their size then decides"),
    )


def _group_bits(own: Mapping[str, object]) -> float:
    """The first group of a compressed-tensors config: `config_groups: {group_0: {weights: {num_bits: 4}}}`."""
    groups = own.get("config_groups")
    for group in groups.values() if isinstance(groups, dict) else ():
        weights = group.get("weights") if isinstance(group, dict) else None
        bits = weights.get("num_bits") if isinstance(weights, dict) else None
        if isinstance(bits, int):
            size = weights.get("group_size") if isinstance(weights, dict) else None
            return bits + (16 / size if isinstance(size, int) and size > 0 else 0.02)
    return 8.02


def quantized_method(config: ModelConfig) -> str:
    """The quantization that the config itself names, "" when there is none."""
    return str(_own_quantization(config).get("quant_method") or "").lower()


def _own_quantization(config: ModelConfig) -> Mapping[str, object]:
    inner = config.fields.get("quantization_config")
    return config.part("quantization_config") or (inner if isinstance(inner, dict) else {})


def _quantized_bytes(parameters: Parameters, plan: QuantizedBits, dtype_bytes: int) -> float:
    """Embeddings and the vision part stay as they are."""
    small = parameters.experts + (0 if plan.experts_only else parameters.attention + parameters.mlp)
    return small * plan.bits / 8 + (parameters.total - small) * dtype_bytes
