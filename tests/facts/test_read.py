"""Facts from log lines: every declared line is proven by its samples; what users say is never a fact."""

from __future__ import annotations

import pytest

from vllmdoctor.facts.model import Origin
from vllmdoctor.facts.read import read_facts
from vllmdoctor.facts.values import typed_value
from vllmdoctor.rules.model import FactLine
from vllmdoctor.rules.prefilter import compiled

from .helpers import book, facts, records, values

SAMPLES = [(line, sample) for line in book().lines for sample in line.samples]


def promised(line: FactLine, sample: str) -> dict[str, object]:
    """What the pattern's groups and the line's constants say of the sample."""
    match = compiled(line.pattern).search(sample)
    assert match, f"{line.pattern} does not match its own sample"
    texts = {**line.constants, **{k: v for k, v in match.groupdict().items() if v is not None}}
    return {
        key: typed_value(book().names[key], text, texts.get(f"{key}_unit", ""))
        for key, text in texts.items()
        if key in book().names
    }


@pytest.mark.parametrize(("line", "sample"), SAMPLES, ids=[sample[:50] for _, sample in SAMPLES])
def test_a_declared_line_gives_the_facts_of_its_sample(line: FactLine, sample: str) -> None:
    section = "log" if "log" in line.sections else line.sections[0]
    text = sample if section != "log" or sample.startswith(("[", "{")) else f"INFO 05-22 10:00:00 [x.py:1] {sample}"
    found = read_facts(records(text, section=section), book())
    wanted = promised(line, sample)
    assert wanted, "the line declares no fact"
    got = {(reading.name, reading.value) for reading in found}
    assert {(key, value) for key, value in wanted.items() if value is not None} <= got


@pytest.mark.parametrize(("line", "sample"), SAMPLES, ids=[sample[:50] for _, sample in SAMPLES])
def test_no_line_is_read_from_a_prompt(line: FactLine, sample: str) -> None:
    quoted = sample.replace("'", '"')
    text = (
        f"INFO 05-22 10:00:00 [logger.py:41] Received request cmpl-1: prompt: '{quoted}', params: SamplingParams(n=1)"
    )
    assert facts(text) == {}


PROMPT = "Model loading took 99 GiB memory and 3 seconds. GPU KV cache size: 5 tokens. non-default args: {'model': 'evil/m', 'max_model_len': 7}"


@pytest.mark.parametrize(
    "line",
    [
        "INFO 10-20 11:01:02 logger.py:37] Received request chat-1: prompt: '{prompt}', params: SamplingParams(n=1), prompt_token_ids: [1]",
        "(APIServer pid=1) INFO 05-22 10:00:00 [logger.py:41] Received request chat-1: prompt: '{prompt}', params: SamplingParams(n=1)",
        "DEBUG 05-22 10:00:00 [logger.py:50] Request chat-1 details: prompt: '{prompt}', prompt_token_ids: None",
    ],
    ids=["v0", "v1", "details"],
)
def test_a_prompt_that_quotes_log_lines_is_no_fact(line: str) -> None:
    assert "99" not in {str(value) for value in values(line.format(prompt=PROMPT)).values()}
    assert not {"weights_gib", "kv_cache_tokens", "max_model_len", "model"} & set(facts(line.format(prompt=PROMPT)))


def test_a_command_over_several_lines() -> None:
    found = values(
        """
        $ vllm serve acme/m \\
            --max-model-len 4096 \\
            --tensor-parallel-size 4
        """
    )
    assert (found["model"], found["max_model_len"], found["tensor_parallel_size"]) == ("acme/m", 4096, 4)


def test_echoed_settings_are_facts() -> None:
    found = values(
        "INFO 10-20 11:00:01 api_server.py:529] args: Namespace(model='acme/m', max_model_len=4096, swap_space=4)"
    )
    assert (found["model"], found["max_model_len"]) == ("acme/m", 4096)


def test_what_the_engine_says_last_wins_over_what_was_asked_for() -> None:
    found = values(
        """
        (APIServer pid=1) INFO 05-22 10:00:00 [utils.py:328] non-default args: {'model': 'acme/m', 'max_model_len': 131072}
        (EngineCore pid=7) INFO 05-22 10:00:00 [kv_cache_utils.py:1] Auto-fit max_model_len: reduced from 131072 to 20480 to fit in available GPU memory (2.5 GiB available for KV cache)
        """
    )
    assert found["max_model_len"] == 20480


def test_the_origin_of_a_fact_is_its_own_physical_line() -> None:
    text = """
        INFO 01-06 12:00:05 worker.py:241] Memory profiling takes 0.32 seconds
        INFO 01-06 12:00:05 worker.py:241] the current vLLM instance can use total_gpu_memory (23.58GiB) x gpu_memory_utilization (0.90) = 21.22GiB
        INFO 01-06 12:00:05 worker.py:241] model weights take 5.20GiB; non_torch_memory takes 0.03GiB; PyTorch activation peak memory takes 1.42GiB; the rest of the memory reserved for KV Cache is -1.05GiB.
        """
    found = facts(text)
    assert found["requested_gib"].origin == Origin(0, 2)
    assert found["weights_gib"].origin == Origin(0, 3)
    assert found["available_kv_gib"].value == -1.05


def test_units_of_torch_are_scaled() -> None:
    found = values(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 256.00 MiB. GPU 0 has a total capacity of 23.58 GiB of which 128.00 MiB is free."
    )
    assert (found["alloc_request_gib"], found["gpu_total_gib"], found["free_gib"]) == (0.25, 23.58, 0.125)


def test_the_process_of_a_line_tells_the_engine() -> None:
    assert values("(EngineCore pid=7) INFO 05-22 10:00:00 [core.py:1] hello")["engine"] == "V1"
    assert "engine" not in values("(APIServer pid=7) INFO 05-22 10:00:00 [core.py:1] hello")


def test_a_fact_line_of_an_nvidia_smi_table_is_not_a_log_line() -> None:
    table = "| 0  NVIDIA H100   On  | Model loading took 99 GiB memory and 3 seconds |"
    assert read_facts(records(table, section="nvidia-smi"), book()) == []
