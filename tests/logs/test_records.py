import itertools
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .samples import FAILED_START, exceptions, raw_lines, read, records

TRACE = [
    "Traceback (most recent call last):",
    '  File "/opt/vllm/a.py", line 5, in load',
    "    run(x)",
    "    ^^^^^^",
    '  File "/opt/vllm/b.py", line 6, in run',
    "    raise ValueError(",
]
HEAD = "(EngineCore pid=7999) ERROR 07-24 01:04:21 [core.py:1197]"
CHAIN = "The above exception was the direct cause of the following exception:"


def test_one_start_reads_as_expected() -> None:
    found = exceptions(FAILED_START)
    assert [(e.exception, e.process.name, e.process.pid) for e in found] == [
        ("ValueError", "EngineCore", 40),
        # "Process EngineCore_DP0:" stands before it
        ("ValueError", "EngineCore", 40),
        ("RuntimeError", "APIServer", 31),
    ]
    assert found[0].first.number == 10 and found[0].last.number == 14
    assert found[0].frames[0].function == "run_engine_core"
    assert found[0].frames[0].source == "engine_core = EngineCoreProc(*args, **kwargs)"


def test_logo_is_one_record() -> None:
    logo = records(FAILED_START)[0]
    assert (logo.first.number, logo.last.number) == (1, 5)
    assert "version 0.19.0" in logo.text and "model org/model" in logo.text
    assert logo.line_at(logo.text.index("version")).number == 3


def test_ranks_that_interleave_keep_their_exceptions_apart() -> None:
    def printed(process: str) -> list[str]:
        lines = [*TRACE, f"ValueError: broken in {process}", "for the second time"]
        return [f"({process} pid={len(process)}) ERROR 05-22 10:00:00 [m.py:7] {line}" for line in lines]

    one, two = printed("Worker_TP0"), printed("VllmWorker_1")
    apart = exceptions("\n".join(one + two))
    mixed = exceptions("\n".join(itertools.chain.from_iterable(zip(one, two, strict=True))))
    assert [(e.text, e.frames, e.process) for e in mixed] == [(e.text, e.frames, e.process) for e in apart]
    assert mixed[0].text == "ValueError: broken in Worker_TP0 for the second time"


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False), st.booleans())
def test_interleaving_gives_the_same_exceptions(chance: random.Random, headed: bool) -> None:
    header = " ERROR 05-22 10:00:00 [m.py:7]" if headed else ""
    queues = [
        [
            f"(Worker_TP{rank} pid={rank}){header} {line}"
            for line in [*TRACE, f"ValueError: rank {rank}", "Second sentence."]
        ]
        for rank in range(3)
    ]
    apart = {(e.text, e.process, len(e.frames)) for e in exceptions("\n".join(itertools.chain.from_iterable(queues)))}
    mixed: list[str] = []
    while any(queues):
        mixed.append(chance.choice([queue for queue in queues if queue]).pop(0))
    assert {(e.text, e.process, len(e.frames)) for e in exceptions("\n".join(mixed))} == apart
    assert len(apart) == 3


def test_hard_wrapped_sentence_is_one_record() -> None:
    (found,) = exceptions(
        "ValueError: Free memory on device cuda:0 (79.12/94.97 GiB) on startup is less\n"
        "than desired GPU memory utilization (0.95, 90.22 GiB)."
    )
    assert found.text.endswith("is less than desired GPU memory utilization (0.95, 90.22 GiB).")
    assert found.line_at(found.text.index("than desired")).number == 2


def test_headed_line_cut_by_a_narrow_window_gets_its_tail() -> None:
    (found,) = exceptions(
        "ERROR 05-22 10:00:00 [c.py:1] ValueError: Free memory on device cuda:0 (9.02/11.63 GiB) on startup is less\n"
        "than desired GPU memory utilization (0.95, 90.22 GiB)."
    )
    assert found.text.endswith("than desired GPU memory utilization (0.95, 90.22 GiB).")


@pytest.mark.parametrize(
    "line",
    [
        "rocBLAS error: Could not initialize Tensile host: No devices found",
        "terminate called after throwing an instance of 'c10::Error'",
    ],
)
def test_message_of_another_program_is_no_tail_of_a_headed_line(line: str) -> None:
    headed = "INFO 05-22 10:00:02 [parallel_state.py:1208] rank 0 in world size 1 is assigned as DP rank 0, PP rank 0"
    assert [found.text for found in records(f"{headed}\n{line}")][1:] == [line]


def test_gaierror_is_an_exception_though_its_name_is_lower_case() -> None:
    (found,) = exceptions("socket.gaierror: [Errno -2] Name or service not known")
    assert found.exception == "socket.gaierror"


