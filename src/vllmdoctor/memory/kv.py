"""A model's layers and how they are split in, bytes of KV cache out: per token, per request, and what a GPU holds.

Formulas of `vllm/v1/kv_cache_interface.py` and `vllm/v1/core/kv_cache_utils.py` (V1), `vllm/worker/cache_engine.py`
(V0): a layer with keys and values has 2 × max(1, heads ÷ TP) × head size values per token, MLA one latent that TP does
not divide, a sliding or chunked layer no more than its window and one batch, a state one page per request.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from vllmdoctor.errors import UsageError
from vllmdoctor.languages import Message
from vllmdoctor.memory.layers import CHUNKED, FULL, LATENT, NOTHING, SLIDING, STATE, Layer

_GROWING = (FULL, LATENT)
_WINDOWED = (SLIDING, CHUNKED)
_SIMILAR = 1.25  # group sizes: with counts this close the larger one is taken (get_kv_cache_groups)
_STATE_ALIGNMENT_TOKENS = 16
_VERY_LONG = 10**9


@dataclass(frozen=True, slots=True)
class KvSetup:
    """How the cache is laid out. `hybrid`: layers of different kinds are managed each by its own need (V1)."""

    cache_bytes: int = 2
    state_bytes: int = 2
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    context_parallel: int = 1
    block_tokens: int = 16
    batched_tokens: int = 2048
    hybrid: bool = True


@dataclass(frozen=True, slots=True)
class KvCache:
    """The cache of the fullest pipeline stage on one GPU. `page_bytes` is the largest block of a layer with tokens."""

    layers: tuple[Layer, ...]
    setup: KvSetup
    block_tokens: int
    page_bytes: int

    @property
    def windowed_apart(self) -> bool:
        """True when sliding and chunked layers give blocks back that full ones of the same model must keep."""
        kinds = {layer.kind for layer in self.layers} - {NOTHING}
        return self.setup.hybrid and len(kinds) > 1

    @property
    def bytes_per_token(self) -> int:
        """What each further token of a long request costs. 0 for a model without attention."""
        counted = _GROWING if self.windowed_apart and self._grows else (*_GROWING, *_WINDOWED)
        return sum(token_bytes(layer, self.setup) for layer in self.layers if layer.kind in counted)

    @property
    def _grows(self) -> bool:
        return any(layer.kind in _GROWING for layer in self.layers)

    @property
    def fixed_bytes(self) -> int:
        """Bytes of a long request that do not grow any more: states, and full windows beside layers that do grow."""
        windows = [x for x in self.layers if x.kind in _WINDOWED] if self.windowed_apart and self._grows else []
        states = sum(self._state_page(layer) for layer in self.layers if layer.state)
        return states + sum(self._layer_bytes(layer, _VERY_LONG) for layer in windows)

    def request_bytes(self, length: int) -> int:
        """What one request of that length occupies: whole blocks of every layer (`max_memory_usage_bytes`)."""
        alike = Counter(self.layers)
        return sum(count * self._layer_bytes(layer, length) for layer, count in alike.items())

    def concurrency(self, available_bytes: float, length: int) -> float:
        """Requests of that length that fit at a time (`get_max_concurrency_for_kv_cache_config`)."""
        groups = self._groups()
        if not groups:
            return math.inf
        size = max(1, _group_size([len(layers) for layers in groups]))
        page = max(self._page_bytes(layer) for layers in groups for layer in layers)
        if not page:  # attention without heads
            return math.inf
        blocks = available_bytes // (size * page)
        needed = sum(math.ceil(len(layers) / size) * self._blocks(layers[0], length) for layers in groups)
        return blocks / needed if needed else math.inf

    def longest_request(self, available_bytes: float, most: int) -> int:
        """The longest request up to `most` tokens that fits, rounded down to a block; 0 when none does."""
        if self.request_bytes(most) <= available_bytes:
            return most
        low, high = 0, most
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.request_bytes(middle) <= available_bytes else (low, middle)
        return low // self.setup.block_tokens * self.setup.block_tokens

    def _kept_tokens(self, layer: Layer, length: int) -> int:
        """Tokens of a request that a layer keeps at most."""
        if layer.kind in _WINDOWED and self.setup.hybrid:
            extra = -1 if layer.kind == SLIDING else 0
            return min(layer.window_tokens + extra + self.setup.batched_tokens, length)
        return math.ceil(length / self.setup.context_parallel) if layer.kind in _GROWING else length

    def _blocks(self, layer: Layer, length: int) -> int:
        if layer.kind == STATE:
            return 1
        kept = math.ceil(self._kept_tokens(layer, length) / self.block_tokens)
        return kept + 1 if layer.kind == SLIDING and self.setup.hybrid else kept

    def _layer_bytes(self, layer: Layer, length: int) -> int:
        attention = 0 if layer.kind in (STATE, NOTHING) else self._blocks(layer, length) * self._token_page(layer)
        return attention + (self._state_page(layer) if layer.state else 0)

    def _token_page(self, layer: Layer) -> int:
        return self.block_tokens * token_bytes(layer, self.setup)

    def _state_page(self, layer: Layer) -> int:
        """A state is padded to the page of an attention layer, so that one pool serves both."""
        return max(state_bytes(layer, self.setup), self.page_bytes)

    def _page_bytes(self, layer: Layer) -> int:
        return self._state_page(layer) if layer.kind == STATE else self._token_page(layer)

    def _groups(self) -> list[list[Layer]]:
        """Layers by what they keep; a layer with attention and a state counts as two."""
        entries = [replace(layer, state=None) for layer in self.layers if layer.kind not in (STATE, NOTHING)]
        entries += [Layer(STATE, state=layer.state) for layer in self.layers if layer.state]
        groups: dict[tuple[str, int], list[Layer]] = {}
        for layer in entries:
            kind = FULL if not self.setup.hybrid and layer.kind in _WINDOWED else layer.kind
            groups.setdefault((kind, layer.window_tokens if kind in _WINDOWED else 0), []).append(layer)
        return list(groups.values())


def token_bytes(layer: Layer, setup: KvSetup) -> int:
    """Bytes of one token in one layer on one GPU."""
    if layer.kind == LATENT:
        return layer.latent_values * setup.cache_bytes + layer.index_bytes
    heads = max(1, layer.kv_heads // setup.tensor_parallel)
    return 2 * heads * layer.head_dim * setup.cache_bytes if layer.kind not in (STATE, NOTHING) else 0


def state_bytes(layer: Layer, setup: KvSetup) -> int:
    """Bytes of one request's state in one layer on one GPU."""
    return layer.state.page_bytes(setup.tensor_parallel, setup.state_bytes) if layer.state else 0


