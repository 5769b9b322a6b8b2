"""Echoed arguments in every shape that vLLM, scripts and shells print them; nothing is ever evaluated."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllmdoctor.facts.arguments import echoed_arguments

from .helpers import book, values


def test_a_dict() -> None:
    text = "non-default args: {'model_tag': 'acme/m', 'tensor_parallel_size': 2, 'gpu_memory_utilization': 0.95, 'enforce_eager': True}"
    assert echoed_arguments(text) == {
        "model_tag": "acme/m",
        "tensor_parallel_size": "2",
        "gpu_memory_utilization": "0.95",
        "enforce_eager": "True",
    }


def test_a_namespace() -> None:
    text = "args: Namespace(host=None, port=8000, allowed_origins=['*'], model='acme/m', dispatch=<function f at 0x7f10>, max_model_len=4096)"
    found = echoed_arguments(text)
    assert (found["port"], found["model"], found["max_model_len"]) == ("8000", "acme/m", "4096")
    assert found["allowed_origins"] == "['*']"


def test_commas_and_brackets_inside_values_do_not_split_them() -> None:
    found = echoed_arguments(
        "non-default args: {'a': [1, (2, 3)], 'b': 'x, y: {z', 'c': {'d': 1, 'e': 2}, 'max_num_seqs': 16}"
    )
    assert found == {"a": "[1, (2, 3)]", "b": "x, y: {z", "c": "{'d': 1, 'e': 2}", "max_num_seqs": "16"}


@pytest.mark.parametrize(
    "command",
    [
        "vllm serve acme/m --max-model-len 4096 --enforce-eager -tp 2",
        "$ vllm serve acme/m --max-model-len=4096 --enforce-eager --tensor-parallel-size 2",
        "vllm serve acme/m \\ --max-model-len 4096 \\ --enforce-eager \\ -tp=2",
        "+ python3 -m vllm.entrypoints.openai.api_server --model acme/m --max_model_len 4096 --enforce-eager --tensor_parallel_size 2",
        "docker run --gpus all -p 8000:8000 vllm/vllm-openai:v0.11.0 --model acme/m --max-model-len 4096 --enforce-eager -tp 2",
        "vllm serve 'acme/m' --max-model-len '4096' --enforce-eager --tensor-parallel-size \"2\" 2>&1 | tee serve.log",
        "vllm serve acme/m --max-model-len 4096 --enforce-eager -tp 2 && echo --max-model-len 1",
    ],
)
def test_a_command_line(command: str) -> None:
    found = echoed_arguments(command)
    assert found["model"] == "acme/m"
    assert found["max_model_len"] == "4096"
    assert found["enforce_eager"] == "true"
    assert found["tensor_parallel_size"] == "2"


def test_a_negative_number_is_a_value_and_no_flag() -> None:
    assert echoed_arguments("vllm serve acme/m --seed -1 --max-num-seqs 4") == {"model": "acme/m", "seed": "-1", "max_num_seqs": "4"}  # fmt: skip


def test_a_constructor_in_a_script() -> None:
    found = echoed_arguments('llm = LLM(model="acme/m", tensor_parallel_size=4, gpu_memory_utilization=0.85)')
    assert found == {"model": "acme/m", "tensor_parallel_size": "4", "gpu_memory_utilization": "0.85"}


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("non-default args: {'model': 'acme/m', 'max_model_len': 4096, 'hf_overrides': {'rope_sc", "max_model_len"),
        ("args: Namespace(model='acme/m', max_model_len=4096, chat_template='{{% if", "max_model_len"),
        ("vllm serve acme/m --max-model-len 4096 --override-generation-config '{\"temp", "max_model_len"),
    ],
    ids=["dict", "namespace", "command"],
)
def test_of_a_cut_line_the_whole_arguments_are_read(text: str, whole: str) -> None:
    found = echoed_arguments(text)
    assert (found["model"], found[whole]) == ("acme/m", "4096")


@pytest.mark.parametrize("bracket", ["(", "[", "{", "'", '"', "\\"])
def test_a_hundred_thousand_brackets(bracket: str) -> None:
    began = time.process_time()
    for start in (
        "non-default args: {'model': 'acme/m', 'x': ",
        "args: Namespace(model='acme/m', x=",
        "vllm serve acme/m --x ",
    ):
        assert echoed_arguments(start + bracket * 100_000)["model"] == "acme/m"
    assert time.process_time() - began < 2


@pytest.mark.parametrize("text", ["", "the arguments are wrong", "vllm serve", "pip install vllm", "args: none"])
def test_a_text_that_echoes_none(text: str) -> None:
    assert echoed_arguments(text) == {}


def test_nothing_is_evaluated() -> None:
    found = echoed_arguments("non-default args: {'model': __import__('os').system('echo hi'), 'max_num_seqs': 8}")
    assert found == {"model": "__import__('os').system('echo hi')", "max_num_seqs": "8"}


@given(st.text(max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    for start in ("non-default args: {", "args: Namespace(", "vllm serve ", "LLM("):
        assert isinstance(echoed_arguments(start + text), dict)


@given(st.dictionaries(st.from_regex(r"[a-z][a-z_]{0,15}", fullmatch=True), st.one_of(st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False), st.text(alphabet="ab,=: /.-", max_size=12)), max_size=8))  # fmt: skip
def test_a_printed_dict_gives_its_pairs_back(arguments: dict[str, object]) -> None:
    found = echoed_arguments(f"non-default args: {arguments!r}")
    assert found == {key: str(value) for key, value in arguments.items()}


# What becomes of them


def test_arguments_become_facts_by_their_canonical_names() -> None:
    found = values(
        "INFO 05-22 10:00:00 [utils.py:328] non-default args: {'model_tag': 'acme/m', 'max_seq_len': 4096, 'tensor_parallel_size': 2}"
    )
    assert (found["model"], found["max_model_len"], found["tensor_parallel_size"]) == ("acme/m", 4096, 2)


def test_secrets_are_no_facts() -> None:
    found = values(
        """
        INFO 05-22 10:00:00 [utils.py:328] non-default args: {'model': 'acme/m', 'api_key': ['sk-0123456789abcdef'], 'hf_token': 'hf_0123456789abcdef'}
        $ HF_TOKEN=hf_0123456789abcdef vllm serve acme/m --api-key sk-0123456789abcdef --port 8000
        """
    )
    assert found["port"] == 8000
    assert not [value for value in found.values() if "0123456789abcdef" in str(value)]
    assert not {"api_key", "hf_token"} & set(book().names)


def test_a_model_that_is_no_name_is_no_fact() -> None:
    assert "model" not in values("INFO 05-22 10:00:00 [u.py:1] non-default args: {'model': <class 'acme.Model'>}")
