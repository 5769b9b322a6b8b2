"""A model_type in, what has to be known of its architecture beyond the numbers in config.json out.

A model that is not in the table is refused rather than guessed: which layers keep a KV cache, and how wide it is, is
written in the model's code, not in its config.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vllmdoctor.languages import Message

# How layers attend
FULL, GEMMA2, GEMMA3, COHERE2, LLAMA4, MLA = "full", "gemma2", "gemma3", "cohere2", "llama4", "mla"
QWEN_NEXT, NEMOTRON_H, JAMBA, BAMBA, GRANITE_HYBRID, FALCON_H1, MAMBA, MAMBA2, LFM2 = (
    "qwen-next",
    "nemotron-h",
    "jamba",
    "bamba",
    "granite-hybrid",
    "falcon-h1",
    "mamba",
    "mamba2",
    "lfm2",
)


@dataclass(frozen=True, slots=True)
class Family:
    """`layers`: how attention kinds are found; `gated`: the MLP has three matrices instead of two; `tied`: output and
    input embeddings are one when the config does not say; `defaults`: values that config.json may leave out because
    the model's class has them; `names`: this family's spelling of common fields.
    """

    layers: str = FULL
    gated: bool = True
    tied: bool = False
    defaults: Mapping[str, int] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)


_GATED = Family()
_TIED = Family(tied=True)
_MLA = Family(MLA)
_GPT2_NAMES = {
    "n_embd": "hidden_size",
    "n_layer": "num_hidden_layers",
    "n_head": "num_attention_heads",
    "n_inner": "intermediate_size",
    "n_positions": "max_position_embeddings",
}
_PLAIN = (
    "llama mistral mixtral qwen2 qwen2_moe qwen3 qwen3_moe phi3 phimoe olmo olmo2 olmo3 olmoe stablelm internlm2 "
    "internlm3 baichuan glm glm4 glm4_moe exaone4 granite granitemoe minicpm ernie4_5 ernie4_5_moe "
    "hunyuan_v1_dense hunyuan_v1_moe seed_oss smollm3 apertus mimo ministral ministral3 gpt_oss deepseek qwen2_vl "
    "qwen2_5_vl qwen2_vl_text qwen2_5_vl_text qwen3_vl_text qwen3_vl_moe_text aquila orion xverse yi solar arcee "
    "dots1 bailing_moe minimax_m2"
)

FAMILIES: Mapping[str, Family] = {
    **dict.fromkeys(_PLAIN.split(), _GATED),
    "gemma": _TIED,
    "gemma2": Family(GEMMA2, tied=True, defaults={"sliding_window": 4096, "head_dim": 256}),
    "gemma3_text": Family(
        GEMMA3,
        tied=True,
        defaults={
            "vocab_size": 262208,
            "max_position_embeddings": 131072,
            "sliding_window": 4096,
            "head_dim": 256,
            "num_attention_heads": 8,
            "num_key_value_heads": 4,
        },
    ),
    "cohere": _TIED,
    "cohere2": Family(COHERE2, tied=True, defaults={"sliding_window": 4096}),
    "llama4_text": Family(LLAMA4, defaults={"attention_chunk_size": 8192}),
    "exaone": Family(names={"num_layers": "num_hidden_layers"}),
    "phi": Family(gated=False),
    "opt": Family(gated=False, tied=True, names={"ffn_dim": "intermediate_size"}),
    "gpt2": Family(gated=False, tied=True, names=_GPT2_NAMES),
    "gpt_bigcode": Family(gated=False, tied=True, names=_GPT2_NAMES),
    "gpt_neox": Family(gated=False),
    "starcoder2": Family(gated=False, tied=True),
    "nemotron": Family(gated=False),
    "deepseek_v2": _MLA,
    "deepseek_v3": _MLA,
    "deepseek_v32": _MLA,
    "kimi_k2": _MLA,
    "glm4_moe_lite": _MLA,
    "qwen3_next": Family(QWEN_NEXT),
    "qwen3_5_text": Family(QWEN_NEXT),
    "qwen3_5_moe_text": Family(QWEN_NEXT),
    "nemotron_h": Family(NEMOTRON_H, gated=False),
    "jamba": Family(JAMBA),
    "bamba": Family(BAMBA),
    "granitemoehybrid": Family(GRANITE_HYBRID, tied=True),
    "falcon_h1": Family(FALCON_H1),
    "mamba": Family(MAMBA, tied=True),
    "falcon_mamba": Family(MAMBA, tied=True),
    "mamba2": Family(MAMBA2, tied=True),
    "lfm2": Family(LFM2, tied=True),
    "lfm2_moe": Family(LFM2, tied=True),
}

# Models that wrap a language model: where its config stands, and the type to take when it does not say
WRAPPERS: Mapping[str, tuple[str, str]] = {
    "gemma3": ("text_config", "gemma3_text"),
    "mistral3": ("text_config", "mistral"),
    "llava": ("text_config", "llama"),
    "llava_next": ("text_config", "mistral"),
    "llava_onevision": ("text_config", "qwen2"),
    "pixtral": ("text_config", "mistral"),
    "llama4": ("text_config", "llama4_text"),
    "qwen3_vl": ("text_config", "qwen3_vl_text"),
    "qwen3_vl_moe": ("text_config", "qwen3_vl_moe_text"),
    "qwen3_5": ("text_config", "qwen3_5_text"),
    "qwen3_5_moe": ("text_config", "qwen3_5_moe_text"),
    "internvl_chat": ("llm_config", "qwen2"),
    "internvl": ("text_config", "qwen2"),
    "idefics3": ("text_config", "llama"),
    "smolvlm": ("text_config", "llama"),
    "aya_vision": ("text_config", "cohere2"),
    "paligemma": ("text_config", "gemma"),
    "kimi_vl": ("text_config", "deepseek_v3"),
    "deepseek_vl_v2": ("language_config", "deepseek_v2"),
}

# Known to differ from every formula here, with what they do
UNSUPPORTED: Mapping[str, str] = {
    "mllama": Message("cross-attention layers keep the image tokens, whose number depends on the request"),
    "whisper": Message("an encoder-decoder model keeps a cross-attention cache besides its own"),
    "t5": Message("an encoder-decoder model keeps a cross-attention cache besides its own"),
    "bart": Message("an encoder-decoder model keeps a cross-attention cache besides its own"),
    "gemma3n": Message("some layers share the KV cache of others"),
    "gemma3n_text": Message("some layers share the KV cache of others"),
    "kimi_linear": Message("its linear attention keeps a state whose size is not in the table"),
    "zamba2": Message("its layers share weights and caches"),
    "rwkv": Message("it keeps a recurrent state whose size is not in the table"),
    "minimax_text_01": Message("its lightning attention keeps a state whose size is not in the table"),
}