def test_same_header_twice_is_two_messages() -> None:
    header = "(Worker_TP0 pid=1) INFO 05-22 10:00:00 [launcher.py:27] "
    assert len(records(header + "Route: /health, Methods: GET\n" + header + "Route: /ping, Methods: GET")) == 2


def test_message_in_several_lines_of_one_header_is_one_record() -> None:
    header = "(EngineCore pid=1) INFO 05-22 10:00:00 [omp.py:18] "
    (record,) = records(f"{header}OpenMP thread binding info:\n{header}\tbind='auto'\n{header}\tcore ids=[0]")
    assert record.text == "OpenMP thread binding info: bind='auto' core ids=[0]"


def test_logger_message_and_its_traceback_are_two_records() -> None:
    header = "ERROR 05-22 10:00:00 [c.py:1] "
    found = records("\n".join(header + line for line in ["EngineCore failed to start.", *TRACE, "ValueError: x"]))
    assert [record.kind for record in found] == ["message", "exception"]


def test_exception_text_logged_as_a_message_stays_a_message() -> None:
    header = "ERROR 05-22 10:00:00 [engine.py:389] "
    for text in ("CUDA out of memory. Tried to allocate 2 GiB", "RuntimeError('CUDA error: x')", "('a ', 'b')"):
        (record,) = records(header + text)
        assert record.kind == "message"


def test_chains_point_to_their_cause() -> None:
    for sentence in (
        "The above exception was the direct cause of the following exception:",
        "During handling of the above exception, another exception occurred:",
    ):
        first, second = exceptions("\n".join([*TRACE, "KeyError: 'a'", "", sentence, "", *TRACE, "ValueError: b"]))
        assert second.chained_from == first.index and first.chained_from is None


def test_traceback_without_head_and_without_frames() -> None:
    (cut,) = exceptions("\n".join([*TRACE[2:], "ValueError: x"]))
    assert cut.first.number == 1 and cut.text == "ValueError: x"
    (bare,) = exceptions("torch.OutOfMemoryError: CUDA out of memory.")
    assert bare.exception == "torch.OutOfMemoryError"


def test_pydantic_details_belong_to_the_exception() -> None:
    (found,) = exceptions(
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig\n"
        "  Value error, max_model_len (513) is greater. [type=value_error, input_value=1]\n"
        "    For further information visit https://errors.pydantic.dev/2.10/v/value_error\n"
        "INFO 05-22 10:00:00 [c.py:1] next"
    )
    assert "Value error, max_model_len (513) is greater." in found.text and "next" not in found.text


def test_what_clearly_is_something_else_ends_a_raw_exception() -> None:
    for other in ("Killed", "Process EngineCore:", "$ nvcc --version", "INFO:     Shutting down", "KeyError: 'x'"):
        assert exceptions(f"ValueError: x\n{other}")[0].text == "ValueError: x"
    assert exceptions("ValueError: x\n  Value error, unrelated")[0].exception == "ValueError"


def test_cuda_hints_stay_with_their_error() -> None:
    (found,) = exceptions(
        "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
        "CUDA kernel errors might be asynchronously reported at some other API call.\n"
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1"
    )
    assert found.text.endswith("CUDA_LAUNCH_BLOCKING=1")


def test_raise_without_its_exception_line_is_rebuilt() -> None:
    (found,) = exceptions(
        "\n".join(
            [
                *TRACE[:4],
                '  File "/opt/vllm/config.py", line 6, in verify',
                "    raise ValueError(",
                '        f"User-specified max_model_len ({max_model_len}) is greater than "',
                '        "the derived max_model_len")',
            ]
        )
    )
    assert found.code == "ValueError: User-specified max_model_len (000) is greater than the derived max_model_len"
    assert found.exception == "" and "greater" not in found.text


def test_message_is_not_rebuilt_when_the_exception_line_is_there() -> None:
    (found,) = exceptions("\n".join([*TRACE, '        "template")', "ValueError: real"]))
    assert (found.text, found.code) == ("ValueError: real", "")


def test_ipython_frames() -> None:
    (found,) = exceptions(
        "ValidationError                           Traceback (most recent call last)\n"
        "File [~/vllm/cache_engine.py:49](http://192.0.2.34:8888/lab/x), in CacheEngine.__init__(self)\n"
        "     46 self.a = 1\n"
        '---> 49 self.gpu_cache = self._allocate("cuda")\n'
        "\n"
        "Cell In[3], line 1\n"
        "----> 1 llm = LLM(1)\n"
        "\n"
        "OutOfMemoryError: CUDA out of memory."
    )
    assert [(f.file, f.line, f.source) for f in found.frames] == [
        ("~/vllm/cache_engine.py", 49, 'self.gpu_cache = self._allocate("cuda")'),
        ("Cell In[3]", 1, "llm = LLM(1)"),
    ]
    assert found.text == "OutOfMemoryError: CUDA out of memory."


