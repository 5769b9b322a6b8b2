"""A config in, the size of the state that a Mamba or linear-attention layer keeps for a request out.

Formulas: `MambaStateShapeCalculator` in `vllm/model_executor/layers/mamba/mamba_utils.py`. A state does not grow with
the length of the request; it is divided by the tensor-parallel size.
"""

from __future__ import annotations

from dataclasses import dataclass

from vllmdoctor.memory import families as f
from vllmdoctor.memory.config import ModelConfig

SHORT_CONV = "short-conv"
_STATE_DTYPES = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True, slots=True)
class State:
    """Values of the convolution's window and of the recurrent state, and the bytes of one value of the latter."""

    conv_values: int
    recurrent_values: int
    recurrent_bytes: int

    def page_bytes(self, tensor_parallel: int, dtype_bytes: int) -> int:
        """Bytes of one request on one GPU."""
        values = self.conv_values * dtype_bytes + self.recurrent_values * self.recurrent_bytes
        return -(-values // tensor_parallel)


def state_for(config: ModelConfig, kind: str = "") -> State:
    """Raises InputError that names the missing field."""
    layers = config.family.layers
    if kind == SHORT_CONV:
        taps = config.number_or_none("conv_L_cache") or 3
        return State((taps - 1) * config.hidden, 0, config.dtype_bytes)
    if layers == f.QWEN_NEXT:
        return _gated_delta_net(config)
    if layers in (f.JAMBA, f.MAMBA):
        return _mamba1(config)
    return _mamba2(config)


def _recurrent_bytes(config: ModelConfig) -> int:
    """`mamba_ssm_cache_dtype` of the engine follows the config's own field when there is one, else the model dtype."""
    dtype = config.text("mamba_ssm_cache_dtype") or config.text("mamba_ssm_dtype")
    return _STATE_DTYPES.get(dtype, config.dtype_bytes)


def _mamba1(config: ModelConfig) -> State:
    inner = (config.number_or_none("mamba_expand", "expand") or 2) * config.hidden
    inner = config.number_or_none("intermediate_size") or inner if config.family.layers == f.MAMBA else inner
    taps = config.number_or_none("mamba_d_conv", "conv_kernel") or 4
    width = config.number_or_none("mamba_d_state", "state_size") or 16
    return State((taps - 1) * inner, inner * width, _recurrent_bytes(config))


def _mamba2(config: ModelConfig) -> State:
    """Heads × head dimension × state size, and a window over the inner width and both groups of B and C."""
    heads = config.number("mamba_num_heads", "mamba_n_heads", "num_heads")
    head_dim = config.number_or_none("mamba_head_dim", "mamba_d_head")
    if not head_dim:
        expand = config.number_or_none("mamba_expand", "expand") or 2
        head_dim = (config.number_or_none("mamba_d_ssm") or expand * config.hidden) // heads
    inner = heads * head_dim
    width = config.number("ssm_state_size", "mamba_d_state", "state_size")
    groups = config.number_or_none("n_groups", "mamba_n_groups") or 1
    taps = config.number_or_none("conv_kernel", "mamba_d_conv") or 4
    return State((taps - 1) * (inner + 2 * groups * width), inner * width, _recurrent_bytes(config))


def _gated_delta_net(config: ModelConfig) -> State:
    key_heads, key_dim = config.number("linear_num_key_heads"), config.number("linear_key_head_dim")
    value_heads, value_dim = config.number("linear_num_value_heads"), config.number("linear_value_head_dim")
    taps = config.number_or_none("linear_conv_kernel_dim") or 4
    conv = (taps - 1) * (2 * key_heads * key_dim + value_heads * value_dim)
    return State(conv, value_heads * key_dim * value_dim, _recurrent_bytes(config))
