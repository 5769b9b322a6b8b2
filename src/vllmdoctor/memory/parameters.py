"""A model's config in, its number of parameters out: how many are matrices that a quantization shrinks, how many not.

Norms, biases and other vectors are left out: together they are below 0.1 % of any model here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vllmdoctor.memory import families as f
from vllmdoctor.memory.config import ModelConfig
from vllmdoctor.memory.layers import FULL, NOTHING, STATE, Layer, layers_of


@dataclass(frozen=True, slots=True)
class Parameters:
    """Counts of values. `embeddings` (input and output), `vision` and `attention` stay 16-bit in some quantizations."""

    embeddings: int
    attention: int
    mlp: int
    experts: int
    vision: int

    @property
    def total(self) -> int:
        return self.embeddings + self.attention + self.mlp + self.experts + self.vision


def parameters_of(config: ModelConfig) -> Parameters:
    """Raises InputError when the config lacks a size."""
    layers = layers_of(config)
    experts_at = [_has_experts(config, number) for number in range(len(layers))]
    return Parameters(
        embeddings=_embeddings(config),
        attention=sum(_mixer(config, layer) for layer in layers),
        mlp=sum(_dense(config, n, layer, experts_at[n]) for n, layer in enumerate(layers)),
        experts=sum(_experts(config) for n, layer in enumerate(layers) if experts_at[n] and _has_mlp(config, n)),
        vision=_vision(config),
    )


def is_tied(config: ModelConfig) -> bool:
    """Whether input and output embeddings are one matrix. The flag stands beside the text config in wrappers."""
    for place in (config.fields, config.outer):
        value = place.get("tie_word_embeddings")
        if isinstance(value, bool):
            return value
    return config.family.tied


def _embeddings(config: ModelConfig) -> int:
    matrices = 1 if is_tied(config) else 2
    return matrices * config.number("vocab_size") * config.hidden


def _mixer(config: ModelConfig, layer: Layer) -> int:
    """Attention, or what stands in its place."""
    if layer.kind == NOTHING:
        return 0
    state = _state_mixer(config) if layer.state else 0
    if layer.kind == STATE:
        return state
    if config.family.layers == f.MLA:
        return _latent_attention(config)
    query = config.heads * config.head_dim
    gate = query if config.family.layers == f.QWEN_NEXT else 0  # the query projection carries an output gate
    return config.hidden * (2 * query + gate + 2 * config.kv_heads * config.head_dim) + state


def _latent_attention(config: ModelConfig) -> int:
    nope, rope, value = (config.number(n) for n in ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"))
    latent, query_latent = config.number("kv_lora_rank"), config.number_or_none("q_lora_rank")
    hidden, heads = config.hidden, config.heads
    query_width = heads * (nope + rope)
    query = query_latent * (hidden + query_width) if query_latent else hidden * query_width
    keys = hidden * (latent + rope) + latent * heads * (nope + value)
    return query + keys + heads * value * hidden


def _state_mixer(config: ModelConfig) -> int:
    kind, hidden = config.family.layers, config.hidden
    if kind == f.LFM2:
        return 4 * hidden * hidden
    if kind == f.QWEN_NEXT:
        keys = config.number("linear_num_key_heads") * config.number("linear_key_head_dim")
        values = config.number("linear_num_value_heads") * config.number("linear_value_head_dim")
        return hidden * (2 * keys + 2 * values) + values * hidden
    if kind in (f.JAMBA, f.MAMBA):
        inner = (config.number_or_none("mamba_expand", "expand") or 2) * hidden
        return 3 * hidden * inner + 3 * inner * (config.number_or_none("mamba_d_state", "state_size") or 16)
    heads = config.number("mamba_num_heads", "mamba_n_heads", "num_heads")
    head_dim = config.number_or_none("mamba_head_dim", "mamba_d_head")
    inner = heads * head_dim if head_dim else (config.number_or_none("mamba_expand", "expand") or 2) * hidden
    groups = config.number_or_none("n_groups", "mamba_n_groups") or 1
    width = config.number("ssm_state_size", "mamba_d_state", "state_size")
    return hidden * (3 * inner + 2 * groups * width + heads)


def _has_mlp(config: ModelConfig, number: int) -> bool:
    """Nemotron H counts MLPs as layers of their own; pure Mamba models have none."""
    if config.family.layers == f.NEMOTRON_H:
        return config.text("hybrid_override_pattern")[number] in "-E"
    return config.family.layers not in (f.MAMBA, f.MAMBA2)


def _has_experts(config: ModelConfig, number: int) -> bool:
    if not config.number_or_none("num_local_experts") or config.number("num_local_experts") <= 1:
        return False
    if config.family.layers == f.NEMOTRON_H:
        return config.text("hybrid_override_pattern")[number] == "E"
    if number < (config.number_or_none("first_k_dense_replace", "moe_layer_start_index") or 0):
        return False
    if number in (config.numbers("mlp_only_layers") or ()):
        return False
    if config.family.layers == f.JAMBA:
        return number % config.number("expert_layer_period") == config.offset("expert_layer_offset")
    chosen = config.numbers("moe_layers")
    if chosen:
        return number in chosen
    every = config.number_or_none("decoder_sparse_step", "moe_layer_freq", "interleave_moe_layer_step") or 1
    return (number + 1) % every == 0


def _matrices(config: ModelConfig) -> int:
    return 3 if config.family.gated else 2


def _dense(config: ModelConfig, number: int, layer: Layer, experts: bool) -> int:
    """The dense MLP of a layer, or what experts have beside them: the router and what all tokens share."""
    if not _has_mlp(config, number):
        return 0
    if not experts:
        width = config.number_or_none("intermediate_size_mlp", "intermediate_size") or 4 * config.hidden
        return _matrices(config) * config.hidden * width
    router = config.hidden * config.number("num_local_experts")
    return router + _matrices(config) * config.hidden * _shared_width(config)


def _shared_width(config: ModelConfig) -> int:
    width = config.number_or_none("shared_expert_intermediate_size", "shared_intermediate_size")
    if width is not None:
        return width
    if config.family.layers == f.LLAMA4:
        return config.number("intermediate_size")
    return (config.number_or_none("n_shared_experts", "num_shared_expert") or 0) * expert_width(config)


def expert_width(config: ModelConfig) -> int:
    return config.number("moe_intermediate_size", "intermediate_size")


def _experts(config: ModelConfig) -> int:
    return config.number("num_local_experts") * _matrices(config) * config.hidden * expert_width(config)


def _vision(config: ModelConfig) -> int:
    """A vision transformer of the usual shape, as far as its part of the config gives sizes."""
    part = config.part("vision_config")
    hidden = _size(part, "hidden_size", "embed_dim", "width")
    layers = _size(part, "num_hidden_layers", "depth", "layers")
    if not hidden or not layers:
        return 0
    width = _size(part, "intermediate_size") or 4 * hidden
    return layers * (4 * hidden * hidden + 2 * hidden * width) + hidden * config.hidden


def _size(part: Mapping[str, object], *names: str) -> int:
    for name in names:
        value = part.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return 0


__all__ = ["FULL", "Parameters", "expert_width", "is_tied", "parameters_of"]