def test_old_ipython_and_pytest_frames() -> None:
    (old,) = exceptions(
        "<ipython-input-4-00> in <module>\n----> 1 from vllm import LLM\n\nImportError: libcudart.so.12: no"
    )
    assert old.exception == "ImportError" and old.frames[0].source == "from vllm import LLM"
    (pytest_error,) = exceptions(
        "e2e/test_x.py:26: in test_quantize\n    result = run(x)\nE   ValueError: broken\ne2e/test_x.py:12: ValueError"
    )
    assert pytest_error.text == "ValueError: broken" and pytest_error.frames[0].line == 26


def test_exception_group_margin() -> None:
    (found,) = exceptions(
        "    | Traceback (most recent call last):\n"
        '    |   File ".venv/starlette/responses.py", line 261, in wrap\n'
        "    |     await func()\n"
        "    | ZMQError: Too many open files\n"
        "    +------------------------------------"
    )
    assert found.text == "ZMQError: Too many open files" and found.frames[0].source == "await func()"


def test_echoes() -> None:
    for text in (
        "INFO 05-22 10:00:00 [a.py:1] non-default args: {'model': 'x'}",
        "INFO 05-22 10:00:00 a.py:1] args: Namespace(model='x')",
        "INFO 05-22 10:00:00 [a.py:1] Initializing a V1 LLM engine (v0.9.2) with config: model='x'",
        "INFO 05-22 10:00:00 [a.py:1] Received request cmpl-1: prompt: 'CUDA out of memory'",
        "+ vllm serve x",
        "$ python -m vllm.entrypoints.openai.api_server --model x",
        "curl http://localhost:8000/v1/models",
        "VLLM_USE_V1=0",
    ):
        assert records(text)[0].echo, text
    for text in ("# GPU blocks: 1478, # CPU blocks: 2048", "vllm serve: error: unrecognized arguments: --x", "Killed"):
        assert not records(text)[0].echo, text


def test_long_exception_keeps_its_exception_line() -> None:
    frames = [line for n in range(5000) for line in (f'  File "x.py", line {n}, in f', "    f()")]
    (found,) = exceptions("\n".join([TRACE[0], *frames, "RecursionError: maximum recursion depth exceeded"]))
    assert found.text == "RecursionError: maximum recursion depth exceeded"
    assert len(found.frames) <= 400


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [*FAILED_START.split("\n"), *TRACE, "", "text", "ValueError: x", "  indented"]
            + [HEAD, f"{HEAD} {CHAIN}", CHAIN, f"{HEAD} {TRACE[1]}"]
        ),
        max_size=40,
    )
)
def test_every_line_with_text_is_in_some_record(lines: list[str]) -> None:
    log = read("\n".join(lines))
    spans = [(r.first.number, r.last.number) for run in log.runs for r in run.records]
    for line in log.lines:
        assert not line.text or any(first <= line.number <= last for first, last in spans)
    for run in log.runs:
        for record in run.records:
            assert record.text_lines and len(record.text_lines) == len(record.starts)
            assert list(record.starts) == sorted(record.starts)


def test_indices_count_the_records() -> None:
    assert [record.index for record in records(FAILED_START)] == list(range(len(records(FAILED_START))))
    assert raw_lines("a\nb")[1].number == 2


def test_the_end_of_a_container_is_not_swallowed_by_the_error_before_it() -> None:
    log = read("vllm-1  | vllm serve: error: unrecognized arguments: --max-model-length\nvllm-1 exited with code 2")
    assert [record.text for record in log.runs[0].records] == [
        "vllm serve: error: unrecognized arguments: --max-model-length",
        "vllm-1 exited with code 2",
    ]


def test_a_traceback_that_lost_its_head_may_be_followed_by_an_empty_line_of_its_process() -> None:
    found = records(f'{HEAD}   File "/opt/vllm/shm.py", line 779, in dequeue\n{HEAD} {CHAIN}\n{HEAD}')
    assert [frame.function for record in found for frame in record.frames] == ["dequeue"]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted((Path(__file__).parents[1] / "fixtures" / "real").glob("*.log"))),
    st.lists(st.tuples(st.floats(0, 1), st.integers(1, 12)), min_size=1, max_size=4),
)
def test_lines_lost_anywhere_do_not_stop_the_reading(path: Path, losses: list[tuple[float, int]]) -> None:
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")[-300:]
    for place, count in losses:
        start = int(place * len(lines))
        del lines[start : start + count]
    log = read("\n".join(lines))
    spans = [(r.first.number, r.last.number) for run in log.runs for r in run.records]
    assert all(any(first <= line.number <= last for first, last in spans) for line in log.lines if line.text)
