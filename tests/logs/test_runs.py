from .samples import FAILED_START, read

BANNER = "(APIServer pid={pid}) INFO 05-22 10:00:00 [api_server.py:10] vLLM API server version 0.11.0"
ARGS = "(APIServer pid={pid}) INFO 05-22 10:00:00 [utils.py:23] non-default args: {{'port': {pid}}}"
ENGINE = "(EngineCore_DP{dp} pid={pid}) INFO 05-22 10:00:09 [core.py:77] Initializing a V1 LLM engine (v0.11.0) with config: x"


def starts(*texts: str) -> list[tuple[int, int]]:
    return [(run.first.input, run.first.number) for run in read(*texts).runs]


def test_banner_and_its_arguments_are_one_start() -> None:
    assert starts(
        "shell text\n" + BANNER.format(pid=1) + "\n" + ARGS.format(pid=1) + "\n" + ENGINE.format(dp=0, pid=2)
    ) == [(0, 1)]


def test_a_second_banner_is_a_second_start() -> None:
    assert starts("\n".join([BANNER.format(pid=1), ARGS.format(pid=1), "x", BANNER.format(pid=9), "y"])) == [
        (0, 1),
        (0, 4),
    ]
    assert starts(FAILED_START + FAILED_START) == [(0, 1), (0, FAILED_START.count("\n") + 1)]


def test_arguments_without_a_banner_start_a_run_after_an_end() -> None:
    text = "\n".join([ARGS.format(pid=1), "a", "b", "c", "ValueError: x", ARGS.format(pid=9)])
    assert starts(text) == [(0, 1), (0, 6)]


def test_ranks_and_engines_of_one_start_stay_together() -> None:
    text = "\n".join(
        [BANNER.format(pid=1), ENGINE.format(dp=0, pid=2), ENGINE.format(dp=1, pid=3), ENGINE.format(dp=2, pid=4)]
    )
    assert len(starts(text)) == 1
    several = (
        BANNER.replace("APIServer", "ApiServer_0").format(pid=1)
        + "\n"
        + BANNER.replace("APIServer", "ApiServer_1").format(pid=2)
    )
    assert len(starts(several)) == 1


def test_same_engine_again_is_a_new_start_when_something_ended_or_the_pid_differs() -> None:
    v0 = "INFO 05-22 10:00:00 llm_engine.py:1] Initializing an LLM engine (v0.4.3) with config: model='x'"
    assert len(starts(f"{v0}\nValueError: x\n{v0}")) == 2
    assert len(starts(f"{v0}\ntext\n{v0}")) == 1
    assert len(starts(ENGINE.format(dp=0, pid=2) + "\n" + ENGINE.format(dp=0, pid=9))) == 2


def test_a_new_command_at_a_prompt_is_a_new_start() -> None:
    assert starts("$ vllm serve a\nValueError: x\n$ vllm serve b\nValueError: y") == [(0, 1), (0, 3)]
    assert starts("$ pip list\n$ vllm serve a\n" + BANNER.format(pid=1)) == [(0, 1)]


def test_inputs_with_banners_are_runs_and_others_join_the_run_before() -> None:
    smi = "+-----------------------------------------+\n| NVIDIA-SMI 550.54.15    Driver Version: 550.54.15   CUDA Version: 12.4 |"
    assert starts(FAILED_START, smi) == [(0, 1)]
    assert starts(FAILED_START, FAILED_START.replace("05-22", "05-23")) == [(0, 1), (1, 1)]
    assert starts(FAILED_START, "(Worker_TP1 pid=4) ERROR 05-22 10:00:20 [m.py:1] ValueError: x") == [(0, 1)]


USAGE = "usage: vllm serve [model_tag] [options]\nvllm serve: error: unrecognized arguments: --max-model-length 8192\n"


def test_a_usage_that_is_printed_again_is_another_start() -> None:
    assert starts(USAGE * 3) == [(0, 1), (0, 3), (0, 5)]
    assert starts("usage: vllm [-h] {chat,serve}\n" + USAGE) == [(0, 1)]
    assert starts("\n".join(f"vllm-1  | {line}" for line in (USAGE * 2).splitlines())) == [(0, 1), (0, 3)]


def test_the_same_error_after_a_restart_is_another_start() -> None:
    error = "vllm serve: error: argument --port: invalid int value: 'x'\n"
    assert starts((error + "vllm-1 exited with code 2 (restarting)\n") * 2 + error) == [(0, 1), (0, 3), (0, 5)]
    assert starts(error * 3) == [(0, 1)]
    other = "vllm serve: error: argument --port: invalid int value: 'y'\n"
    assert starts(error + "db-1 exited with code 1 (restarting)\n" + other) == [(0, 1)]


def test_what_stands_before_an_inputs_banner_belongs_to_its_start() -> None:
    late = "INFO 05-23 09:59:00 [__init__.py:239] Automatically detected platform cuda.\n" + FAILED_START.replace(
        "05-22", "05-23"
    )
    assert starts(FAILED_START, late) == [(0, 1), (1, 1)]
