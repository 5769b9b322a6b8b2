"""The search box, typed into: messages as people copy them, ids, flags, and each language's own words."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

LANGUAGES = ("en", "vi", "ja")

# One line as copied from a log, with values of its own, and the page that explains it.
MESSAGES = {
    "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.": "no-cache-blocks",
    "ValueError: To serve at least one request with the models's max seq len (65536), (8.00 GiB KV cache is needed, which is larger than the available KV cache memory (3.10 GiB).": "max-model-len-exceeds-kv-cache",
    "ValueError: Free memory on device (9.12/23.57 GiB) on startup is less than desired GPU memory utilization (0.9, 21.21 GiB).": "free-memory-below-utilization",
    "ValueError: User-specified max_model_len (131072) is greater than the derived max_model_len (max_position_embeddings=32768.0 or model_max_length=None in model's config.json).": "max-model-len-above-derived",
    "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 GPU has compute capability 7.5.": "bfloat16-unsupported",
    "ValueError: Total number of attention heads (14) must be divisible by tensor parallel size (4).": "attention-heads-not-divisible",
    "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method": "cuda-fork",
    "ImportError: libcudart.so.12: cannot open shared object file: No such file or directory": "cuda-library-missing",
    "RuntimeError: CUDA error: no kernel image is available for execution on the device": "no-kernel-image",
    "RuntimeError: The NVIDIA driver on your system is too old (found version 11040).": "driver-too-old",
    "OSError: [Errno 98] Address already in use": "port-in-use",
    "zmq.error.ZMQError: ipc path is longer than 107 characters": "ipc-path-too-long",
    "AssertionError: Error in memory profiling. Initial free memory 20.1 GiB, current free memory 21.4 GiB.": "memory-profiling-error",
    "RuntimeError: Error in model execution: CUDA error: an illegal memory access was encountered": "illegal-memory-access",
    "safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge": "weights-corrupt",
    "ValueError: Model architectures ['QwenFooForCausalLM'] are not supported for now.": "architecture-unsupported",
    "vllm: error: unrecognized arguments: --enable-magic": "unrecognized-argument",
    "This model's maximum context length is 8192 tokens. However, you requested 9216 tokens": "context-length-exceeded",
    "The model `gpt-4` does not exist.": "model-name-not-served",
    "No available shared memory broadcast block found in 60 seconds.": "shm-broadcast-stall",
}
OWN_WORDS = {
    "en": {
        "no-cache-blocks": "no-cache-blocks",
        "--max-model-len": "max-model-len",
        "KV cache preemption": "kv-cache-preemption",
    },
    "vi": {
        "không còn bộ nhớ": "no-cache-blocks",
        "khong con bo nho": "no-cache-blocks",
        unicodedata.normalize("NFD", "bộ nhớ chia sẻ"): "shm-too-small",
        "luong tu hoa": "quant",
        "--max-model-len": "max-model-len",
    },
    "ja": {
        "メモリ不足": "",
        "コンテキスト長": "context-length",
        "テンソル並列": "",
        "量子化": "quantiz",
        "GPUメモリが不足": "",
        "共有メモリ": "shm-too-small",
        "--max-model-len": "max-model-len",
    },
}


def hits(page: Any, query: str) -> list[str]:
    """The pages found, best first, as paths below the language."""
    box = page.locator("input[data-md-component=search-query]")
    box.fill("")
    box.fill(query)
    box.press("End")  # the theme searches when a key comes up
    page.wait_for_timeout(500)  # what was found before stays on the page until then
    links = page.locator(".search-best, .md-search-result__item > .md-search-result__link")
    found = [link.get_attribute("href") or "" for link in links.all()]
    base = page.url.split("?")[0].split("#")[0]
    return [target.replace(base, "").removeprefix("./").split("?")[0].split("#")[0] for target in found]


@pytest.fixture
def searching(open_page: Callable[..., Any], request: pytest.FixtureRequest) -> Any:
    page = open_page(f"{request.param}/").page
    page.locator("label.md-search__icon, label[for=__search]").first.evaluate("label => label.click()")
    page.locator("input[data-md-component=search-query]").click()
    hits(page, "vllm")
    page.locator(".md-search-result__item").first.wait_for()  # both indexes are loaded
    return request.param, page


@pytest.mark.parametrize("searching", LANGUAGES, indirect=True)
def test_messages_find_their_page_first(searching: Any) -> None:
    _, page = searching
    wrong = {}
    for message, rule in MESSAGES.items():
        found = hits(page, message)
        if not found or found[0] != f"rules/{rule}/":
            wrong[message] = found[:3]
    assert len(wrong) <= 2, wrong


@pytest.mark.parametrize("searching", LANGUAGES, indirect=True)
def test_own_words_ids_and_flags_are_found(searching: Any) -> None:
    language, page = searching
    for query, part in OWN_WORDS[language].items():
        found = hits(page, query)
        assert found, query
        assert any(part in path for path in found[:5]), (query, found[:5])


@pytest.mark.parametrize("searching", ["en"], indirect=True)
def test_one_message_in_several_dresses(searching: Any) -> None:
    """With the prefix of a log, by a few of its words, in wrong case; and nothing is claimed for what nobody knows."""
    _, page = searching
    for query in (
        "(EngineCore_DP0 pid=212) ERROR 05-22 10:00:31 [core.py:708] ValueError: No available memory for the cache blocks.",
        "no available memory cache blocks",
        "NO AVAILABLE MEMORY FOR THE CACHE BLOCKS",
    ):
        assert hits(page, query)[0] == "rules/no-cache-blocks/", query
    flags = 'BadRequestError: "auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
    assert hits(page, flags)[0] == "rules/tool-choice-flags-missing/"
    # Many pages share this message; the first is the one that does not claim to know more than it tells.
    shared = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.5 GiB"
    )
    assert hits(page, shared)[0] == "rules/cuda-oom-unknown-phase/"
    hits(page, "frobnication of the flux capacitor")
    assert page.locator(".search-best").count() == 0


def test_a_long_paste_is_offered_to_the_analyzer_with_its_lines(open_page: Callable[..., Any], address: str) -> None:
    page = open_page("en/", permissions=["clipboard-read", "clipboard-write"]).page
    text = "Traceback (most recent call last):\n" + "ValueError: No available memory for the cache blocks.\n" * 5
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.locator("label[for=__search]").first.evaluate("label => label.click()")
    page.locator("input[data-md-component=search-query]").click()
    page.keyboard.press("Control+V")
    page.locator("#search-offer button").click()
    page.wait_for_url(f"{address}en/analyze/")
    page.wait_for_function("document.querySelector('#vd-log').value !== ''")
    assert page.locator("#vd-log").input_value() == text
