"""A size and a shape in, a synthetic vLLM log of about that size out; the same at every call.

python benchmarks/make_log.py 100M > big.log
python benchmarks/make_log.py 100M --shape crash-loop > loop.log
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SENTENCE = "the model writes a summary of what was asked and lists each step with its cost before it answers"
_WORDS = _SENTENCE.split()
_START = [
    "INFO 05-22 10:00:00 [api_server.py:1896] vLLM API server version 0.11.0",
    "INFO 05-22 10:00:00 [utils.py:233] non-default args: {'model': 'example/model-8b', 'max_model_len': 131072}",
    "INFO 05-22 10:00:09 [model.py:547] Resolved architecture: LlamaForCausalLM",
    "(EngineCore_DP0 pid=200) INFO 05-22 10:00:20 [core.py:77] Initializing a V1 LLM engine (v0.11.0) with config: x",
    "(EngineCore_DP0 pid=200) INFO 05-22 10:00:40 [gpu_model_runner.py:2653] Model loading took 14.9889 GiB",
]
_FAILURE = [
    "(EngineCore_DP0 pid=200) ERROR 05-22 10:01:00 [core.py:708] EngineCore failed to start.",
    "(EngineCore_DP0 pid=200) ERROR 05-22 10:01:00 [core.py:708] Traceback (most recent call last):",
    *(
        f"(EngineCore_DP0 pid=200) ERROR 05-22 10:01:00 [core.py:708] {line}"
        for depth in range(6)
        for line in (
            f'  File "/usr/lib/python3/dist-packages/vllm/v1/engine/core.py", line {700 + depth}, in step_{depth}',
            f"    self.step_{depth}(config)",
        )
    ),
    "(EngineCore_DP0 pid=200) ERROR 05-22 10:01:00 [core.py:708] ValueError: To serve at least one request with the "
    "models's max seq len (131072), (16.00 GiB KV cache is needed, which is larger than the available KV cache memory "
    "(3.55 GiB). Based on the available memory, the estimated maximum model length is 29056.",
    "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
]


def healthy_lines(chance: random.Random) -> Iterator[str]:
    """Lines of a healthy server: access, statistics, requests with text, colours, prefixes, progress bars."""
    second = 0
    while True:
        second += chance.randrange(2)
        clock = f"05-22 {10 + second // 3600 % 12:02}:{second // 60 % 60:02}:{second % 60:02}"
        kind = chance.random()
        text = " ".join(chance.choices(_WORDS, k=chance.randrange(10, 60)))
        number = chance.randrange(1 << 24)
        if kind < 0.45:
            line = f'INFO:     192.0.2.{number % 250}:{number % 50000} - "POST /v1/chat/completions HTTP/1.1" 200 OK'
        elif kind < 0.65:
            line = (
                f"INFO {clock} [loggers.py:127] Engine 000: Avg prompt throughput: {number % 9000 / 10} tokens/s, Avg "
                f"generation throughput: {number % 7000 / 10} tokens/s, Running: {number % 90} reqs, Waiting: "
                f"{number % 7} reqs, GPU KV cache usage: {number % 1000 / 10}%, Prefix cache hit rate: 41.2%"
            )
        elif kind < 0.85:
            line = (
                f"INFO {clock} [logger.py:40] Received request chatcmpl-{number:032x}: prompt: '{text}', params: "
                f"SamplingParams(n=1, temperature=0.7, max_tokens={number % 4096}), lora_request: None."
            )
        elif kind < 0.93:
            line = f"\x1b[1;36m(APIServer pid=1)\x1b[0;0m INFO {clock} [async_llm.py:420] Added request {number:x}."
        elif kind < 0.97:
            line = f"WARNING {clock} [serving.py:12] a client sent an unknown field, ignored: error_mode={number}"
        else:
            line = "\r".join(f"Loading shards: {step * 10}% |{'#' * step:10}| {step}/10" for step in range(11))
        yield chance.choice(("", "vllm-1  | ", "2026-05-22T10:00:00.123456789Z ")) + line


def log_lines(size: int, shape: str) -> Iterator[str]:
    """The lines of a log of about `size` bytes."""
    chance = random.Random(22)
    healthy = healthy_lines(chance)
    # Making every line anew takes longer than scanning it; a pool of distinct ones, shuffled, is as good.
    pool = [next(healthy) for _ in range(20_000)]
    written = 0
    yield from _START
    while written < size:
        lines = _START + _FAILURE if shape == "crash-loop" else chance.sample(pool, 2000)
        for line in lines:
            written += len(line) + 1
            yield line
    yield from _FAILURE


def size_in_bytes(text: str) -> int:
    """300, 20K, 100M or 1G as a number of bytes."""
    unit = _UNITS.get(text[-1:].upper(), 1)
    return int(text[:-1] if unit > 1 else text) * unit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("size", type=size_in_bytes)
    parser.add_argument("--shape", choices=("healthy", "crash-loop"), default="healthy")
    options = parser.parse_args()
    for line in log_lines(options.size, options.shape):
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