def block_tokens(layers: Sequence[Layer], setup: KvSetup) -> int:
    """Tokens in a block; beside states so many that it holds one (`HybridAttentionMambaModelConfig`)."""
    state = max((state_bytes(layer, setup) for layer in layers), default=0)
    per_token = max((token_bytes(layer, setup) for layer in layers), default=0)
    if not state or not per_token:
        return setup.block_tokens
    step = max(setup.block_tokens, _STATE_ALIGNMENT_TOKENS)
    return max(step, math.ceil(state / per_token / step) * step)


def kv_cache_of(layers: Sequence[Layer], setup: KvSetup) -> KvCache:
    """The cache of the pipeline stage that needs most per request."""
    stages = [_stage(part, setup) for part in pipeline_stages(layers, setup.pipeline_parallel)]
    return max(stages, key=lambda stage: (stage.bytes_per_token, stage.fixed_bytes))


def _stage(layers: Sequence[Layer], setup: KvSetup) -> KvCache:
    tokens = block_tokens(layers, setup)
    page = tokens * max((token_bytes(layer, setup) for layer in layers), default=0)
    return KvCache(tuple(layers), setup, tokens, page)


def pipeline_stages(layers: Sequence[Layer], stages: int) -> list[Sequence[Layer]]:
    """Layers by stage; what is left over goes to the last stages but one (`get_pp_indices`, `distributed/utils.py`)."""
    if stages > len(layers):
        raise UsageError(
            Message(
                "pipeline_parallel_size {size} is more than the {layers} layers of the model",
                size=stages,
                layers=len(layers),
            )
        )
    counts = [len(layers) // stages] * stages
    for back in range(2, len(layers) % stages + 2):
        counts[-back] += 1
    starts = [sum(counts[:number]) for number in range(stages)]
    return [layers[start : start + count] for start, count in zip(starts, counts, strict=True)]


def _group_size(counts: Sequence[int]) -> int:
    smallest, largest = min(counts), max(counts)
    return largest if largest < smallest * _SIMILAR else smallest
