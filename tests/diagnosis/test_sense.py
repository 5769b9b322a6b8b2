"""No fix is shown whose number is impossible or turns a knob the wrong way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from vllmdoctor import analyze
from vllmdoctor.diagnosis.sense import makes_sense
from vllmdoctor.rules.compiled import catalogue_of
from vllmdoctor.rules.expressions import UNKNOWN
from vllmdoctor.rules.load import load_bundle
from vllmdoctor.rules.model import Fix

from .helpers import rule


def fix_with(direction: str, template: str, **arguments: str) -> Fix:
    """A fix that sets `max_num_seqs`."""
    remedy: dict[str, Any] = {"id": "turn", "title": "turn", "text": "x", "cost": "x"}
    remedy |= {"changes": {"arguments": {"max_num_seqs": template}}} | ({"direction": direction} if direction else {})
    document = rule("some", "trouble", fixes=[{"remedy": "turn", "arguments": arguments}])
    bundle = {"rules": {"some": document}, "remedies": {"turn": remedy}, "facts": load_bundle()["facts"]}
    return catalogue_of({**bundle, "files": {}, "translations": {}}, "en").rules["some"].fixes[0]


@pytest.mark.parametrize(
    ("direction", "template", "now", "sensible"),
    [
        ("down", "32", 64, True),
        ("down", "64", 64, False),
        ("down", "128", 64, False),
        ("up", "128", 64, True),
        ("up", "64", 64, False),
        ("", "64", 64, True),
        ("", "-1", 64, False),
        ("down", "32", UNKNOWN, True),
        ("down", "-32", UNKNOWN, False),
        ("down", "<n>", 64, True),
    ],
)
def test_number_against_what_is_in_force(direction: str, template: str, now: Any, sensible: bool) -> None:
    lookup = {"max_num_seqs": now}
    assert makes_sense(fix_with(direction, template), lambda name: lookup.get(name, UNKNOWN)) is sensible


def test_computed_number_counts_not_its_fallback() -> None:
    fix = fix_with("down", "{value:raw|16}", value="max_num_seqs * 2")
    assert not makes_sense(fix, lambda name: 64 if name == "max_num_seqs" else UNKNOWN)
    assert makes_sense(fix, lambda name: UNKNOWN)


FREE = (
    "ValueError: Free memory on device xpu:0 (0.2/31.0 GiB) on startup is less than desired GPU memory utilization "
    "(0.7, 21.7 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
)
NO_GPU = "AssertionError: local_world_size (4) must be less than or equal to the number of visible devices (0)."
LOW_SHARE = (
    "vllm serve some/model --gpu-memory-utilization 0.5\n"
    "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity; 58.00 GiB already "
    "allocated; 58.00 GiB current active; 1.60 GiB free; 58.50 GiB reserved in total by PyTorch)"
)
SHORT_PROMPT = (
    "ValueError: This model's maximum context length is 4096 tokens. However, you requested 4150 tokens (100 in the "
    "messages, 4050 in the completion). Please reduce the length of the messages or completion."
)


@pytest.mark.parametrize(
    ("text", "argument", "most"),
    [
        (FREE, "gpu_memory_utilization", 0),
        (NO_GPU, "tensor_parallel_size", 2),
        (LOW_SHARE, "gpu_memory_utilization", 0.5),
    ],
    ids=["nothing-free", "no-gpu", "low-share"],
)
def test_logs_whose_numbers_leave_no_room(text: str, argument: str, most: float, tmp_path: Path) -> None:
    """`most`: a number above it cannot help; 0 when the argument should not be advised at all."""
    log = tmp_path / "startup.log"
    log.write_text(text, encoding="utf-8")
    fixes = analyze(log).findings[0].fixes
    assert fixes
    advised = [float(fix.arguments[argument]) for fix in fixes if argument in fix.arguments]
    assert all(0 < value < most for value in advised), advised


def test_a_short_prompt_is_not_cut(tmp_path: Path) -> None:
    """4,096 tokens of context hold the prompt of 100 and 3,996 more."""
    log = tmp_path / "startup.log"
    log.write_text(SHORT_PROMPT, encoding="utf-8")
    fixes = analyze(log).findings[0].fixes
    assert "3,996" in fixes[0].title
    assert "shorter-prompt" not in [fix.id for fix in fixes]
