"""A model's config in, one entry per layer out: what that layer keeps for a request, before any splitting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from vllmdoctor.errors import InputError
from vllmdoctor.languages import Message
from vllmdoctor.memory import families as f
from vllmdoctor.memory.config import ModelConfig
from vllmdoctor.memory.states import SHORT_CONV, State, state_for

FULL, SLIDING, CHUNKED, LATENT, STATE, NOTHING = "full", "sliding", "chunked", "latent", "state", "nothing"
_INDEX_SCALE_BLOCK = 128  # the indexer of sparse MLA keeps a 4-byte scale for each of these (deepseek_v2.py)


@dataclass(frozen=True, slots=True)
class Layer:
    """`kv_heads` and `head_dim` of a layer with keys and values; `window_tokens` of a sliding or chunked one.

    `latent_values`: one compressed vector per token instead (MLA); `index_bytes`: what sparse attention keeps besides;
    `state`: what does not grow with the length. A layer can have both (Falcon H1).
    """

    kind: str
    kv_heads: int = 0
    head_dim: int = 0
    window_tokens: int = 0
    latent_values: int = 0
    index_bytes: int = 0
    state: State | None = None


def layers_of(config: ModelConfig) -> tuple[Layer, ...]:
    """Raises InputError when the config lacks what the architecture's layers depend on."""
    layers = tuple(_READERS[config.family.layers](config))
    if len(layers) != config.layers:
        raise InputError(
            config.name,
            Message(
                "names the kind of {count} layers, but num_hidden_layers is {layers}",
                count=len(layers),
                layers=config.layers,
            ),
        )
    return layers


def _attention(config: ModelConfig, kind: str = FULL, window_tokens: int = 0) -> Layer:
    return Layer(kind, config.kv_heads, config.head_dim, window_tokens)


def _plain(config: ModelConfig) -> list[Layer]:
    """All alike, unless `layer_types` says otherwise; a `sliding_window` that is set counts for all layers."""
    window = config.number_or_none("sliding_window") or 0
    if config.fields.get("use_sliding_window") is False:
        window = 0
    kinds = config.texts("layer_types")
    if kinds:
        return [_by_type(config, kind, window) for kind in kinds]
    if window and config.flag("use_sliding_window", False) and config.number_or_none("max_window_layers"):
        return _upper_layers_sliding(config, window)
    return [_attention(config, SLIDING if window else FULL, window)] * config.layers


def _upper_layers_sliding(config: ModelConfig, window: int) -> list[Layer]:
    """Qwen2 and its relatives: layers from max_window_layers on slide."""
    first = min(config.number("max_window_layers"), config.layers)
    return [_attention(config)] * first + [_attention(config, SLIDING, window)] * (config.layers - first)


def _by_type(config: ModelConfig, kind: str, window: int) -> Layer:
    if kind == "sliding_attention":
        return _attention(config, SLIDING, window) if window else _attention(config)
    if kind == "chunked_attention":
        return _attention(config, CHUNKED, config.number("attention_chunk_size"))
    if kind in ("full_attention", "attention"):
        return _attention(config)
    raise InputError(
        config.name,
        Message(
            "has a layer of kind {kind!r} whose cache is not known for {model_type!r}",
            kind=kind,
            model_type=config.model_type,
        ),
    )


def _one_full_in(every: int, config: ModelConfig, kind: str, window: int) -> list[Layer]:
    """Layer numbers that `every` divides (from 1) attend to everything."""
    full, other = _attention(config), _attention(config, kind, window)
    return [full if number % every == 0 else other for number in range(1, config.layers + 1)]


def _interleaved(default_pattern: int) -> Callable[[ModelConfig], list[Layer]]:
    def read(config: ModelConfig) -> list[Layer]:
        window = config.number("sliding_window")
        kinds = config.texts("layer_types")
        if kinds:
            return [_by_type(config, kind, window) for kind in kinds]
        pattern = config.number_or_none("sliding_window_pattern") or default_pattern
        return _one_full_in(pattern, config, SLIDING, window)

    return read


def _llama4(config: ModelConfig) -> list[Layer]:
    """Layers without rotary positions attend to everything, the others to chunks."""
    chunk = config.number("attention_chunk_size")
    kinds = config.texts("layer_types")
    if kinds:
        return [_by_type(config, kind, 0) for kind in kinds]
    rotary = config.numbers("no_rope_layers")
    if rotary and len(rotary) == config.layers:
        return [_attention(config, CHUNKED, chunk) if on else _attention(config) for on in rotary]
    return _one_full_in(4, config, CHUNKED, chunk)


