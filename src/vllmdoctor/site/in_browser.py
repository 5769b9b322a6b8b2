"""Files of Pyodide's file system in, the report as JSON, HTML and Markdown out: what the page's worker calls.

Runs in a browser, on the standard library; what is asked of it is asked by scripts, so that values are plain.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import vllmdoctor
from vllmdoctor.analysis import analyze_excerpts, read_excerpts
from vllmdoctor.errors import VllmDoctorError
from vllmdoctor.intake import Excerpt
from vllmdoctor.languages import ENGLISH
from vllmdoctor.report.html import report_html
from vllmdoctor.report.json import report_json
from vllmdoctor.report.markdown import report_markdown
from vllmdoctor.report.untrusted import neutral
from vllmdoctor.report.words import Words
from vllmdoctor.rules.load import load_catalogue

Answer = dict[str, object]

_MOST_LINES = 4000
_MOST_CHARACTERS = 4000
_WARM_UP = """\
INFO 11-29 10:00:00 [api_server.py:1896] vLLM API server version 0.11.0
(EngineCore_DP0 pid=100) INFO 11-29 10:00:09 [gpu_worker.py:298] Available KV cache memory: 0.71 GiB
(EngineCore_DP0 pid=100) ERROR 11-29 10:00:10 [core.py:708] EngineCore failed to start.
(EngineCore_DP0 pid=100) ERROR 11-29 10:00:10 [core.py:708] Traceback (most recent call last):
(EngineCore_DP0 pid=100) ERROR 11-29 10:00:10 [core.py:708]   File "/app/vllm/v1/core/kv_cache_utils.py", line 6, in f
(EngineCore_DP0 pid=100) ERROR 11-29 10:00:10 [core.py:708]     raise ValueError(
(EngineCore_DP0 pid=100) ERROR 11-29 10:00:10 [core.py:708] ValueError: To serve at least one request with the \
models's max seq len (131072), (16.00 GiB KV cache is needed, which is larger than the available KV cache memory \
(0.71 GiB). Based on the available memory, the estimated maximum model length is 5808. Try increasing \
`gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.
"""

_read: Sequence[Excerpt] = ()


def prepare(language: str) -> None:
    """Loads the catalogue and analyzes a small log once: the first report of the visitor is then a fast one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "warm-up.log")
        path.write_text(_WARM_UP, encoding="utf-8")
        analyze([str(path)], [], language)
    forget()


def analyze(
    paths: Sequence[str],
    nvidia_smi: Sequence[str],
    language: str,
    progress: Callable[[int], None] | None = None,
) -> Answer:
    """`json` is what `vllmdoctor analyze --format json` prints on the files; {"error": …} when they cannot be read.

    `progress` is told the bytes read since its last call.
    """
    global _read
    try:
        catalogue = load_catalogue(language)
        excerpts = read_excerpts([*paths, *nvidia_smi], catalogue, progress=progress)
        report = analyze_excerpts(excerpts, catalogue, tables=set(nvidia_smi) - set(paths))
    except VllmDoctorError as problem:
        return _error(problem, language)
    _read = excerpts
    version = vllmdoctor.__version__
    return {
        "status": report.status,
        "json": report_json(report, version=version),
        "html": report_html(report, language=language, rule_url=rule_address),
        "markdown": report_markdown(report, version=version),
    }


def forget() -> None:
    """Lets go of the lines that were read last."""
    global _read
    _read = ()


def rule_address(rule: str) -> str:
    """Seen from the page /{language}/analyze/."""
    return f"../rules/{rule}/"


def log_lines(index: int, first: int, last: int) -> str:
    """Lines of an input of the last analysis as JSON with rows of number and text; of a large input what was kept."""
    if not 0 <= index < len(_read):
        return json.dumps({"name": "", "total": 0, "lines": []})
    excerpt = _read[index]
    rows = [line for line in excerpt.lines if first <= line.number <= last][:_MOST_LINES]
    lines = [[line.number, neutral(line.text[:_MOST_CHARACTERS])] for line in rows]
    return json.dumps({"name": excerpt.name, "total": excerpt.total_lines, "lines": lines}, ensure_ascii=False)


def plan(config: str, options: str, language: str) -> Answer:
    """The calculator: a config.json as text and options as JSON in, what `vllmdoctor plan` finds out."""
    from vllmdoctor.site.calculation import calculated

    try:
        return calculated(config, _options(options), language)
    except VllmDoctorError as problem:
        return _error(problem, language)


def _options(text: str) -> Mapping[str, object]:
    loaded = json.loads(text)
    return loaded if isinstance(loaded, dict) else {}


def _error(problem: VllmDoctorError, language: str = ENGLISH) -> Answer:
    message, hint = Words(language).error(problem)
    return {"error": {"message": neutral(message), "hint": neutral(hint)}}
