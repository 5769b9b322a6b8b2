"""Facts for the tests of this package, from plain values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from vllmdoctor.facts.model import READ, Fact, Origin, Scalar
from vllmdoctor.memory.config import ModelConfig, read_config

CONFIGS = Path(__file__).resolve().parents[1] / "fixtures" / "configs"
PLACE = Origin(0, 7)


def facts(**values: Scalar) -> dict[str, Fact]:
    return {name: Fact(name, value, "", READ, PLACE) for name, value in values.items()}


def document(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((CONFIGS / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


def config(name: str, **changes: object) -> ModelConfig:
    return read_config({**document(name), **changes}, f"{name}.json")
