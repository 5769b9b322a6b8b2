"""Weights from headers, indexes and configs; the parameters of public models against their published counts."""

from __future__ import annotations

import json
import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.facts import config
from vllmdoctor.errors import InputError, UsageError
from vllmdoctor.memory import weights as w
from vllmdoctor.memory.parameters import parameters_of
from vllmdoctor.memory.ranges import GIB, Range
from vllmdoctor.memory.split import check_tensor_parallel, gpu_share, largest_tensor_parallel


@pytest.mark.parametrize(
    "name, billions",
    [  # as the model cards say
        ("llama-3.1-8b", 8.03),
        ("llama-3.1-70b", 70.6),
        ("qwen2.5-14b", 14.8),
        ("qwen2.5-72b", 72.7),
        ("qwen3-30b-a3b", 30.5),
        ("mistral-7b-v0.3", 7.25),
        ("mixtral-8x7b", 46.7),
        ("gemma-3-27b", 27.4),
        ("deepseek-v2-lite", 15.7),
        ("deepseek-v3", 671),
        ("gpt-oss-120b", 116.8),
        ("nemotron-h-8b", 8.1),
        ("phi-3-mini-4k", 3.82),
        ("qwen3-0.6b", 0.6),
        ("qwen3-coder-480b-fp8", 480),
        ("qwen3-vl-235b-a22b", 235.5),
    ],
)
def test_parameters(name: str, billions: float) -> None:
    assert parameters_of(config(name)).total / 1e9 == pytest.approx(billions, rel=0.01)


@pytest.mark.parametrize(
    "name, tensor_parallel, printed_gib",
    [  # "Model loading took" of public logs
        ("llama-3.1-8b", 1, 14.9888),
        ("llama-3.1-8b", 4, 3.7710),
        ("llama-2-7b", 1, 12.55),
        ("qwen2.5-7b-awq", 1, 5.2032),
        ("qwen3-0.6b", 1, 1.12),
        ("tinyllama-1.1b", 1, 2.0513),
    ],
)
def test_estimate_against_what_vllm_printed(name: str, tensor_parallel: int, printed_gib: float) -> None:
    share = gpu_share(w.from_config(config(name)).size_bytes, config(name), tensor_parallel, 1)
    assert share.best / GIB == pytest.approx(printed_gib, rel=0.02)
    assert share.low / GIB <= printed_gib <= share.high / GIB


def test_fp8_and_mxfp4_checkpoints() -> None:
    """DeepSeek V3: 671 B parameters in one byte, embeddings in two; gpt-oss 120B: the published files have 60.8 GiB."""
    assert w.from_config(config("deepseek-v3")).size_bytes.best / GIB == pytest.approx(628, rel=0.02)
    assert w.from_config(config("gpt-oss-120b")).size_bytes.best / GIB == pytest.approx(60.8, rel=0.02)


def test_quantization_on_the_command_line() -> None:
    full, small = w.from_config(config("llama-3.1-8b")), w.from_config(config("llama-3.1-8b"), "fp8")
    assert small.size_bytes.best < 0.6 * full.size_bytes.best
    assert w.requantized(full, config("llama-3.1-8b"), "fp8").size_bytes.best == pytest.approx(small.size_bytes.best)


def test_an_unknown_quantization_is_refused() -> None:
    with pytest.raises(InputError, match="unknown number of bits"):
        w.from_config(config("llama-3.1-8b", quantization_config={"quant_method": "magic"}))


def test_compressed_tensors_tell_their_bits() -> None:
    four = {
        "quant_method": "compressed-tensors",
        "config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 128}}},
    }
    bits = w.quantized_bits(config("llama-3.1-8b", quantization_config=four))
    assert bits is not None and bits.bits == pytest.approx(4.125)


def header(**tensors: tuple[str, list[int]]) -> bytes:
    entries = {
        name: {"dtype": dtype, "shape": shape, "data_offsets": [0, 0]} for name, (dtype, shape) in tensors.items()
    }
    return json.dumps({"__metadata__": {"format": "pt"}, **entries}).encode()


def test_tensors_of_a_header() -> None:
    text = header(a=("BF16", [4, 8]), b=("F8_E4M3", [16]), c=("F32", [2]), d=("I32", []))
    assert w.tensor_bytes(text, "x", None) == 64 + 16 + 8 + 4
    assert w.tensor_bytes(text, "x", 2) == 64 + 16 + 4 + 4, "float32 is cast when the model is loaded in 16 bits"


@pytest.mark.parametrize(
    "text", [b"", b"[]", b'{"a": 1}', b'{"a": {"dtype": "F99", "shape": [1]}}', b'{"a": {"dtype": "F32"}}', b"\xff\xfe"]
)
def test_a_broken_header_is_refused(text: bytes) -> None:
    with pytest.raises(InputError, match="no safetensors header"):
        w.tensor_bytes(text, "model.safetensors", None)


@pytest.mark.parametrize("first", [b"", b"version ", struct.pack("<Q", 2**40), struct.pack("<Q", 0)])
def test_a_pointer_file_is_no_safetensors(first: bytes) -> None:
    with pytest.raises(InputError, match="no safetensors file"):
        w.header_length(first, "model.safetensors")


@given(st.binary(max_size=64))
def test_any_bytes_are_an_answer_or_a_clear_error(data: bytes) -> None:
    for read in (lambda: w.header_length(data, "x"), lambda: w.tensor_bytes(data, "x", 2)):
        with suppress(InputError):
            assert read() >= 0


def test_index() -> None:
    index = {
        "metadata": {"total_size": 123},
        "weight_map": {"a": "1.safetensors", "b": "2.safetensors", "c": "1.safetensors"},
    }
    assert w.index_total(index, "x") == 123
    assert w.index_files(index) == ["1.safetensors", "2.safetensors"]
    with pytest.raises(InputError, match="total_size"):
        w.index_total({"metadata": {}}, "x")


def test_pipeline_stages_share_embeddings_at_the_ends() -> None:
    """Llama 3.1 8B in two stages: half of the layers and one of the two embeddings: 7.48 GiB each."""
    share = gpu_share(Range.exactly(14.96 * GIB), config("llama-3.1-8b"), 1, 2)
    assert share.best / GIB == pytest.approx(7.48, rel=0.01)


def test_tensor_parallel_sizes() -> None:
    model = config("qwen2.5-14b")  # 40 heads
    assert [largest_tensor_parallel(model, gpus) for gpus in (1, 2, 3, 4, 8, 16)] == [1, 2, 2, 4, 8, 10]
    with pytest.raises(UsageError, match="does not divide the 40 attention heads; 1, 2, 4, 5, 8, 10 do"):
        check_tensor_parallel(model, 3)
