"""KV bytes of public architectures, computed by hand from their configs, and how the cache is split and laid out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.facts import CONFIGS, config, document
from vllmdoctor.errors import InputError, UsageError
from vllmdoctor.memory.config import read_config
from vllmdoctor.memory.kv import KvCache, KvSetup, kv_cache_of, pipeline_stages
from vllmdoctor.memory.layers import FULL, SLIDING, STATE, Layer, layers_of
from vllmdoctor.memory.ranges import GIB

MIB = 2**20


def cache(name: str, **setup: object) -> KvCache:
    return kv_cache_of(layers_of(config(name)), KvSetup(**setup))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name, bytes_per_token",
    [
        ("llama-3.1-8b", 131_072),  # 2 × 32 layers × 8 heads × 128 × 2 B
        ("llama-3.1-70b", 327_680),  # 2 × 80 × 8 × 128 × 2
        ("qwen2.5-14b", 196_608),  # 2 × 48 × 8 × 128 (5120 ÷ 40) × 2
        ("qwen2.5-72b", 327_680),  # 2 × 80 × 8 × 128 × 2; its sliding window is switched off
        ("qwen3-30b-a3b", 98_304),  # 2 × 48 × 4 × 128 × 2; head_dim is set, not 2048 ÷ 32
        ("mistral-7b-v0.3", 131_072),  # 2 × 32 × 8 × 128 × 2; no window in v0.3
        ("mixtral-8x7b", 131_072),  # as Mistral 7B: experts have no KV
        ("gemma-3-27b", 81_920),  # 2 × 10 of 62 layers that see everything × 16 × 128 × 2
        ("deepseek-v2-lite", 31_104),  # 27 × (512 + 64) × 2, no factor 2
        ("deepseek-v3", 70_272),  # 61 × (512 + 64) × 2
        ("gpt-oss-120b", 36_864),  # 2 × 18 of 36 layers × 8 × 64 × 2
        ("nemotron-h-8b", 16_384),  # 2 × 4 attention layers × 8 × 128 × 2
        ("phi-3-mini-4k", 393_216),  # 2 × 32 × 32 × 96 × 2
    ],
)
def test_bytes_per_token_by_hand(name: str, bytes_per_token: int) -> None:
    assert cache(name).bytes_per_token == pytest.approx(bytes_per_token, rel=0.03)


@pytest.mark.parametrize("name, bytes_per_token", [("gemma-3-27b", 507_904), ("gpt-oss-120b", 73_728)])
def test_without_the_hybrid_manager_sliding_layers_cost_like_full_ones(name: str, bytes_per_token: int) -> None:
    """Gemma: 2 × 62 × 16 × 128 × 2; gpt-oss: 2 × 36 × 8 × 64 × 2."""
    assert cache(name, hybrid=False).bytes_per_token == bytes_per_token
    assert cache(name, hybrid=False).fixed_bytes == 0


def test_the_worked_check() -> None:
    """Llama 3.1 8B in bf16: 131,072 tokens are 16.00 GiB, and 16 GiB hold exactly one such request."""
    llama = cache("llama-3.1-8b")
    assert llama.request_bytes(131_072) == 16 * GIB
    assert llama.concurrency(16 * GIB, 131_072) == 1.0
    assert llama.longest_request(16 * GIB, 131_072) == 131_072
    assert llama.longest_request(16 * GIB - 1, 131_072) == 131_056


@pytest.mark.parametrize(
    "name, length, needed_gib",
    [
        ("qwen3-coder-480b-fp8", 262_144, 62.00),  # 2 × 62 × 8 × 128 × 2 = 253,952 B a token; vLLM prints 62.00 GiB
        ("llama-3.1-8b", 131_072, 16.00),
    ],
)
def test_what_vllm_printed_for_one_request(name: str, length: int, needed_gib: float) -> None:
    assert cache(name).request_bytes(length) / GIB == pytest.approx(needed_gib, abs=0.005)


def test_the_cpu_backend_prints_the_same() -> None:
    """A Llama of 2 layers with 2 KV heads of 32: 2 × 2 × 2 × 32 × 2 = 512 B; a cache of 1 GiB holds 2,097,152 tokens."""
    small = config("llama-3.1-8b", num_hidden_layers=2, hidden_size=64, num_attention_heads=2, num_key_value_heads=2)
    tiny = kv_cache_of(layers_of(small), KvSetup())
    assert GIB / tiny.bytes_per_token == 2_097_152
    assert tiny.concurrency(GIB, 2048) == 1024.0


def test_windows_keep_one_window_and_one_batch() -> None:
    """gpt-oss: 128 - 1 + 2048 = 2175 tokens, 136 blocks and one more, 16 × 2048 B each in 18 layers = 77.06 MiB."""
    assert cache("gpt-oss-120b").fixed_bytes == 137 * 16 * 2 * 8 * 64 * 2 * 18
    assert cache("gpt-oss-120b", batched_tokens=8192).fixed_bytes > cache("gpt-oss-120b").fixed_bytes


def test_a_state_sets_the_block_size() -> None:
    """Nemotron H 8B: 128 × 64 × 128 values and a window of 3 × (8192 + 2 × 8 × 128), in 2 bytes: 2,158,592 B.

    One token of an attention layer takes 4096 B, so a block needs 527 tokens, 528 in steps of 16; each of the 24
    Mamba layers gets such a page.
    """
    nemotron = cache("nemotron-h-8b")
    assert nemotron.block_tokens == 528
    assert nemotron.fixed_bytes == 24 * 528 * 4096


def test_tensor_parallelism_splits_heads_until_each_gpu_has_one() -> None:
    assert cache("llama-3.1-8b", tensor_parallel=4).bytes_per_token == 32_768
    assert cache("llama-3.1-8b", tensor_parallel=8).bytes_per_token == 16_384
    assert cache("llama-3.1-8b", tensor_parallel=16).bytes_per_token == 16_384  # replicated
    assert cache("qwen3-vl-235b-a22b", tensor_parallel=8).bytes_per_token == 2 * 94 * 1 * 128 * 2


def test_a_latent_is_not_split() -> None:
    assert cache("deepseek-v3", tensor_parallel=8).bytes_per_token == 70_272


def test_fp8_halves_it() -> None:
    assert cache("llama-3.1-8b", cache_bytes=1).bytes_per_token == 65_536


def test_context_parallelism_splits_tokens() -> None:
    assert cache("deepseek-v3", context_parallel=8).request_bytes(131_072) == 131_072 // 8 * 70_272


def test_the_fullest_pipeline_stage_decides() -> None:
    """61 layers in 4 stages: 15, 15, 16, 15."""
    layers = layers_of(config("deepseek-v3"))
    assert [len(stage) for stage in pipeline_stages(layers, 4)] == [15, 15, 16, 15]
    assert cache("deepseek-v3", pipeline_parallel=4).bytes_per_token == 16 * 576 * 2
    with pytest.raises(UsageError, match="more than the 61 layers"):
        pipeline_stages(layers, 62)


def test_concurrency_counts_padded_groups() -> None:
    """Gemma 3: groups of 10 layers, so 52 sliding ones take 6 groups, 8 layers of them padding."""
    gemma = cache("gemma-3-27b")
    page = 16 * 2 * 16 * 128 * 2
    window_blocks = -(-(1024 - 1 + 2048) // 16) + 1
    blocks = 32_768 // 16 + 6 * window_blocks
    assert gemma.concurrency(10 * page * blocks, 32_768) == 1.0
    assert gemma.concurrency(10 * page * blocks - 1, 32_768) < 1.0


def test_state_only_models_take_any_length() -> None:
    mamba = kv_cache_of(
        layers_of(
            read_config(
                {"model_type": "mamba2", "num_hidden_layers": 2, "hidden_size": 64, "num_heads": 4, "head_dim": 32,
                 "state_size": 16, "n_groups": 1, "vocab_size": 512, "max_position_embeddings": 2048},
                "config.json",
            )
        ),
        KvSetup(),
    )  # fmt: skip
    assert mamba.bytes_per_token == 0
    assert mamba.request_bytes(1) == mamba.request_bytes(100_000) > 0


@pytest.mark.parametrize(
    "change, words",
    [
        ({"model_type": "brand_new"}, "which layers keep a KV cache"),
        ({"model_type": "mllama"}, "cross-attention"),
        ({"model_type": None}, "no model_type"),
        ({"num_hidden_layers": None}, "no num_hidden_layers"),
        ({"num_hidden_layers": "32"}, "not a whole number"),
        ({"layer_types": ["full_attention"]}, "kind of 1 layers"),
        ({"layer_types": ["telepathy"] * 32}, "telepathy"),
    ],
)
def test_what_is_not_known_is_refused_by_name(change: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        layers_of(config("llama-3.1-8b", **change))


def test_a_hybrid_without_its_pattern_is_refused() -> None:
    with pytest.raises(InputError, match="hybrid_override_pattern"):
        layers_of(config("nemotron-h-8b", hybrid_override_pattern=None))


def test_a_wrapper_without_its_language_part_is_refused() -> None:
    with pytest.raises(InputError, match="no text_config"):
        read_config({"model_type": "gemma3"}, "config.json")


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.json")), ids=lambda path: path.stem)
def test_every_fixture_is_understood(path: object) -> None:
    name = path.stem  # type: ignore[attr-defined]
    assert cache(name).bytes_per_token > 0
    assert document(name)["model_type"]


lengths = st.integers(1, 200_000)


@given(
    st.sampled_from(["llama-3.1-8b", "gemma-3-27b", "nemotron-h-8b", "deepseek-v3", "phi-3-mini-4k"]), lengths, lengths
)
def test_a_longer_request_never_needs_less_and_the_longest_fits(name: str, first: int, second: int) -> None:
    model = cache(name)
    short, long = sorted((first, second))
    assert model.request_bytes(short) <= model.request_bytes(long)
    available = model.request_bytes(short)
    assert model.request_bytes(model.longest_request(available, long)) <= available
    assert model.longest_request(available, long) >= short // 16 * 16


def test_layer_kinds_of_the_mixed_models() -> None:
    kinds = [layer.kind for layer in layers_of(config("gemma-3-27b"))]
    assert kinds[:6] == [SLIDING] * 5 + [FULL] and kinds.count(FULL) == 10
    assert [layer.kind for layer in layers_of(config("nemotron-h-8b"))].count(STATE) == 24
    assert Layer(FULL, 8, 128) == layers_of(config("llama-3.1-8b"))[0]
