"""A model's name in, the number of parameters that it tells out (`Llama-3.1-70B` → 70 billion)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vllmdoctor.facts.model import COMPUTED
from vllmdoctor.facts.table import Reading

# Not the active ones of an expert model (A3B), nor those of one of several experts (8x7B, 17B-16E).
_BILLIONS = re.compile(r"(?<![A-Za-z0-9.])(\d{1,4}(?:\.\d{1,2})?)[bB](?![A-Za-z0-9])")
_EXPERTS = re.compile(r"(?<![A-Za-z0-9])\d{1,4}E(?![A-Za-z0-9])")
_FEWER_BITS = re.compile(
    r"awq|gptq|int[48]|fp[48]|mxfp|w\da\d|(?<!\d)[2-8][-_]?bits?(?![a-z])|bnb|gguf|exl|marlin|hqq|aqlm|bitnet|quant"
    r"|gpt-oss|(?<![a-z0-9])i?q[2-8](?![a-z0-9])",
    re.IGNORECASE,
)


def named_facts(readings: Sequence[Reading]) -> list[Reading]:
    """`model_parameters_b` of the model that the readings name first."""
    model = next((reading for reading in readings if reading.name == "model"), None)
    billions = parameters_in(model.value) if model and isinstance(model.value, str) else None
    if model is None or billions is None:
        return []
    return [Reading("model_parameters_b", billions, model.origin, COMPUTED)]


def parameters_in(name: str) -> float | None:
    """Billions of 16-bit parameters; None when the name tells none or several, or tells that they have fewer bits."""
    found = {float(match[1]) for match in _BILLIONS.finditer(name)}
    if len(found) != 1 or _EXPERTS.search(name) or _FEWER_BITS.search(name):
        return None
    return found.pop() or None
