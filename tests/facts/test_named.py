"""Parameters that a model's name tells, and names from which nothing may be concluded."""

from __future__ import annotations

import pytest

from vllmdoctor.facts.model import Origin
from vllmdoctor.facts.named import named_facts, parameters_in
from vllmdoctor.facts.table import Reading


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("meta-llama/Llama-3.1-70B-Instruct", 70.0),
        ("Qwen/Qwen3-30B-A3B", 30.0),
        ("Qwen/Qwen2.5-0.5B", 0.5),
        ("google/gemma-3-27b-it", 27.0),
        ("/models/models--org--Model_7b_chat/snapshots/0f3c1e7b9a", 7.0),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", 32.0),
    ],
)
def test_a_name_tells_the_parameters(name: str, billions: float) -> None:
    assert parameters_in(name) == billions


@pytest.mark.parametrize(
    "name",
    [
        "mistralai/Mixtral-8x7B-Instruct-v0.1",  # 46.7 in all
        "meta-llama/Llama-4-Scout-17B-16E-Instruct",  # 109 in all
        "TheBloke/Llama-2-70B-AWQ",
        "Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4",
        "org/Llama-3.1-70B-FP8-dynamic",
        "org/model-70b-w4a16",
        "org/model-70b-4bit",
        "org/model-70B-Q4_K_M.gguf",
        "openai/gpt-oss-120b",  # 4 bits
        "microsoft/phi-4",
        "org/merge-7b-13b",
        "org/a70bc",
        "org/model-0b",
    ],
)
def test_names_from_which_nothing_follows(name: str) -> None:
    assert parameters_in(name) is None


def test_the_place_is_that_of_the_name() -> None:
    (found,) = named_facts(
        [Reading("model", "org/model-7B", Origin(0, 3)), Reading("model", "org/x-70B", Origin(0, 9))]
    )
    assert (found.name, found.value, found.origin, found.kind) == ("model_parameters_b", 7.0, Origin(0, 3), "computed")