def _latent(config: ModelConfig) -> list[Layer]:
    """One latent and one rotary key per token, without a factor 2 (`MLAAttentionSpec`)."""
    values = config.number("kv_lora_rank") + config.number("qk_rope_head_dim")
    index = config.number_or_none("index_head_dim") or 0
    index_bytes = index + index // _INDEX_SCALE_BLOCK * 4
    return [Layer(LATENT, 1, values, latent_values=values, index_bytes=index_bytes)] * config.layers


def _qwen_next(config: ModelConfig) -> list[Layer]:
    state = Layer(STATE, state=state_for(config))
    kinds = config.texts("layer_types")
    if kinds:
        return [state if kind == "linear_attention" else _by_type(config, kind, 0) for kind in kinds]
    every = config.number_or_none("full_attention_interval") or 4
    full = _attention(config)
    return [full if number % every == 0 else state for number in range(1, config.layers + 1)]


def _nemotron_h(config: ModelConfig) -> list[Layer]:
    """M: Mamba 2, *: attention, - and E: dense and expert MLPs, which are layers of their own here."""
    pattern = config.text("hybrid_override_pattern")
    if not pattern:
        raise InputError(config.name, Message("has no hybrid_override_pattern, which tells the kinds of its layers"))
    kinds: Mapping[str, Layer] = {
        "M": Layer(STATE, state=state_for(config)),
        "*": _attention(config),
        "-": Layer(NOTHING),
        "E": Layer(NOTHING),
    }
    unknown = sorted(set(pattern) - set(kinds))
    if unknown:
        raise InputError(
            config.name,
            Message("hybrid_override_pattern holds {letter!r}, which is no known kind of layer", letter=unknown[0]),
        )
    return [kinds[letter] for letter in pattern]


def _jamba(config: ModelConfig) -> list[Layer]:
    period, offset = config.number("attn_layer_period"), config.offset("attn_layer_offset")
    state, full = Layer(STATE, state=state_for(config)), _attention(config)
    return [full if number % period == offset else state for number in range(config.layers)]


def _bamba(config: ModelConfig) -> list[Layer]:
    full_at = config.numbers("attn_layer_indices")
    kinds = config.texts("layers_block_type")
    if full_at is None and kinds is None:
        raise InputError(config.name, Message("has no attn_layer_indices, which tells which layers attend"))
    state, full = Layer(STATE, state=state_for(config)), _attention(config)
    if kinds is not None:
        return [full if kind == "attention" else state for kind in kinds]
    return [full if number in (full_at or ()) else state for number in range(config.layers)]


def _granite_hybrid(config: ModelConfig) -> list[Layer]:
    kinds = config.texts("layer_types") or config.texts("layers_block_type")
    if not kinds:
        raise InputError(config.name, Message("has no layer_types, which tells which layers attend"))
    state, full = Layer(STATE, state=state_for(config)), _attention(config)
    return [full if kind == "attention" else state for kind in kinds]


def _both_in_each(config: ModelConfig) -> list[Layer]:
    return [Layer(FULL, config.kv_heads, config.head_dim, state=state_for(config))] * config.layers


def _states_only(config: ModelConfig) -> list[Layer]:
    return [Layer(STATE, state=state_for(config))] * config.layers


def _lfm2(config: ModelConfig) -> list[Layer]:
    kinds = config.texts("layer_types")
    full_at = config.numbers("full_attn_idxs")
    if not kinds and full_at is None:
        raise InputError(
            config.name, Message("has neither layer_types nor full_attn_idxs, which tell which layers attend")
        )
    state, full = Layer(STATE, state=state_for(config, SHORT_CONV)), _attention(config)
    if kinds:
        return [full if kind == "full_attention" else state for kind in kinds]
    return [full if number in (full_at or ()) else state for number in range(config.layers)]


_READERS: Mapping[str, Callable[[ModelConfig], list[Layer]]] = {
    f.FULL: _plain,
    f.GEMMA2: _interleaved(2),
    f.GEMMA3: _interleaved(6),
    f.COHERE2: _interleaved(4),
    f.LLAMA4: _llama4,
    f.MLA: _latent,
    f.QWEN_NEXT: _qwen_next,
    f.NEMOTRON_H: _nemotron_h,
    f.JAMBA: _jamba,
    f.BAMBA: _bamba,
    f.GRANITE_HYBRID: _granite_hybrid,
    f.FALCON_H1: _both_in_each,
    f.MAMBA: _states_only,
    f.MAMBA2: _states_only,
    f.LFM2: _lfm2,
}
