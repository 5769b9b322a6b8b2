"""The printed value of an argument (Python's repr) in, its canonical text out; None for what cannot be told for sure.

Canonical are `true`, `false`, JSON for dicts and lists, and plain text for the rest.
"""

from __future__ import annotations

import ast
import json
import re
from math import isfinite

_LONGEST = 1500
_TORCH_TYPE = re.compile(r"torch\.(\w+)")
_LORA = re.compile(
    r"LoRAModulePath\(name=(?P<name>'[^'\\]*'), path=(?P<path>'[^'\\]*')"
    r"(?:, base_model_name=(?P<base>None|'[^'\\]*'))?(?:, \w+=(?:None|False))*\)"
)


def canonical_text(printed: str) -> str | None:
    """`'awq'` → awq, `True` → true, `{'image': 1}` → {"image": 1}; "" for None."""
    printed = printed.strip()
    if not printed or len(printed) > _LONGEST:
        return None
    found = _TORCH_TYPE.fullmatch(printed)
    if found:
        return found[1]
    try:
        value = ast.literal_eval(_LORA.sub(_lora_text, printed))
        return text_of(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def text_of(value: object) -> str | None:
    """The canonical text of a literal."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value) if isfinite(value) else None
    if isinstance(value, str):
        return value if _is_one_line(value) else None
    if isinstance(value, (list, tuple, dict)):
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        return text if _is_one_line(text) else None
    return None


def _is_one_line(text: str) -> bool:
    return text.isprintable() and len(text) <= _LONGEST


def _lora_text(found: re.Match[str]) -> str:
    """As the option takes it: `name=path`, or JSON when the base model is named too."""
    name, path = ast.literal_eval(found["name"]), ast.literal_eval(found["path"])
    if found["base"] in (None, "None"):
        return repr(f"{name}={path}")
    base = ast.literal_eval(found["base"])
    return repr(json.dumps({"name": name, "path": path, "base_model_name": base}, ensure_ascii=False))
