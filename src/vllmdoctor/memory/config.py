"""A model's config.json as parsed JSON in, typed fields by one set of names out; what is missing is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vllmdoctor.errors import InputError
from vllmdoctor.languages import Message
from vllmdoctor.memory.families import FAMILIES, UNSUPPORTED, WRAPPERS, Family

_DTYPE_BYTES = {"bfloat16": 2, "float16": 2, "half": 2, "float32": 4, "float": 4}
_LARGEST = 2**40
_MOST_LAYERS = 4096
_SPELLINGS = {
    "multi_query_group_num": "num_key_value_heads",
    "num_experts": "num_local_experts",
    "n_routed_experts": "num_local_experts",
    "moe_num_experts": "num_local_experts",
    "num_experts_per_token": "num_experts_per_tok",
    "experts_per_token": "num_experts_per_tok",
}


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The language model's part of a config. `name` is how the user called the file, for errors.

    `outer` is the whole config: quantization and the vision part stand there.
    """

    name: str
    model_type: str
    family: Family
    fields: Mapping[str, object]
    outer: Mapping[str, object]

    def number(self, *names: str) -> int:
        """The first of the fields that is set, above zero. Raises InputError that names them when none is."""
        found = self.offset(*names)
        if found == 0:
            raise InputError(self.name, Message("{name} is 0", name=" / ".join(names)), _NEEDS_WHOLE)
        return found

    def offset(self, *names: str) -> int:
        """Like `number`, for a field that may be zero."""
        found = self.number_or_none(*names)
        if found is None:
            wanted = " / ".join(names)
            raise InputError(
                self.name,
                Message(
                    "config of model_type {model_type!r} has no {wanted}", model_type=self.model_type, wanted=wanted
                ),
                _NEEDS_WHOLE,
            )
        return found

    def number_or_none(self, *names: str) -> int | None:
        for name in names:
            value = self.fields.get(name)
            if value is None:
                value = self.family.defaults.get(name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InputError(self.name, Message("{name} is {value!r}, not a whole number", name=name, value=value))
            if value > _LARGEST:
                raise InputError(
                    self.name, Message("{name} is {value}, which no model has", name=name, value=f"{value:.0e}")
                )
            return value
        return None

    def flag(self, name: str, default: bool) -> bool:
        value = self.fields.get(name, default)
        return value if isinstance(value, bool) else default

    def text(self, name: str) -> str:
        value = self.fields.get(name)
        return value if isinstance(value, str) else ""

    def texts(self, name: str) -> list[str] | None:
        value = self.fields.get(name)
        return [str(item) for item in value] if isinstance(value, list) else None

    def numbers(self, name: str) -> list[int] | None:
        value = self.fields.get(name)
        return [item for item in value if isinstance(item, int)] if isinstance(value, list) else None

    def part(self, name: str) -> Mapping[str, object]:
        """A nested object of the whole config, empty when there is none."""
        value = self.outer.get(name)
        return value if isinstance(value, dict) else {}

    @property
    def layers(self) -> int:
        found = self.number("num_hidden_layers")
        if found > _MOST_LAYERS:
            raise InputError(self.name, Message("has {count:,} layers, which no model has", count=found))
        return found

    @property
    def hidden(self) -> int:
        return self.number("hidden_size")

    @property
    def heads(self) -> int:
        return self.number("num_attention_heads")

    @property
    def kv_heads(self) -> int:
        if self.flag("multi_query", False):
            return 1
        found = self.number_or_none("num_key_value_heads")
        return self.heads if found is None else found

    @property
    def head_dim(self) -> int:
        found = self.number_or_none("head_dim", "attention_head_dim", "kv_channels")
        size = found or self.hidden // self.heads
        if not size:
            raise InputError(self.name, Message("hidden_size is smaller than num_attention_heads"), _NEEDS_WHOLE)
        return size

    @property
    def dtype_bytes(self) -> int:
        """Bytes of a value as vLLM loads it: float32 checkpoints become 16-bit with dtype auto (`config/model.py`)."""
        dtype = self.text("torch_dtype") or self.text("dtype") or _outer_dtype(self.outer)
        return 2 if dtype in ("float32", "float", "") else _DTYPE_BYTES.get(dtype, 2)


_NEEDS_WHOLE = Message("Give the model's own config.json, unchanged")


def read_config(document: object, name: str) -> ModelConfig:
    """Raises InputError for a document that is no config, or an architecture that is not known."""
    if not isinstance(document, dict):
        raise InputError(name, Message("is no JSON object"), _NEEDS_WHOLE)
    outer: Mapping[str, object] = document
    model_type = outer.get("model_type")
    if not isinstance(model_type, str) or not model_type:
        raise InputError(name, Message("has no model_type, so it is no config of a language model"), _NEEDS_WHOLE)
    inner_type, fields = _language_part(outer, model_type, name)
    family = FAMILIES.get(inner_type)
    if family is None:
        raise InputError(name, _refusal(inner_type, outer), _REFUSAL_HINT)
    return ModelConfig(name, inner_type, family, _with_common_names(fields, family), outer)


def _language_part(outer: Mapping[str, object], model_type: str, name: str) -> tuple[str, Mapping[str, object]]:
    if model_type not in WRAPPERS:
        return model_type, outer
    key, default_type = WRAPPERS[model_type]
    inner = outer.get(key)
    if not isinstance(inner, dict):
        raise InputError(
            name,
            Message("config of model_type {model_type!r} has no {key}", model_type=model_type, key=key),
            _NEEDS_WHOLE,
        )
    inner_type = inner.get("model_type")
    return (inner_type if isinstance(inner_type, str) and inner_type else default_type), inner


_REFUSAL_HINT = Message("Start it with `--max-model-len auto` (vLLM 0.14.1 and later) and read the size from its log")


def _refusal(model_type: str, outer: Mapping[str, object]) -> str:
    architectures = outer.get("architectures")
    known = architectures[0] if isinstance(architectures, list) and architectures else Message("not named")
    reason = UNSUPPORTED.get(model_type, Message("missing: which layers keep a KV cache, and how wide it is"))
    return Message(
        "architecture {architecture} (model_type {model_type!r}) is not one whose memory can be computed: {reason}",
        architecture=known,
        model_type=model_type,
        reason=reason,
    )


def _with_common_names(fields: Mapping[str, object], family: Family) -> Mapping[str, object]:
    names = {**_SPELLINGS, **family.names}
    result = dict(fields)
    for own, common in names.items():
        if result.get(common) is None and result.get(own) is not None:
            result[common] = result[own]
    return result


def _outer_dtype(outer: Mapping[str, object]) -> str:
    found = outer.get("torch_dtype") or outer.get("dtype")
    return found if isinstance(found, str) else ""
